//! Commands on a governed repository that are killed in the middle of everything.
//!
//! A run goes on turn by turn, by hand and by a worker, under git, while its commands are ended by
//! `kill -9` at some moment. After each kill the next command finds the run before or after, never
//! between: no line twice, none cut off, what was acknowledged there for good, nobody locked out,
//! nothing left lying about. `ACCORD_KILL_ROUNDS=200` makes it long. That each single write may be
//! the last is shown by the tests of the services, which end a process at each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::accord::run;
use crate::run_place::{Place, all_different, kill, plan, result, text};
use crate::wait::{output_of, wait_for_end_of, wait_until};

const STATE: &str = ".agentxchain/state.json";
const HISTORY: &str = ".agentxchain/history.jsonl";
const LEDGER: &str = ".agentxchain/decision-ledger.jsonl";
const EVENTS: &str = ".agentxchain/events.jsonl";
const DECISIONS: &str = ".agentxchain/repo-decisions.jsonl";
const TALK: &str = "TALK.md";
const RECORDS: [&str; 5] = [HISTORY, LEDGER, EVENTS, DECISIONS, TALK];

/// The developer: a script that leaves a file and a result.
const WORKER: &str = r#"
mkdir -p work "$(dirname "$AGENTXCHAIN_STAGING_PATH")"
echo done > "work/$AGENTXCHAIN_TURN_ID.txt"
cat > "$AGENTXCHAIN_STAGING_PATH.part" <<END
{"schema_version": "1.0", "run_id": "$AGENTXCHAIN_RUN_ID", "turn_id": "$AGENTXCHAIN_TURN_ID",
 "role": "$AGENTXCHAIN_ROLE", "runtime_id": "agent", "status": "completed",
 "summary": "did $AGENTXCHAIN_TURN_ID", "decisions": [], "objections": [],
 "files_changed": ["work/$AGENTXCHAIN_TURN_ID.txt"],
 "verification": {"status": "pass", "evidence_summary": "read"},
 "artifact": {"type": "workspace"}, "proposed_next_role": "pm"}
END
mv "$AGENTXCHAIN_STAGING_PATH.part" "$AGENTXCHAIN_STAGING_PATH"
"#;

#[test]
fn commands_that_are_killed_leave_before_or_after() {
    let rounds = std::env::var("ACCORD_KILL_ROUNDS");
    let rounds: usize = rounds.map_or(8, |rounds| rounds.parse().expect("a number"));
    let mut story = Story::new();
    let mut commands = 0;
    while story.killed < rounds {
        story.go_on(commands);
        commands += 1;
        assert!(commands < 20 * (rounds + 10), "{} kills in {commands} commands", story.killed);
    }
    let accepted = story.lines(HISTORY).len();
    println!(
        "{commands} commands, {} killed, {} finished by the next; {accepted} turns accepted",
        story.killed, story.finished
    );
}

/// A run that goes on whatever happens.
struct Story {
    place: Place,
    dice: Dice,
    killed: usize,
    /// How often a command finished what a killed one had decided.
    finished: usize,
    decided: usize,
    /// How long commands take, by their first word.
    took: BTreeMap<String, Duration>,
    /// The turns whose acceptance was acknowledged.
    acknowledged: BTreeSet<String>,
}

/// What a run consists of.
#[derive(Eq, PartialEq)]
struct Records {
    state: String,
    files: Vec<String>,
    staged: bool,
}

impl Story {
    fn new() -> Self {
        let place = Place::begun_with(|config| {
            config["roles"]["dev"]["runtime"] = json!("agent");
            config["runtimes"]["agent"] = json!({"type": "local_cli",
                "prompt_transport": "dispatch_bundle_only", "command": ["/bin/sh", "-c", WORKER]});
            config["rules"]["challenge_required"] = json!(false);
        });
        plan(&place);
        place.commit();
        Self {
            place,
            dice: Dice(0x2545_f491_4f6c_dd1d),
            killed: 0,
            finished: 0,
            decided: 0,
            took: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
        }
    }

    /// Types the next command, perhaps kills it, and looks at what is left.
    fn go_on(&mut self, number: usize) {
        let words = self.next();
        let kind = words.split(' ').next().expect("a word").to_owned();
        let turn = self.turn().map(|turn| turn["turn_id"].as_str().expect("an id").to_owned());
        let before = self.records(turn.as_deref());
        let began = Instant::now();
        let child = self.place.begin(&format!("{words} --json"));
        // The first of each kind shows how long it takes.
        let usual = self.took.get(&kind).copied();
        let output = match usual {
            Some(usual) if !self.dice.one_in(4) => {
                std::thread::sleep(usual.mul_f64(self.dice.part() * 1.1));
                let (output, was_killed) = kill(child);
                self.killed += usize::from(was_killed);
                output
            }
            _ => {
                let output = output_of(child, &words);
                self.took.insert(kind.clone(), began.elapsed());
                output
            }
        };
        let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        let yes = answer.as_ref().is_some_and(|answer| answer.get("code").is_none());
        let reported = format!(
            "command {number}, {words}: {answer:?} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        if let (true, Some(turn), "accept" | "step") = (yes, &turn, kind.as_str()) {
            self.acknowledged.insert(turn.clone());
        }
        self.recover(&reported);
        let after = self.records(turn.as_deref());
        match kind.as_str() {
            "accept" => {
                self.one_or_none(&before, &after, turn.as_deref().expect("a turn"), &reported);
            }
            // These are one change each.
            "reject" | "escalate" | "resolve" | "approve-transition" | "start" => {
                let moved = before.state != after.state;
                assert_eq!(moved, before.files[2] != after.files[2], "{reported}");
                assert_eq!(before.files[0], after.files[0], "{reported}");
            }
            _ => {}
        }
        let refused = answer.as_ref().and_then(|answer| answer.get("code")?.as_str());
        match refused {
            None => {
                assert!(
                    !yes || before != after || kind == "dispatch",
                    "{reported}: nothing came of it"
                );
            }
            // What abandoned turns left is a person's to tidy up; a worker ends soon.
            Some("baseline_dirty" | "nothing_to_checkpoint") => self.place.commit(),
            Some("worker_busy") => {
                let answer = answer.as_ref().expect("a refusal");
                let worker = answer["error"]["worker_pid"].as_u64().expect("a process");
                wait_for_end_of(&worker.to_string());
            }
            Some(_) => panic!("{reported}"),
        }
        self.is_sound(&reported);
    }

    /// What a person would type next.
    fn next(&mut self) -> String {
        let state = self.state();
        let planning = state["phase"] == "planning";
        let words = match (state["status"].as_str().expect("a status"), self.turn()) {
            ("idle", _) => "start",
            ("blocked", turn) if turn.is_some() || !planning => "start --restart",
            ("blocked", _) => self.dice.of(&["resolve --yes", "start --restart"]),
            ("paused", _) => "approve-transition --yes",
            ("active", None) if !planning => "escalate --reason 'another run'",
            ("active", None) if self.has_work() => "checkpoint",
            ("active", None) => self.dice.of(&["assign pm", "assign pm", "step --role dev"]),
            ("active", Some(turn)) if turn["assigned_role"] == "dev" => "step",
            ("active", Some(turn)) if turn["status"] != "dispatched" && !self.is_bundled(&turn) => {
                "dispatch"
            }
            ("active", Some(turn)) => {
                self.stage(&turn);
                self.dice.of(&[
                    "accept",
                    "accept",
                    "accept",
                    "accept --checkpoint",
                    "reject --reason no",
                    "escalate --reason look",
                ])
            }
            other => panic!("{other:?}"),
        };
        words.to_owned()
    }

    /// Does the turn's work, and stages its result.
    fn stage(&mut self, turn: &Value) {
        let id = turn["turn_id"].as_str().expect("an id");
        let staging = staging(id);
        if self.place.at(&staging).exists() {
            return;
        }
        let file = format!("work/{id}.txt");
        self.decided += 2;
        // Each try does something of its own.
        self.place.write(&file, &format!("by hand, {}\n", self.decided));
        let mut result = result(turn, &turn["runtime_id"], &[&file]);
        result["summary"] = format!("did {id}").into();
        result["proposed_next_role"] = json!("pm");
        result["decisions"] = json!([
            {"id": format!("DEC-{:03}", self.decided), "category": "scope", "statement": "small",
             "rationale": "soon"},
            {"id": format!("DEC-{:03}", self.decided + 1), "category": "scope",
             "statement": "kept", "rationale": "later", "durability": "repo"},
        ]);
        if self.dice.one_in(4) {
            result["phase_transition_request"] = json!("implementation");
        }
        self.place.write(&staging, &result.to_string());
    }

    /// The next command: it has nothing to do itself, and finishes what was left.
    fn recover(&mut self, reported: &str) {
        // A git that was started goes on when its parent is killed.
        wait_until("the end of a git that a killed command started", || {
            !self.place.at(".git/index.lock").exists()
        });
        let ran = self.place.run("reject --turn turn_of_nobody --reason none --json");
        let answer: Value = serde_json::from_str(&ran.stdout).expect("one JSON document");
        let code = answer["code"].as_str();
        assert!(
            matches!(code, Some("turn_not_active" | "invalid_state_transition")),
            "{reported}\nthen {answer}"
        );
        self.finished += usize::from(ran.stderr.contains("left half done"));
    }

    /// An acceptance is in all records, once, or in none.
    fn one_or_none(&self, before: &Records, after: &Records, turn: &str, reported: &str) {
        let new = |at: usize| {
            let (old, new) = (&before.files[at], &after.files[at]);
            new.strip_prefix(old.as_str())
                .unwrap_or_else(|| panic!("{reported}: {} was rewritten", RECORDS[at]))
        };
        if before.state == after.state {
            assert!(
                before.files == after.files,
                "{reported}: the state is before, a record is not"
            );
            assert!(after.staged, "{reported}: the result is gone");
            assert!(!self.acknowledged.contains(turn), "{reported}: it was acknowledged");
            return;
        }
        let count = |at: usize| new(at).lines().count();
        assert_eq!((count(0), count(1), count(3)), (1, 2, 1), "{reported}");
        assert_eq!(new(2).matches("\"turn_accepted\"").count(), 1, "{reported}");
        assert!((0..5).all(|at| new(at).contains(turn)), "{reported}");
        assert!(!after.staged, "{reported}: the result is still staged");
        assert!(self.state()["active_turns"].get(turn).is_none(), "{reported}");
    }

    /// What holds at any time.
    fn is_sound(&self, reported: &str) {
        for path in &RECORDS[..4] {
            let text = self.place.read(path);
            assert!(
                text.is_empty() || text.ends_with('\n'),
                "{reported}: {path} ends in the middle"
            );
        }
        let history = self.lines(HISTORY);
        let accepted: Vec<&str> = history.iter().map(|line| text(line, "turn_id")).collect();
        let accepted = all_different(accepted, reported);
        let talk = self.place.read(TALK);
        for turn in &accepted {
            let section = format!("did {turn}\n");
            assert_eq!(talk.matches(&section).count(), 1, "{reported}: {turn} in {TALK}");
        }
        for turn in &self.acknowledged {
            assert!(
                accepted.contains(turn.as_str()),
                "{reported}: {turn} was acknowledged and is gone"
            );
        }
        let events = self.lines(EVENTS);
        all_different(events.iter().map(|event| text(event, "event_id")).collect(), reported);
        let said = events.iter().filter(|event| event["event_type"] == "turn_accepted");
        let said =
            all_different(said.map(|event| text(&event["turn"], "turn_id")).collect(), reported);
        assert_eq!(said, accepted, "{reported}");
        let ledger = self.lines(LEDGER);
        let decided = ledger.iter().filter(|line| line.get("id").is_some());
        let decided = decided.map(|line| (text(line, "id"), text(line, "turn_id")));
        let decided: BTreeSet<_> = all_different(decided.collect(), reported);
        let wanted = history.iter().flat_map(|line| {
            let ids = line["decisions"].as_array().into_iter().flatten();
            ids.map(|decision| (text(decision, "id"), text(line, "turn_id")))
        });
        assert_eq!(decided, wanted.collect(), "{reported}");
        let kept = self.lines(DECISIONS);
        let kept = all_different(kept.iter().map(|line| text(line, "id")).collect(), reported);
        assert!(
            kept.iter().all(|id| decided.iter().any(|(decided, _)| decided == id)),
            "{reported}"
        );
        assert_eq!(kept.len() * 2, decided.len(), "{reported}");
        let left = self.place.leftovers();
        assert!(left.is_empty(), "{reported}: {left:?} was left");
    }

    fn records(&self, turn: Option<&str>) -> Records {
        Records {
            state: self.place.read(STATE),
            files: RECORDS.iter().map(|path| self.place.read(path)).collect(),
            staged: turn.is_some_and(|turn| self.place.at(&staging(turn)).exists()),
        }
    }

    fn state(&self) -> Value {
        serde_json::from_str(&self.place.read(STATE)).expect("a state")
    }

    /// The active turn, where there is one.
    fn turn(&self) -> Option<Value> {
        let state = self.state();
        let turns = state["active_turns"].as_object()?;
        assert!(turns.len() < 2, "one turn at a time: {state}");
        turns.values().next().cloned()
    }

    fn is_bundled(&self, turn: &Value) -> bool {
        let bundle = format!(".agentxchain/dispatch/turns/{}/MANIFEST.json", text(turn, "turn_id"));
        self.place.at(&bundle).exists()
    }

    /// Whether something waits to be committed.
    fn has_work(&self) -> bool {
        let mut git = std::process::Command::new("git");
        git.args(["status", "--porcelain", "--untracked-files=all", "work"])
            .current_dir(self.place.root());
        !run(git, "").stdout.is_empty()
    }

    fn lines(&self, path: &str) -> Vec<Value> {
        self.place.lines(path)
    }
}

fn staging(turn: &str) -> String {
    format!(".agentxchain/staging/{turn}/turn-result.json")
}

/// Chance that is the same each time; when a kill strikes is not.
struct Dice(u64);

impl Dice {
    fn throw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.throw().is_multiple_of(many)
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[(self.throw() % choices.len() as u64) as usize]
    }

    /// Something between nothing and one.
    fn part(&mut self) -> f64 {
        (self.throw() % 1000) as f64 / 1000.0
    }
}
