//! What a poll does to a tree.

use std::fs;

use accord_contract::{Code, Field};
use accord_tasks::Tree;
use accord_tasks_core::Status;
use accord_tasks_core::operations::{
    ApplyMode, ClaimRequest, EditRequest, HeartbeatRequest, InitRequest, PollAnswer, UnblockRequest,
};
use serde_json::{Value, json};

use crate::support::{AGENT, Case, agent, events, human, id, moved, report, routed};

fn at_session_end() -> Case {
    let request = InitRequest { apply: Some(ApplyMode::SessionEnd), ..InitRequest::default() };
    Case::with(&request)
}

#[test]
fn a_silent_run_is_taken_back_once() {
    let case = Case::new();
    let id = id(&case.tree.create(&routed("x"), &human()).unwrap());
    assert_eq!(moved(&case.poll().moves), [(id, Status::Ready)]);
    case.claim(id);
    case.clock.add(299);
    assert!(case.poll().moves.is_empty());
    case.clock.add(1);
    assert_eq!(moved(&case.poll().moves), [(id, Status::Ready)]);
    let events = case.events();
    let last = events.last().unwrap();
    assert_eq!(last["payload"]["reason"], "stale_heartbeat_reclaim");
    let run = case.text(&format!("runs/{id}/run.json"));
    assert!(run.contains("\"status\": \"failed\"") && run.contains("stale_heartbeat"), "{run}");
    // A poll that finds nothing writes nothing.
    let polled = case.poll();
    assert_eq!((polled.moves.len(), polled.start), (0, vec![id]));
    assert_eq!(case.events(), events);
    // The old run's report is refused now.
    let late = case.tree.message(&report(&id.to_string(), "other", "done"), &agent("other"));
    assert!(late.is_err());
}

#[test]
fn a_run_that_beats_is_never_taken_back() {
    let case = Case::new();
    let id = case.claimed().to_string();
    for _ in 0..10 {
        case.clock.add(200);
        case.tree.heartbeat(&id, &HeartbeatRequest::default(), &agent(AGENT)).unwrap();
        assert!(case.poll().moves.is_empty());
    }
}

/// Failures 3 and 4 in docs/conformance.md: after a restart, and when lease and heartbeat have both
/// expired, the reference makes the task ready and loses the report.
#[test]
fn a_recorded_result_decides_after_a_crash() {
    for (outcome, status) in
        [("done", Status::Review), ("partial", Status::Review), ("blocked", Status::Blocked)]
    {
        let case = at_session_end();
        let id = case.claimed();
        case.tree.message(&report(&id.to_string(), AGENT, outcome), &agent(AGENT)).unwrap();
        // Lease and heartbeat have both expired.
        case.clock.add(600);
        // A new process looks at the tree.
        let polled = case.reopened().poll(&Default::default(), &human()).unwrap();
        assert_eq!(moved(&polled.moves), [(id, status)]);
        let events = case.events();
        let expected = json!(format!("stale_heartbeat_{outcome}"));
        assert_eq!(events.last().unwrap()["payload"]["reason"], expected);
        assert!(case.poll().moves.is_empty());
    }
}

/// Failure 2 in docs/conformance.md: the reference lets the result of the first run decide about
/// the second one.
#[test]
fn the_result_of_an_earlier_run_is_moved_away() {
    let case = at_session_end();
    let id = case.claimed();
    case.tree.message(&report(&id.to_string(), AGENT, "blocked"), &agent(AGENT)).unwrap();
    case.clock.add(600);
    assert_eq!(moved(&case.poll().moves), [(id, Status::Blocked)]);
    case.tree.unblock(&id.to_string(), &UnblockRequest::default(), &human()).unwrap();
    case.tree.claim(&id.to_string(), &ClaimRequest::default(), &agent(AGENT)).unwrap();
    case.clock.add(600);
    // The second run said nothing, so the task is ready again.
    assert_eq!(moved(&case.poll().moves), [(id, Status::Ready)]);
    case.is_clean();
}

#[test]
fn a_lease_of_another_tool_gets_a_run_with_its_heartbeat() {
    let case = Case::new();
    let id = case.tree.create(&routed("x"), &human()).unwrap().task.id;
    let path = |status: &str| case.folder.path().join(format!("tasks/{status}/{id}.md"));
    let lease = "lease:\n  agent: swe-backend\n  acquiredAt: 2026-02-09T21:00:00.000Z\n  \
                 expiresAt: 2026-02-09T22:00:00.000Z\n  renewCount: 0\ncreatedAt:";
    let text = fs::read_to_string(path("backlog")).unwrap();
    let text = text.replace("status: backlog", "status: in-progress").replace("createdAt:", lease);
    fs::remove_file(path("backlog")).unwrap();
    fs::write(path("in-progress"), text).unwrap();
    let line = serde_json::json!({
        "eventId": 1, "type": "task.transitioned", "timestamp": "2026-02-09T21:00:00.000Z",
        "actor": "system", "taskId": id.to_string(),
        "payload": {"from": "ready", "to": "in-progress"},
    });
    fs::write(case.folder.path().join("events/2026-02-09.jsonl"), format!("{line}\n")).unwrap();
    case.tree.look_at(&[id]).unwrap();
    let beat =
        case.tree.heartbeat(&id.to_string(), &HeartbeatRequest::default(), &agent(AGENT)).unwrap();
    assert!(beat.run_id.starts_with("run_"));
    assert!(case.folder.path().join(format!("runs/{id}/run.json")).exists());
    case.is_clean();
}

#[test]
fn a_heartbeat_moves_lease_and_heartbeat_and_an_old_run_is_refused() {
    let case = Case::new();
    let id = case.claimed();
    let run = |case: &Case| -> Value {
        serde_json::from_str(&case.text(&format!("runs/{id}/run_heartbeat.json"))).unwrap()
    };
    let lease_until = |case: &Case| {
        let text = case.file(Status::InProgress, id);
        let line = text.lines().find(|line| line.contains("expiresAt:")).unwrap().to_owned();
        line.split_once(": ").unwrap().1.trim_matches('"').to_owned()
    };
    let (old, before) = (run(&case), lease_until(&case));
    case.clock.add(250);
    let request = HeartbeatRequest {
        run_id: old["runId"].as_str().map(str::to_owned),
        ..HeartbeatRequest::default()
    };
    case.tree.heartbeat(&id.to_string(), &request, &agent(AGENT)).unwrap();
    assert!(run(&case)["expiresAt"].as_str() > old["expiresAt"].as_str());
    assert!(lease_until(&case) > before);
    // It falls silent, and the task goes to another run: the first one can change nothing.
    case.clock.add(300);
    assert_eq!(moved(&case.poll().moves), [(id, Status::Ready)]);
    case.claim(id);
    let refused = case.tree.heartbeat(&id.to_string(), &request, &agent(AGENT)).unwrap_err();
    assert_eq!(refused.code, Code::AofStaleRun);
    let mut report = case.report(id, "done");
    report["runId"] = old["runId"].clone();
    let refused = case.tree.message(&report, &agent(AGENT)).unwrap_err();
    assert_eq!(refused.code, Code::AofStaleRun);
    assert!(case.file(Status::InProgress, id).contains("status: in-progress"));
}

#[test]
fn runs_that_fall_silent_use_the_budget_up() {
    let case = Case::new();
    let id = case.ready();
    for run in 1..=3 {
        case.claim(id);
        case.clock.add(300);
        let expected = if run == 3 { Status::Deadletter } else { Status::Ready };
        assert_eq!(moved(&case.poll().moves), [(id, expected)]);
    }
    let before = case.events();
    assert_eq!(before.last().unwrap()["type"], "task.deadlettered");
    // A dead letter is not touched again, and a poll that finds nothing writes nothing.
    case.clock.add(100_000);
    assert_eq!(case.poll().moves, []);
    assert_eq!(case.events(), before);
}

#[test]
fn a_task_without_a_target_is_alerted_once() {
    let case = Case::new();
    let mut new = routed("x");
    new.agent = None;
    let id = id(&case.tree.create(&new, &human()).unwrap());
    let alerts = |polled: &PollAnswer| -> Vec<String> {
        polled.alerts.iter().map(|alert| format!("{} {}", alert.task_id, alert.reason)).collect()
    };
    assert_eq!(alerts(&case.poll()), [format!("{id} no_routing_target")]);
    let events = case.events();
    assert_eq!(events.last().unwrap()["type"], "scheduler_alert");
    // Neither this process nor another one repeats it, whatever else changes in the task.
    assert!(alerts(&case.poll()).is_empty());
    let other = case.reopened();
    assert!(alerts(&other.poll(&Default::default(), &human()).unwrap()).is_empty());
    assert_eq!(case.events(), events);
    let mut edit = EditRequest { title: Some("y".into()), ..EditRequest::default() };
    other.edit(&id.to_string(), &edit, &human()).unwrap();
    let polled = case.reopened().poll(&Default::default(), &human()).unwrap();
    assert!(alerts(&polled).is_empty());
    // With a target it goes on.
    edit.agent = Field::Value(AGENT.into());
    other.edit(&id.to_string(), &edit, &human()).unwrap();
    assert_eq!(moved(&case.poll().moves), [(id, Status::Ready)]);
    case.is_clean();
}

#[test]
fn a_task_that_a_person_must_adopt_is_left_alone_by_polls() {
    let case = Case::new();
    let id = case.claimed();
    let Case { folder, clock, tree } = case;
    drop(tree);
    fs::remove_dir_all(folder.path().join("state")).unwrap();
    clock.add(1_000);
    let open = || Tree::open(folder.path(), "shop", clock.environment()).unwrap();
    let poll = |tree: &Tree| tree.poll(&Default::default(), &human()).unwrap();
    poll(&open());
    let before = events(folder.path());
    assert_eq!(before.last().unwrap()["payload"]["tasks"], json!([id.to_string()]));
    let polled = poll(&open());
    assert_eq!((polled.moves.len(), polled.alerts.len()), (0, 0));
    assert_eq!(events(folder.path()), before);
}
