//! A person on the hub stops a governed run at its edge: whoever works on it is ended, nothing goes
//! on by itself, and the stop is applied once, also if the hub or the edge is killed.

use std::collections::BTreeSet;
use std::process::Child;

use serde_json::{Value, json};

use crate::accord::{Ran, command, run};
use crate::edge_decisions::STEPS;
use crate::edges::{Hub, join, send, typed};
use crate::memory::bare;
use crate::run_place::{Place, kill, text};
use crate::wait::{output_of, wait_until};

const DECIDE: [&str; 4] = ["--decide", "run.stop,run.block", "--deciders", "human:lead"];
/// Says that it works, and works for longer than a test lasts.
const AGENT: &str = "echo working; touch at-work; exec sleep 600";

/// A joined repository whose agent does not end by itself.
struct Shop {
    hub: Hub,
    place: Place,
    edge: String,
}

impl Shop {
    fn new(variables: &[(&str, &str)], options: &[&str]) -> Self {
        let (hub, place) = (
            Hub::with(variables),
            Place::begun_with(|config| {
                config["roles"]["pm"]["runtime"] = json!("agent");
                config["runtimes"]["agent"] =
                    json!({"type": "local_cli", "command": ["sh", "-c", AGENT]});
            }),
        );
        join(&place, &hub, options).yes();
        let edge = text(&hub.edge(), "edge_id").to_owned();
        Self { hub, place, edge }
    }

    /// A command of the hub.
    fn on_hub(&self, words: &[&str]) -> Ran {
        let data = self.hub.folder.path().join("data");
        let of = ["--project", "shop", "--data", data.to_str().expect("text")];
        run(bare(&[&["project"], words, &of[..]].concat()), "")
    }

    fn stop(&self, actor: &str) -> Ran {
        let by = ["--note", "the plan is wrong", "--yes", "--actor", actor];
        self.on_hub(&[&["runs", &self.edge, "--stop"], &by[..]].concat())
    }

    /// Begins a command of runs whose agent works, and tells the hub.
    fn works(&self, words: &str) -> Child {
        let working = self.place.begin(words);
        wait_until("the agent to work", || self.place.at("at-work").exists());
        wait_until("the hub to hear of the turn", || {
            send(&self.place);
            let shown = self.hub.get(&format!("/runs/{}", self.edge))["run"].clone();
            shown["turns"].as_array().is_some_and(|turns| !turns.is_empty())
        });
        working
    }

    fn state(&self) -> Value {
        serde_json::from_str(&self.place.read(".agentxchain/state.json")).expect("JSON")
    }

    fn decisions(&self) -> Vec<Value> {
        let answer = self.hub.get(&format!("/edges/{}/decisions", self.edge));
        answer["decisions"].as_array().expect("decisions").clone()
    }

    /// The stop was applied once, and both records have it once.
    fn check_stopped(&self, about: &str) {
        let state = self.state();
        assert_eq!(state["status"], "blocked", "{about}");
        assert_eq!(state["blocked_on"], "escalation:operator:the-plan-is-wrong", "{about}");
        let mut raised = self.place.lines(".agentxchain/events.jsonl");
        raised.retain(|line| line["event_type"] == "escalation_raised");
        assert_eq!(raised.len(), 1, "{about}: {raised:?}");
        let decisions = self.decisions();
        let stop = decisions.last().expect("a decision");
        assert_eq!((decisions.len(), &stop["state"]), (1, &json!("applied")), "{about}: {stop}");
        let id = &stop["decision_id"];
        let mut ledger = self.place.lines(".agentxchain/decision-ledger.jsonl");
        ledger.retain(|line| &line["decision_id"] == id);
        assert_eq!(ledger.len(), 1, "{about}: {ledger:?}");
        let line = &ledger[0];
        assert_eq!(line["decision"], "operator_escalated", "{line}");
        assert_eq!((&line["actor"], &line["hub"]), (&json!("human:lead"), &stop["hub"]), "{line}");
        assert!(line["door"].is_string() && line["decided_at"].is_string(), "{line}");
        let own = self.place.run("decisions --people --json").yes();
        let own = own.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let of_hub = self.hub.get("/decisions")["decisions"].clone();
        let of_hub = of_hub.as_array().expect("decisions").clone();
        for records in [own.collect::<Vec<Value>>(), of_hub] {
            assert_eq!(records.len(), 1, "{about}: {records:?}");
            let record = &records[0];
            assert_eq!(&record["decision_id"], id, "{about}: {record}");
            assert_eq!(
                (&record["kind"], &record["outcome"]),
                (&json!("run.stop"), &json!("stopped"))
            );
        }
        assert_eq!(self.hub.kinds(), ["run.blocked"], "{about}");
    }
}

#[test]
fn a_stop_ends_the_agent_that_works_and_the_run_waits() {
    let shop = Shop::new(&[], &DECIDE);
    let working = shop.works("step");
    let turn = text(&shop.hub.get(&format!("/runs/{}", shop.edge))["run"]["turns"][0], "turn_id")
        .to_owned();
    let shown = shop.on_hub(&["runs", &shop.edge]).yes();
    assert!(shown.contains("--stop") && shown.contains(&turn), "{shown}");
    shop.stop("human:other").refused("edge_not_decidable");
    let said = shop.stop("human:lead").yes();
    assert!(said.contains("stop: decided, not delivered"), "{said}");
    assert_eq!(shop.state()["status"], "active", "it waits for the edge");
    let said = typed(&shop.place, &["edge", "--once"]).yes();
    assert!(said.contains("decided by human:lead on the hub: applied"), "{said}");
    let ran = output_of(working, "a step that was stopped");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains("a person stopped the run"), "{said}");
    send(&shop.place);
    shop.check_stopped("a step");
    let state = shop.state();
    let left = &state["active_turns"][&turn];
    assert!(left["worker_pid"].is_null(), "nothing of the worker is left: {left}");
    assert!(shop.place.run("step").stdout.contains("resolve"), "nothing goes on by itself");

    // A person lets it go on. The turn is the same.
    let item = shop.hub.inbox()[0]["subject"].as_str().expect("a subject").to_owned();
    let (_, item) = item.split_once('/').expect("an item");
    let resolve = ["edges", &shop.edge, item, "--decide", "resolve", "--yes"];
    shop.on_hub(&[&resolve[..], &["--actor", "human:lead"]].concat()).yes();
    send(&shop.place);
    let state = shop.state();
    assert_eq!(state["status"], "active", "{state}");
    assert!(state["active_turns"][&turn].is_object(), "{state}");
    shop.on_hub(&["runs", &shop.edge]).yes();
}

#[test]
fn a_loop_stops_by_itself_when_the_hub_says_so() {
    let shop = Shop::new(&[], &DECIDE);
    let working = shop.works("loop");
    shop.stop("human:lead").yes();
    let ran = output_of(working, "a loop that was stopped");
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    send(&shop.place);
    shop.check_stopped("a loop");
}

#[test]
fn a_stop_is_about_the_run_as_it_was_shown() {
    let shop = Shop::new(&[], &DECIDE);
    shop.stop("human:lead").yes();
    shop.stop("human:lead").refused("edge_decision_waits");
    shop.place.hand_out("dev");
    send(&shop.place);
    let returned = &shop.decisions()[0];
    let why = (&returned["state"], &returned["reason"]);
    assert_eq!(why, (&json!("returned"), &json!("changed since")));
    assert_eq!(shop.state()["status"], "active");
    // A stop at the edge wins, and a run that waits is not stopped.
    shop.stop("human:lead").yes();
    shop.place.run("escalate --reason mine").yes();
    send(&shop.place);
    assert_ne!(shop.decisions()[0]["state"], "applied");
    shop.stop("human:lead").refused("edge_not_decidable");
    assert_eq!(shop.hub.get("/decisions")["decisions"], json!([]));
}

#[test]
fn a_stop_is_for_persons_that_the_join_names() {
    let shop = Shop::new(&[], &["--decide", "run.block", "--deciders", "human:lead"]);
    let refused = shop.stop("human:lead").refused("edge_not_decidable");
    assert!(refused.contains("--decide run.stop"), "{refused}");
    // Its worker cannot stop it, at the edge or on the hub.
    let place = &shop.place;
    place.hand_out("dev");
    let mut worker = place.command("escalate --end-workers --reason now --yes");
    worker.env("AGENTXCHAIN_TURN_ID", "turn_1");
    run(worker, "").refused("not_for_workers");
    place.run("escalate --reason now --actor human:lead").refused("USAGE");
    let said = place.run("escalate --end-workers --reason now --yes").yes();
    assert!(said.contains("blocked"), "{said}");
}

/// Sends what is new, and is killed at a step of the edge.
fn send_killed(shop: &Shop, step: &str) {
    let mut typed = command(&["edge", "--once"]);
    typed.current_dir(shop.place.root()).env("XDG_STATE_HOME", shop.place.state());
    typed.env("ACCORD_KILL_AT", step);
    let ran = typed.output().expect("accord starts");
    assert!(!ran.status.success(), "nothing was killed at {step}: {ran:?}");
}

#[test]
fn a_kill_at_any_step_stops_the_run_once() {
    for step in STEPS {
        let is_hub = step.starts_with("hub");
        let variables = [("ACCORD_KILL_AT", step)];
        let mut shop = Shop::new(if is_hub { &variables } else { &[] }, &DECIDE);
        // Another process waits for the agent, and compares the records with its copies.
        let working = (step == "run.decision").then(|| shop.works("step"));
        let decided = shop.stop("human:lead");
        if step == "hub.decided" {
            assert_ne!(decided.code, 0, "the hub was killed");
        } else {
            decided.yes();
            send_killed(&shop, step);
        }
        if is_hub {
            shop.hub.restart();
        }
        for _ in 0..2 {
            send(&shop.place);
        }
        shop.check_stopped(step);
        drop(working.map(kill));
    }
}

#[test]
fn every_step_of_a_stop_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("steps");
    let steps = path.to_str().expect("text");
    let shop = Shop::new(&[("ACCORD_STEPS", steps)], &DECIDE);
    shop.stop("human:lead").yes();
    let mut typed = command(&["edge", "--once"]);
    typed.current_dir(shop.place.root()).env("XDG_STATE_HOME", shop.place.state());
    typed.env("ACCORD_STEPS", steps);
    run(typed, "").yes();
    let seen = std::fs::read_to_string(&path).expect("steps");
    let seen: BTreeSet<&str> = seen.lines().collect();
    assert_eq!(seen, BTreeSet::from(STEPS));
}
