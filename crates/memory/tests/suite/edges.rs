//! Edges: what they send is applied once, in order, for the key that joined them.

use std::sync::Arc;

use accord_api::operations::edge_decisions::EdgeDecidable;
use accord_api::operations::edges::{
    EdgeEntry, EdgeEntryKind, EdgeJoinRequest, EdgeOutboxRequest, EdgeSend, EdgeSource, JoinParams,
    MOST_REQUESTS,
};
use accord_base::worker::Attempt;
use accord_base::{ActorKey, Caller, EdgeId, EventKind, KeyScope, NewEvent, ProjectId, Verb};
use accord_contract::{Code, Object, Time, Timestamp, Value};
use accord_memory::{AppliedOutbox, EDGES, FlowSource, Memory, TakenOver};
use accord_store::{
    EventRow, INCARNATION, INCARNATIONS_BEFORE, Scope, Store, StoreExt as _, WriteUnit,
};
use serde_json::json;

use crate::support::{engines, memory_over, project_id};

pub(crate) fn key(id: &str, actor: &str, verbs: &[Verb]) -> Caller {
    let scope = KeyScope::new(verbs.to_vec(), None);
    Caller::key(id, &scope.bound_to(ActorKey::parse(actor).unwrap(), false))
}

pub(crate) fn lead() -> Caller {
    key("k1", "human:lead", &[Verb::Read, Verb::Write])
}

fn join_request() -> EdgeJoinRequest {
    EdgeJoinRequest {
        name: "shop".into(),
        source: EdgeSource::Runs,
        send: EdgeSend::Summary,
        decide: Some(vec![EdgeDecidable::RunGate]),
        deciders: Some(vec!["human:lead".into()]),
    }
}

pub(crate) fn entry(seq: u64, kind: EdgeEntryKind, id: &str, body: Value) -> EdgeEntry {
    let body = body.as_object().cloned().unwrap_or_default();
    let at = Timestamp::emit(Time::from_unix(1_700_000_000, 0).unwrap());
    let type_name = "gate_pending".to_owned();
    EdgeEntry { seq, kind, id: id.into(), type_name, at, body, extra: Object::new() }
}

pub(crate) struct Hub {
    pub(crate) memory: Memory,
    store: Arc<dyn Store>,
    pub(crate) project: ProjectId,
    pub(crate) edge: EdgeId,
}

impl Hub {
    pub(crate) async fn send(
        &self,
        caller: &Caller,
        entries: Vec<EdgeEntry>,
        lost_through: Option<u64>,
    ) -> Result<AppliedOutbox, Code> {
        let request = EdgeOutboxRequest { entries, lost_through };
        let sent = self.memory.send_outbox(caller, (&self.project, &self.edge), request).await;
        sent.map_err(|refused| refused.code)
    }

    pub(crate) async fn join(&self, caller: &Caller) -> Result<(), Code> {
        let of = (&self.project, &self.edge);
        let params = JoinParams::default();
        let joined = self.memory.join_edge(caller, of, params, join_request()).await;
        joined.map(drop).map_err(|refused| refused.code)
    }

    pub(crate) async fn leave(&self, caller: &Caller, erase: bool) -> Result<u64, Code> {
        let left = self.memory.leave_edge(caller, (&self.project, &self.edge), erase).await;
        left.map_err(|refused| refused.code)
    }

    /// As a restore leaves the store.
    pub(crate) fn restored(&self) {
        let end = |unit: &mut dyn WriteUnit| {
            let ended = unit.setting(Scope::Store, INCARNATION)?;
            unit.put_setting(Scope::Store, INCARNATIONS_BEFORE, ended.as_deref())?;
            unit.put_setting(Scope::Store, INCARNATION, None)
        };
        self.store.write(end).unwrap();
    }

    /// An event of another host, whose clock says that it is then.
    pub(crate) fn time_is(&self, time: Time) {
        let kind = EventKind::declared("edge.left");
        let event = NewEvent::new(kind, &self.project, Object::new(), time);
        let append = move |unit: &mut dyn WriteUnit| {
            unit.append_event(&event.project_id, &(&event).into()).map(drop)
        };
        self.store.write(append).unwrap();
    }

    fn events(&self) -> Vec<EventRow> {
        self.store.read(|unit| unit.events(&self.project, 0, 1000)).unwrap()
    }

    pub(crate) fn kinds(&self) -> Vec<String> {
        self.events().into_iter().map(|event| event.entry.kind).collect()
    }
}

pub(crate) async fn hubs() -> Vec<(Hub, Option<tempfile::TempDir>)> {
    let mut hubs = Vec::new();
    for (engine, folder) in engines() {
        let memory = memory_over(&engine);
        let request = json!({"project_id": "shop", "name": "Shop"}).to_string();
        memory.create_project(&Caller::owner(), request.as_bytes()).await.unwrap();
        let (project, edge) = (project_id("shop"), EdgeId::new("edge_1").unwrap());
        hubs.push((Hub { memory, store: engine, project, edge }, folder));
    }
    hubs
}

#[tokio::test]
async fn each_entry_is_applied_once_and_in_order() {
    for (hub, _folder) in hubs().await {
        let lead = lead();
        assert_eq!(hub.send(&lead, Vec::new(), None).await.unwrap_err(), Code::EdgeNotFound);
        hub.join(&lead).await.unwrap();
        let event =
            |seq| entry(seq, EdgeEntryKind::Event, &format!("evt_{seq}"), json!({"a": seq}));
        let asked = json!({"version": "1", "title": "Gate"});
        let request = entry(3, EdgeEntryKind::Request, "run_1/gate/t1", asked);
        let all = vec![event(1), event(2), request];
        let done = hub.send(&lead, all.clone(), None).await.unwrap();
        assert_eq!((done.position, done.applied), (3, 3));
        let done = hub.send(&lead, all, None).await.unwrap();
        assert_eq!((done.position, done.applied), (3, 0), "the same again");
        let done = hub.send(&lead, vec![event(5)], None).await.unwrap();
        assert_eq!((done.position, done.applied), (3, 0), "after a gap");
        let wrong = vec![event(4), event(6)];
        assert_eq!(hub.send(&lead, wrong, None).await.unwrap_err(), Code::WireFieldValue);

        let of = (&hub.project, &hub.edge);
        let (edge, items) = hub.memory.edge(&lead, of).await.unwrap();
        assert_eq!((edge.position, edge.requests, items.len()), (3, 1, 1));
        let item = hub.memory.edge_item(&lead, of, "run_1/gate/t1").await.unwrap();
        assert_eq!(item.document.unwrap()["title"], "Gate");
        let ended = entry(4, EdgeEntryKind::RequestEnded, "run_1/gate/t1", json!({}));
        hub.send(&lead, vec![ended], None).await.unwrap();
        assert_eq!(hub.memory.edge(&lead, of).await.unwrap().0.requests, 0);
        let kinds =
            ["run.gate_pending", "run.gate_pending", "edge.requested", "edge.request_ended"];
        assert_eq!(hub.kinds()[2..], kinds);
        let row = &hub.events()[2];
        let data: Value = serde_json::from_str(&row.entry.text).unwrap();
        assert_eq!(
            (&data["edge"], &data["sequence"], &data["a"]),
            (&"edge_1".into(), &1.into(), &1.into())
        );
        assert!(row.entry.at.time() > Time::from_unix(1_700_000_000, 0).unwrap(), "the hub's time");
    }
}

#[tokio::test]
async fn a_gap_is_applied_only_if_it_is_named() {
    for (hub, _folder) in hubs().await {
        let lead = lead();
        hub.join(&lead).await.unwrap();
        let asked = entry(1, EdgeEntryKind::Request, "old", json!({"version": "1"}));
        hub.send(&lead, vec![asked], None).await.unwrap();
        let event = entry(6, EdgeEntryKind::Event, "evt_6", json!({}));
        let done = hub.send(&lead, vec![event], Some(5)).await.unwrap();
        assert_eq!((done.position, done.applied), (6, 1));
        let (edge, items) = hub.memory.edge(&lead, (&hub.project, &hub.edge)).await.unwrap();
        assert_eq!((edge.lost, items.len()), (4, 0), "what waited may have ended in the gap");
        assert!(hub.kinds().contains(&"edge.lost".to_owned()));
    }
}

#[tokio::test]
async fn only_the_key_that_joined_an_edge_changes_it() {
    for (hub, _folder) in hubs().await {
        let (lead, write) = (lead(), [Verb::Read, Verb::Write]);
        let reader = key("k2", "human:lead", &[Verb::Read]);
        assert_eq!(hub.join(&reader).await.unwrap_err(), Code::AccessDenied);
        let attempt = Attempt {
            project: hub.project.clone(),
            agent: "builder".parse().unwrap(),
            work: "TASK-1".to_owned(),
            id: None,
        };
        for (id, actor) in [("k5", "agent:coder"), ("k6", "script:ci")] {
            let agent = key(id, actor, &[Verb::Read, Verb::Write]);
            assert_eq!(hub.join(&agent).await.unwrap_err(), Code::AofPersonRequired);
        }
        let scope = KeyScope::new(vec![Verb::Read, Verb::Write], None);
        let plain = Caller::key("k7", &scope);
        assert_eq!(hub.join(&plain).await.unwrap_err(), Code::AofPersonRequired);
        let worker = Caller::owner().for_worker(&attempt).unwrap();
        assert_eq!(hub.join(&worker).await.unwrap_err(), Code::NotForWorkers);
        hub.join(&lead).await.unwrap();
        let other = key("k3", "human:eve", &write);
        for refused in [
            hub.join(&other).await.unwrap_err(),
            hub.send(&other, Vec::new(), None).await.unwrap_err(),
            hub.leave(&other, true).await.unwrap_err(),
        ] {
            assert_eq!(refused, Code::EdgeOfAnotherKey);
        }
        // A new key of the same person takes the edge over; the old one does not send any more.
        let new = key("k4", "human:lead", &write);
        assert_eq!(hub.send(&new, Vec::new(), None).await.unwrap_err(), Code::EdgeOfAnotherKey);
        hub.join(&new).await.unwrap();
        hub.send(&new, Vec::new(), None).await.unwrap();
        assert_eq!(hub.send(&lead, Vec::new(), None).await.unwrap_err(), Code::EdgeOfAnotherKey);
    }
}

#[tokio::test]
async fn a_join_can_be_tried() {
    for (hub, _folder) in hubs().await {
        let of = (&hub.project, &hub.edge);
        let dry = || JoinParams { dry_run: true };
        hub.memory.join_edge(&lead(), of, dry(), join_request()).await.unwrap();
        assert!(hub.memory.edges(&lead(), &hub.project).await.unwrap().is_empty());
        assert!(!hub.kinds().contains(&"edge.joined".to_owned()));
        let other = project_id("other");
        let lead = lead();
        let refused = hub.memory.join_edge(&lead, (&other, &hub.edge), dry(), join_request());
        assert_eq!(refused.await.unwrap_err().code, Code::AgenticProjectNotFound);
    }
}

#[tokio::test]
async fn the_digest_of_the_last_entry_is_kept_and_requests_are_limited() {
    for (hub, _folder) in hubs().await {
        let lead = lead();
        hub.join(&lead).await.unwrap();
        assert_eq!(hub.send(&lead, Vec::new(), None).await.unwrap().digest, None);
        let event = entry(1, EdgeEntryKind::Event, "evt_1", json!({"a": 1.0}));
        let digest = accord_outbox::digest(&event);
        let sent = hub.send(&lead, vec![event], None).await.unwrap();
        assert!(digest.is_some());
        assert_eq!(sent.digest, digest);
        assert_eq!(hub.send(&lead, Vec::new(), None).await.unwrap().digest, digest);
        let most = MOST_REQUESTS as u64;
        let asked = |seq: u64| {
            entry(seq + 2, EdgeEntryKind::Request, &format!("r{seq}"), json!({"version": "1"}))
        };
        hub.send(&lead, (0..most).map(asked).collect(), None).await.unwrap();
        let refused = hub.send(&lead, vec![asked(most)], None).await.unwrap_err();
        assert_eq!(refused, Code::WireFieldValue);
        // One that is known may change, and one that ended makes room.
        let again = entry(most + 2, EdgeEntryKind::Request, "r0", json!({"version": "2"}));
        hub.send(&lead, vec![again], None).await.unwrap();
        let ended = entry(most + 3, EdgeEntryKind::RequestEnded, "r0", json!({}));
        hub.send(&lead, vec![ended, asked(most + 2)], None).await.unwrap();
    }
}

#[tokio::test]
async fn an_edge_that_leaves_can_take_its_copy_with_it() {
    for (hub, _folder) in hubs().await {
        let lead = lead();
        hub.join(&lead).await.unwrap();
        let event = entry(1, EdgeEntryKind::Event, "evt_1", json!({"secret_plan": "x"}));
        let asked = entry(2, EdgeEntryKind::Request, "r", json!({"version": "1"}));
        hub.send(&lead, vec![event, asked], None).await.unwrap();
        assert_eq!(hub.leave(&lead, false).await.unwrap(), 0);
        let (edge, items) = hub.memory.edge(&lead, (&hub.project, &hub.edge)).await.unwrap();
        assert!(edge.left_at.is_some() && items.is_empty());
        assert_eq!(hub.send(&lead, Vec::new(), None).await.unwrap_err(), Code::EdgeLeft);
        hub.join(&lead).await.unwrap();
        assert_eq!(hub.leave(&lead, true).await.unwrap(), 2);
        assert!(hub.memory.edges(&lead, &hub.project).await.unwrap().is_empty());
        let texts: String = hub.events().into_iter().map(|event| event.entry.text).collect();
        assert!(!texts.contains("secret_plan"), "{texts}");
    }
}

#[tokio::test]
async fn the_incarnation_stays_until_it_is_forgotten() {
    for (hub, _folder) in hubs().await {
        let lead = lead();
        hub.join(&lead).await.unwrap();
        let first = hub.send(&lead, Vec::new(), None).await.unwrap().incarnation;
        assert_eq!(hub.send(&lead, Vec::new(), None).await.unwrap().incarnation, first);
        let forget = |unit: &mut dyn WriteUnit| unit.put_setting(Scope::Store, INCARNATION, None);
        hub.store.write(forget).unwrap();
        assert_ne!(hub.send(&lead, Vec::new(), None).await.unwrap().incarnation, first);
    }
}

#[tokio::test]
async fn results_stay_until_they_were_looked_at() {
    for (hub, _folder) in hubs().await {
        let lead = lead();
        hub.join(&lead).await.unwrap();
        let results = |from: u64| -> Vec<EdgeEntry> {
            let one = |seq: u64| entry(seq, EdgeEntryKind::Result, &format!("t{seq}"), json!({}));
            (from..from + 256).map(one).collect()
        };
        hub.send(&lead, results(1), None).await.unwrap();
        hub.send(&lead, results(257), None).await.unwrap();
        let count = async || {
            let (_, items) = hub.memory.edge(&lead, (&hub.project, &hub.edge)).await.unwrap();
            items.len()
        };
        assert_eq!(count().await, 512, "no package was made of them yet");
        let source = FlowSource { project: hub.project.clone(), id: EDGES.to_owned() };
        let upto = hub.events().last().unwrap().seq;
        let upto = TakenOver { number: upto, place: String::new() };
        hub.memory.flow(&source, Vec::new(), Vec::new(), upto).unwrap();
        let next = entry(513, EdgeEntryKind::Result, "t513", json!({}));
        hub.send(&lead, vec![next], None).await.unwrap();
        assert_eq!(count().await, 200, "the newest are kept");
    }
}

/// A piece of the output of a turn, or the state of a run.
fn of_type(type_name: &str, entry: EdgeEntry) -> EdgeEntry {
    EdgeEntry { type_name: type_name.into(), ..entry }
}

#[tokio::test]
async fn a_state_is_what_is_now_and_waits_for_nobody() {
    for (hub, _folder) in hubs().await {
        let (lead, of) = (lead(), (&hub.project, &hub.edge));
        hub.join(&lead).await.unwrap();
        let state = |seq: u64, run: &str, status: &str, turns: Value| {
            let body = json!({"run_id": run, "phase": "planning", "status": status,
                "turns": turns, "version": seq.to_string(), "changed": false});
            let state = entry(seq, EdgeEntryKind::State, &format!("state/{run}"), body);
            of_type("run.state", state)
        };
        let works = json!([{"turn_id": "turn_1", "role": "dev"}]);
        hub.send(&lead, vec![state(1, "run_1", "active", works)], None).await.unwrap();
        let (edge, items) = hub.memory.edge(&lead, of).await.unwrap();
        let run = edge.run.unwrap();
        assert_eq!((run.run_id.as_deref(), run.status.as_deref()), (Some("run_1"), Some("active")));
        assert_eq!((run.turns[0].turn_id.as_str(), run.last_event), ("turn_1", None));
        assert_eq!((edge.requests, items.len()), (0, 1), "nobody waits");
        // The next run: the state of the first one goes without a word.
        let ended = entry(2, EdgeEntryKind::RequestEnded, "state/run_1", json!({}));
        let next = state(3, "run_2", "idle", json!([]));
        hub.send(&lead, vec![ended, next], None).await.unwrap();
        let (edge, items) = hub.memory.edge(&lead, of).await.unwrap();
        let run = edge.run.unwrap();
        assert_eq!((run.run_id.as_deref(), run.turns.len()), (Some("run_2"), 0));
        assert_eq!((items.len(), items[0].id.as_str()), (1, "state/run_2"));
        assert_eq!(hub.kinds()[2..], ["edge.state", "edge.state"]);
    }
}

#[tokio::test]
async fn an_output_is_put_together_and_only_its_end_is_kept() {
    for (hub, _folder) in hubs().await {
        let (lead, of) = (lead(), (&hub.project, &hub.edge));
        hub.join(&lead).await.unwrap();
        let piece = |seq, turn: &str, text: &str| {
            let body = json!({"turn_id": turn, "worker": "w", "from": 0, "to": 1, "sent": 1,
                "left_out": 0, "over": false, "text": text});
            let piece = entry(seq, EdgeEntryKind::Output, &format!("output/{turn}"), body);
            of_type("run.output", piece)
        };
        let both = vec![piece(1, "turn_1", "one"), piece(2, "turn_1", "two")];
        hub.send(&lead, both.clone(), None).await.unwrap();
        hub.send(&lead, both, None).await.unwrap();
        let item = hub.memory.edge_item(&lead, of, "output/turn_1").await.unwrap();
        let body = item.document.unwrap();
        assert_eq!((&body["text"], &body["bytes"]), (&json!("one\ntwo\n"), &json!(8)));
        // Those of few turns are kept.
        for seq in 3..30 {
            hub.send(&lead, vec![piece(seq, &format!("turn_{seq}"), "x")], None).await.unwrap();
        }
        let (edge, items) = hub.memory.edge(&lead, of).await.unwrap();
        assert_eq!((edge.requests, items.len()), (0, 16));
        assert!(!hub.events().iter().any(|event| event.entry.text.contains("two")));
    }
}
