//! Any order of crashes, repeated requests and restores applies each entry once and in order.

use std::collections::BTreeMap;

use accord_api::operations::edges::{EdgeEntry, EdgeEntryKind};
use accord_contract::{Code, Object, Time, Timestamp, Wire as _};
use accord_outbox::inbox::{SentItem, place, waiting};
use accord_outbox::{Found, Intake, Outbox, Waiting, check_numbers, intake, run_after};
use proptest::prelude::*;

/// Keep few, so that restores meet gaps.
const KEPT: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    /// The source has another event.
    Happen,
    /// Something waits, with a version; or nothing does.
    Wait(u8, Option<u8>),
    /// The edge looks at its source and syncs what is new.
    Pass,
    /// The edge looks, and is killed when a part of the lines is written.
    Torn(u8),
    /// The edge sends, and learns the answer.
    Send(u16),
    /// The hub applies a request, and its answer is lost.
    Unanswered(u16),
    /// An old request arrives again.
    Again,
    /// The edge is killed: what is not in its log is gone.
    Restart,
    /// The edge writes its log anew.
    Trim,
    BackUp,
    Restore,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Happen),
        3 => (0..3_u8, proptest::option::of(0..3_u8)).prop_map(|(id, it)| Step::Wait(id, it)),
        4 => Just(Step::Pass),
        1 => any::<u8>().prop_map(Step::Torn),
        4 => (0..400_u16).prop_map(Step::Send),
        2 => (0..400_u16).prop_map(Step::Unanswered),
        1 => Just(Step::Again),
        1 => Just(Step::Restart),
        1 => Just(Step::Trim),
        1 => Just(Step::BackUp),
        1 => Just(Step::Restore),
    ];
    proptest::collection::vec(step, 0..80)
}

#[derive(Clone, Debug, Default)]
struct Hub {
    position: u64,
    events: Vec<String>,
    open: BTreeMap<String, String>,
    lost: u64,
}

impl Hub {
    /// Applies a request. Returns whether it began after a gap.
    fn take(&mut self, entries: &[EdgeEntry], lost_through: Option<u64>) -> bool {
        check_numbers(entries.iter().map(|entry| entry.seq)).expect("consecutive");
        let first = entries.first().map_or(0, |entry| entry.seq);
        let decided = intake(self.position, first, entries.len(), lost_through);
        let Intake::Apply { skip, lost } = decided else { return true };
        if lost > 0 {
            self.open.clear();
            self.lost += lost;
            self.position += lost;
        }
        for entry in &entries[skip..] {
            assert_eq!(entry.seq, self.position + 1, "in order");
            self.position = entry.seq;
            match entry.kind {
                EdgeEntryKind::Event
                | EdgeEntryKind::Result
                | EdgeEntryKind::Decision
                | EdgeEntryKind::Output => {
                    self.events.push(entry.id.clone());
                }
                EdgeEntryKind::Request | EdgeEntryKind::State => {
                    let version = entry.body["version"].as_str().expect("a text").to_owned();
                    self.open.insert(entry.id.clone(), version);
                }
                EdgeEntryKind::RequestEnded => drop(self.open.remove(&entry.id)),
            }
        }
        false
    }
}

#[derive(Debug)]
struct World {
    happened: u32,
    waiting: BTreeMap<u8, u8>,
    log: Vec<u8>,
    hub: Hub,
    backup: Hub,
    /// The highest position that the edge was told since the hub was last restored.
    confirmed: u64,
    last_request: Option<(Vec<EdgeEntry>, Option<u64>)>,
}

fn at() -> Timestamp {
    Timestamp::emit(Time::from_unix_millis(1_776_500_000_000))
}

impl World {
    fn new() -> Self {
        let log = Outbox::joining(&Found::default()).lines().into_bytes();
        Self {
            happened: 0,
            waiting: BTreeMap::new(),
            log,
            hub: Hub::default(),
            backup: Hub::default(),
            confirmed: 0,
            last_request: None,
        }
    }

    fn found(&self) -> Found {
        let happened = (0..self.happened).map(|number| EdgeEntry {
            seq: 0,
            kind: EdgeEntryKind::Event,
            id: format!("e{number}"),
            type_name: "it".into(),
            at: at(),
            body: Object::new(),
            extra: Object::new(),
        });
        let waiting = self.waiting.iter().map(|(id, version)| Waiting {
            kind: EdgeEntryKind::Request,
            id: format!("w{id}"),
            version: version.to_string(),
            type_name: "gate".into(),
            at: at(),
            body: Object::new(),
        });
        Found { happened: happened.collect(), waiting: Some(waiting.collect()) }
    }

    fn outbox(&mut self) -> Outbox {
        let (outbox, whole) = Outbox::read(&self.log).expect("a log");
        self.log.truncate(whole);
        outbox
    }

    fn lines(&mut self, forget: bool) -> Vec<u8> {
        let found = self.found();
        let mut outbox = self.outbox();
        if forget {
            outbox.forget_open();
        }
        let new = outbox.add(found, &at());
        new.iter().flat_map(|entry| (entry.encode().to_string() + "\n").into_bytes()).collect()
    }

    fn send(&mut self, bytes: u16, is_answered: bool) {
        let position = match self.confirmed {
            0 => self.hub.position,
            confirmed => confirmed,
        };
        let outbox = self.outbox();
        let batch = outbox.batch(position.min(outbox.last()), usize::from(bytes));
        if batch.lost_through.is_some() {
            // What waits comes again, because the hub lost requests.
            let lines = self.lines(true);
            self.log.extend(lines);
        }
        self.last_request = Some((batch.entries.clone(), batch.lost_through));
        self.hub.take(&batch.entries, batch.lost_through);
        if is_answered {
            self.confirmed = self.hub.position;
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Happen => self.happened += 1,
            Step::Wait(id, Some(version)) => drop(self.waiting.insert(*id, *version)),
            Step::Wait(id, None) => drop(self.waiting.remove(id)),
            Step::Pass => {
                let lines = self.lines(false);
                self.log.extend(lines);
            }
            Step::Torn(part) => {
                let lines = self.lines(false);
                let most = lines.len() * usize::from(*part) / 256;
                self.log.extend(&lines[..most]);
            }
            Step::Send(bytes) => self.send(*bytes, true),
            Step::Unanswered(bytes) => self.send(*bytes, false),
            Step::Again => {
                // One that names a gap is not sent by anything but the edge itself, which has no
                // request under way when it asks a restored hub for its position.
                if let Some((entries, None)) = self.last_request.clone() {
                    self.hub.take(&entries, None);
                }
            }
            Step::Restart => self.confirmed = 0,
            Step::Trim => {
                let mut outbox = self.outbox();
                outbox.trim(self.confirmed, KEPT, usize::MAX);
                self.log = outbox.lines().into_bytes();
            }
            Step::BackUp => self.backup = self.hub.clone(),
            Step::Restore => self.hub = self.backup.clone(),
        }
        let sorted = self.hub.events.windows(2).all(|pair| number(&pair[0]) < number(&pair[1]));
        assert!(sorted, "once and in order: {:?}", self.hub.events);
    }
}

fn number(id: &str) -> u32 {
    id[1..].parse().expect("a number")
}

proptest! {
    #[test]
    fn each_entry_is_applied_once_and_in_order(steps in steps()) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
        }
        // Everything is quiet now: the hub has what the source has.
        for _ in 0..8 {
            world.step(&Step::Pass);
            world.step(&Step::Send(u16::MAX));
        }
        let expected = world.waiting.iter().map(|(id, it)| (format!("w{id}"), it.to_string()));
        prop_assert_eq!(&world.hub.open, &expected.collect());
        let missing = u64::from(world.happened) - world.hub.events.len() as u64;
        prop_assert!(missing <= world.hub.lost, "{} of {}", missing, world.hub.lost);
    }
}

#[test]
fn what_happened_before_the_join_is_not_sent() {
    let mut world = World::new();
    (world.happened, world.waiting) = (2, BTreeMap::from([(1, 1)]));
    let mut outbox = Outbox::joining(&world.found());
    world.happened = 3;
    let new = outbox.add(world.found(), &at());
    let ids: Vec<&str> = new.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["e2", "w1"], "what waits is sent, whenever it began");
    assert_eq!(Outbox::read(outbox.lines().as_bytes()).unwrap().0, outbox);
}

#[test]
fn a_hub_that_has_more_than_the_outbox_is_noticed() {
    let outbox = Outbox::default();
    outbox.check_position(0, None).unwrap();
    assert_eq!(outbox.check_position(1, None).unwrap_err().code, Code::EdgeBehind);
}

#[test]
fn a_hub_that_has_another_entry_is_noticed() {
    let mut outbox = Outbox::joining(&Found::default());
    let mut world = World::new();
    world.happened = 5;
    let entries = outbox.add(world.found(), &at());
    let digest_of = |number: usize| accord_outbox::digest(&entries[number - 1]);
    for number in 1..=5 {
        let own = digest_of(number);
        outbox.check_position(number as u64, own.as_deref()).unwrap();
        outbox.check_position(number as u64, None).unwrap();
        let other = digest_of(number % 5 + 1);
        let refused = outbox.check_position(number as u64, other.as_deref()).unwrap_err();
        assert_eq!(refused.code, Code::EdgeDamaged);
    }
    // The digest of the last entry that was forgotten is kept, also in the log.
    outbox.trim(5, 2, usize::MAX);
    let (read, _) = Outbox::read(outbox.lines().as_bytes()).expect("a log");
    read.check_position(3, digest_of(3).as_deref()).unwrap();
    let refused = read.check_position(3, digest_of(4).as_deref()).unwrap_err();
    assert_eq!(refused.code, Code::EdgeDamaged);
    read.check_position(2, digest_of(4).as_deref()).expect("it is not known any more");
}

#[test]
fn at_most_five_hundred_requests_wait() {
    let mut outbox = Outbox::default();
    let waiting = |ids: std::ops::Range<usize>| {
        let waiting = ids.map(|id| Waiting {
            kind: EdgeEntryKind::Request,
            id: format!("w{id:04}"),
            version: "1".into(),
            type_name: "gate".into(),
            at: at(),
            body: Object::new(),
        });
        Found { happened: Vec::new(), waiting: Some(waiting.collect()) }
    };
    assert_eq!(outbox.add(waiting(0..510), &at()).len(), 500);
    assert!(outbox.add(waiting(0..510), &at()).is_empty());
    // Five ended, and five others have room.
    assert_eq!(outbox.add(waiting(5..510), &at()).len(), 10);
}

#[test]
fn a_request_says_what_waits_and_the_edge_only_claims() {
    let record = serde_json::json!({
        "name": "laptop", "source": "tasks", "send": "summary", "key_id": null,
        "actor": "human:lead", "joined_at": "2026-11-15T08:00:00Z",
        "last_contact_at": "2026-11-15T08:00:00Z", "left_at": null, "lost": 0,
    });
    let of = |kind: &str| {
        let body = serde_json::json!({"title": "Approve me\u{202e}", "digest": "d1"});
        let text = serde_json::json!({
            "seq": 1, "kind": "request", "id": "T/review", "type": kind,
            "at": "2026-01-01T00:00:00Z", "body": body,
        });
        waiting(&SentItem {
            edge: "edge_1",
            item: "T/review",
            received_at: Time::from_unix_millis(5),
            text: &text.to_string(),
            record: &record.to_string(),
            decisions: &[],
        })
    };
    let item = of("task.deadletter").expect("an item");
    assert_eq!(item.kind, "task.failed");
    assert_eq!(item.title, "A task failed too often at the edge \"laptop\"");
    let body = serde_json::json!({"title": "Approve me\u{202e}", "digest": "d1"});
    let digest = body.as_object().and_then(accord_outbox::evidence::digest);
    assert_eq!((item.since.unix_millis(), item.version), (5, digest));
    assert_eq!(place(&item.subject), Some(("edge_1", "T/review")));
    let item = of("package.review").expect("an item");
    assert_eq!(item.kind, "edge.request", "an edge has no items of the hub's own kinds");
    assert_eq!(place("TASK-1/x"), None);
}

#[test]
fn events_say_where_a_run_is() {
    let mut run = None;
    let mut happen = |type_name: &str, body: serde_json::Value| {
        let body = body.as_object().cloned().unwrap_or_default();
        let (id, type_name) = ("evt_1".to_owned(), type_name.to_owned());
        let kind = EdgeEntryKind::Event;
        let extra = Object::new();
        run = run_after(
            run.take(),
            &EdgeEntry { seq: 1, kind, id, type_name, at: at(), body, extra },
        );
        run.as_ref().map(|run| {
            let turns: Vec<&str> = run.turns.iter().map(|turn| turn.turn_id.as_str()).collect();
            let (phase, status) = (run.phase.clone(), run.status.clone());
            (
                run.run_id.clone().unwrap_or_default(),
                phase.unwrap_or_default(),
                status.unwrap_or_default(),
                turns.join(","),
            )
        })
    };
    let of = |phase: &str, status: &str, turn: Option<&str>| {
        let mut body = serde_json::json!({"run_id": "run_1", "phase": phase, "status": status});
        if let Some(turn) = turn {
            body["turn"] = serde_json::json!({"turn_id": turn, "role_id": "dev"});
        }
        body
    };
    let is = |run: &str, phase: &str, status: &str, turns: &str| {
        Some((run.to_owned(), phase.to_owned(), status.to_owned(), turns.to_owned()))
    };
    assert_eq!(happen("turn_dispatched", serde_json::json!({"at": 1})), None, "it names no run");
    let begun = of("planning", "active", Some("t1"));
    assert_eq!(happen("turn_dispatched", begun.clone()), is("run_1", "planning", "active", "t1"));
    assert_eq!(happen("turn_dispatched", begun), is("run_1", "planning", "active", "t1"));
    let rejected = of("planning", "active", Some("t1"));
    assert_eq!(happen("turn_rejected", rejected), is("run_1", "planning", "active", "t1"));
    let accepted = of("planning", "paused", Some("t1"));
    assert_eq!(happen("turn_accepted", accepted), is("run_1", "planning", "paused", ""));
    let next = of("work", "active", Some("t2"));
    assert_eq!(happen("turn_dispatched", next), is("run_1", "work", "active", "t2"));
    // Given to another turn: with and without what the payload says.
    let mut reissued = of("work", "active", Some("t3"));
    reissued["payload"] = serde_json::json!({"old_turn_id": "t2"});
    assert_eq!(happen("turn_reissued", reissued), is("run_1", "work", "active", ""));
    let next = of("work", "active", Some("t3"));
    assert_eq!(happen("turn_dispatched", next), is("run_1", "work", "active", "t3"));
    let reissued = of("work", "active", Some("t4"));
    assert_eq!(happen("turn_reissued", reissued), is("run_1", "work", "active", ""));
    let done = of("work", "completed", None);
    assert_eq!(happen("run_completed", done), is("run_1", "work", "completed", ""));
    let other = serde_json::json!({"run_id": "run_2", "phase": "planning", "status": "active"});
    assert_eq!(happen("run_started", other), is("run_2", "planning", "active", ""));
}

#[test]
fn how_far_an_output_is_sent_outlives_its_pieces() {
    let mut outbox = Outbox::default();
    let piece = |to: u64| {
        let body = serde_json::json!({"worker": "w", "from": 0, "to": to, "sent": to,
            "left_out": 0, "over": false, "text": "x".repeat(1_000)});
        let body = body.as_object().expect("an object").clone();
        let (kind, id, type_name) =
            (EdgeEntryKind::Output, "output/t1".to_owned(), "run.output".to_owned());
        EdgeEntry { seq: 0, kind, id, type_name, at: at(), body, extra: Object::new() }
    };
    for to in 1..=10 {
        assert_eq!(outbox.add_outputs(vec![piece(to)], |id| id == "output/t1").len(), 1);
    }
    // Few bytes are kept of what the hub has, and none that it does not have is lost.
    assert_eq!(outbox.trim(8, 100, 3_000), 6);
    assert_eq!(outbox.batch(8, usize::MAX).entries.len(), 2);
    assert_eq!(outbox.trim(10, 0, 0), 4);
    let (read, _) = Outbox::read(outbox.lines().as_bytes()).expect("a log");
    let place = read.output("output/t1").expect("a place");
    assert_eq!((place.to, place.worker.as_str(), place.is_over), (10, "w", false));
    assert_eq!(read.last(), 10);
    // A turn that is not active any more has none.
    outbox.add_outputs(Vec::new(), |_| false);
    assert_eq!(outbox.output("output/t1"), None);
}
