//! What a poll does to a tree.

use std::fs;

use accord_contract::wire::Value;
use accord_tasks::Tree;
use accord_tasks::operations::NewTask;
use accord_tasks_core::board::Limits;
use accord_tasks_core::lease::LeaseTimes;
use accord_tasks_core::route::{Apply, Rules};
use accord_tasks_core::{Status, TaskId};
use serde_json::json;

use crate::support::{Clock, report};

const AGENT: &str = "swe-backend";

fn routed(title: &str) -> NewTask {
    let mut new = NewTask::new(title, "human:reviewer");
    new.routing.insert("agent".into(), AGENT.into());
    new
}

fn events(folder: &std::path::Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("events/2026-02-09.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

struct Case {
    folder: tempfile::TempDir,
    clock: Clock,
    tree: Tree,
}

fn case() -> Case {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::default();
    let tree = Tree::open(folder.path(), "shop", clock.environment()).unwrap();
    tree.init().unwrap();
    Case { folder, clock, tree }
}

impl Case {
    fn claimed(&self) -> TaskId {
        let id = self.tree.create(routed("x")).unwrap().task().id;
        assert_eq!(self.tree.poll(&Limits::default()).unwrap().moved, [(id, Status::Ready)]);
        self.tree.claim(id, AGENT, LeaseTimes::default()).unwrap();
        id
    }
}

#[test]
fn a_silent_run_is_taken_back_once() {
    let case = case();
    let id = case.claimed();
    case.clock.add(299);
    assert!(case.tree.poll(&Limits::default()).unwrap().moved.is_empty());
    case.clock.add(1);
    assert_eq!(case.tree.poll(&Limits::default()).unwrap().moved, [(id, Status::Ready)]);
    let events = events(case.folder.path());
    let last = events.last().unwrap();
    assert_eq!(last["payload"]["reason"], "stale_heartbeat_reclaim");
    let run = fs::read_to_string(case.folder.path().join(format!("runs/{id}/run.json"))).unwrap();
    assert!(run.contains("\"status\": \"failed\"") && run.contains("stale_heartbeat"), "{run}");
    // A poll that finds nothing writes nothing.
    let polled = case.tree.poll(&Limits::default()).unwrap();
    assert_eq!((polled.moved.len(), polled.start), (0, vec![id]));
    assert_eq!(self::events(case.folder.path()), events);
    // The old run's report is refused now.
    let late = case.tree.receive(report(&id.to_string(), "other", "done"), Rules::default());
    assert!(late.is_err());
}

#[test]
fn a_run_that_beats_is_never_taken_back() {
    let case = case();
    let id = case.claimed();
    for _ in 0..10 {
        case.clock.add(200);
        case.tree.heartbeat(id, AGENT, None, LeaseTimes::default()).unwrap();
        assert!(case.tree.poll(&Limits::default()).unwrap().moved.is_empty());
    }
}

#[test]
fn a_recorded_result_decides_after_a_crash() {
    for (outcome, status) in
        [("done", Status::Review), ("partial", Status::Review), ("blocked", Status::Blocked)]
    {
        let case = case();
        let id = case.claimed();
        let rules = Rules { apply: Apply::SessionEnd, ..Rules::default() };
        case.tree.receive(report(&id.to_string(), AGENT, outcome), rules).unwrap();
        case.clock.add(600);
        // A new process looks at the tree.
        let tree = Tree::open(case.folder.path(), "shop", case.clock.environment()).unwrap();
        assert_eq!(tree.poll(&Limits::default()).unwrap().moved, [(id, status)]);
        let events = events(case.folder.path());
        let expected = json!(format!("stale_heartbeat_{outcome}"));
        assert_eq!(events.last().unwrap()["payload"]["reason"], expected);
    }
}

#[test]
fn the_result_of_an_earlier_run_is_moved_away() {
    let case = case();
    let id = case.claimed();
    let rules = Rules { apply: Apply::SessionEnd, ..Rules::default() };
    case.tree.receive(report(&id.to_string(), AGENT, "blocked"), rules).unwrap();
    case.clock.add(600);
    assert_eq!(case.tree.poll(&Limits::default()).unwrap().moved, [(id, Status::Blocked)]);
    case.tree.unblock(id, "human:reviewer").unwrap();
    case.tree.claim(id, AGENT, LeaseTimes::default()).unwrap();
    case.clock.add(600);
    // The second run said nothing, so the task is ready again.
    assert_eq!(case.tree.poll(&Limits::default()).unwrap().moved, [(id, Status::Ready)]);
    assert_eq!(case.tree.lint().unwrap(), []);
}

#[test]
fn a_lease_of_another_tool_gets_a_run_with_its_heartbeat() {
    let case = case();
    let id = case.claimed();
    fs::remove_dir_all(case.folder.path().join(format!("runs/{id}"))).unwrap();
    let beat = case.tree.heartbeat(id, AGENT, None, LeaseTimes::default()).unwrap();
    assert!(beat.run_id.is_some_and(|run| run.starts_with("run_")));
    assert!(case.folder.path().join(format!("runs/{id}/run.json")).exists());
    assert_eq!(case.tree.lint().unwrap(), []);
}
