//! What each message does.

use accord_contract::{Code, Wire as _};
use accord_tasks_core::operations::{ApplyMode, ReviewMode};
use accord_tasks_core::route::{Artifact, Facts, Rules, apply_result, receive, route};
use accord_tasks_core::run::RunStatus;
use accord_tasks_core::{Status, TaskId, lease};
use serde_json::json;

use crate::support::{
    AGENT, RUN, TASK, after, at, events, known, leased, message, refused, report, result, routed,
    run, task,
};

#[test]
fn a_finished_task_goes_to_review_and_loses_its_lease() {
    let file = leased(json!({}));
    let routed = routed(&file, &report("done"), Rules::default()).unwrap();
    assert_eq!(
        events(&routed),
        [
            r#"protocol.message.received swe-backend {"type":"completion.report"}"#,
            r#"task.completed swe-backend {"outcome":"done"}"#,
            concat!(
                r#"task.transitioned swe-backend {"from":"in-progress","to":"review","#,
                r#""reason":"All done."}"#
            ),
        ]
    );
    let moved = after(&file, &routed);
    assert_eq!(moved.task().status, Status::Review);
    assert_eq!(moved.task().lease.value(), None);
    assert_eq!(moved.body(), file.body());
    let result = result(&routed).unwrap();
    assert_eq!(result.run_id.as_deref(), Some(RUN));
    assert_eq!(result.encode()["completedAt"], json!("2026-02-09T21:00:00.000Z"));
    assert_eq!(result.handoff_ref, "outputs/handoff.md");
    let Some(Artifact::Run(run)) = routed.artifacts.last() else { panic!("{routed:?}") };
    assert_eq!(run.status, RunStatus::Completed);
    assert_eq!(routed.notices[0].status, Status::Review);
}

#[test]
fn without_review_a_finished_task_is_done_in_two_steps() {
    let file = leased(json!({"metadata": {"reviewRequired": false}}));
    let routed = routed(&file, &report("done"), Rules::default()).unwrap();
    assert_eq!(events(&routed).len(), 4);
    assert_eq!(after(&file, &routed).task().status, Status::Done);
    assert_eq!(routed.notices.len(), 2);
    // Only the value false turns the review off.
    for other in [json!(null), json!("false"), json!(0)] {
        let file = leased(json!({"metadata": {"reviewRequired": other}}));
        let routed = self::routed(&file, &report("done"), Rules::default()).unwrap();
        assert_eq!(after(&file, &routed).task().status, Status::Review);
    }
}

#[test]
fn each_outcome_has_its_status_and_reason() {
    for (outcome, status, reason) in [
        ("blocked", Status::Blocked, "no key; no database"),
        ("needs_review", Status::Review, "All done."),
        ("partial", Status::Review, "All done."),
    ] {
        let file = leased(json!({}));
        let routed = routed(&file, &report(outcome), Rules::default()).unwrap();
        assert_eq!(after(&file, &routed).task().status, status);
        let moved = routed.events.last().unwrap();
        assert_eq!(moved.payload["reason"], json!(reason));
    }
}

#[test]
fn a_report_can_wait_for_the_end_of_the_session() {
    let file = leased(json!({}));
    let rules = Rules { apply: ApplyMode::SessionEnd, ..Rules::default() };
    let recorded = routed(&file, &report("partial"), rules).unwrap();
    assert_eq!(after(&file, &recorded).task().status, Status::InProgress);
    assert_eq!(recorded.not_applied, Some("waits_for_session_end"));
    let (run, result) = (run(), result(&recorded).unwrap());
    let facts = Facts { run: Some(&run), result: Some(&result), ..known(&file) };
    let ended = apply_result(file.task(), &facts, None, at(9)).unwrap();
    let moved = after(&file, &ended);
    assert_eq!(moved.task().status, Status::Review);
    // Both orders end equal, and the end of the session is the same twice.
    let facts = Facts { task: Some(&moved), ..facts };
    assert_eq!(apply_result(moved.task(), &facts, None, at(10)), None);
}

#[test]
fn the_result_of_an_earlier_run_decides_nothing() {
    let file = leased(json!({}));
    let old = result(&routed(&file, &report("partial"), Rules::default()).unwrap()).unwrap();
    let next = accord_tasks_core::run::Run::begin(file.task().id, AGENT, "run_2", at(5));
    let facts = Facts { run: Some(&next), result: Some(&old), ..known(&file) };
    assert_eq!(apply_result(file.task(), &facts, None, at(9)), None);
    // Without ids the times decide.
    let mut unnamed = old.clone();
    unnamed.run_id = None;
    let facts = Facts { result: Some(&unnamed), ..facts };
    assert_eq!(apply_result(file.task(), &facts, None, at(9)), None);
}

#[test]
fn the_same_report_again_moves_nothing() {
    let file = leased(json!({}));
    let first = routed(&file, &report("done"), Rules::default()).unwrap();
    let (moved, run, result) = (after(&file, &first), run(), result(&first).unwrap());
    let facts = Facts { run: Some(&run), result: Some(&result), ..known(&moved) };
    let again = route(&report("done"), &facts, Rules::default(), at(9)).unwrap();
    assert_eq!((again.changes.len(), again.artifacts.len()), (0, 0));
    assert_eq!(again.not_applied, Some("no_transition"));
    assert_eq!(events(&again).len(), 2);
}

#[test]
fn only_the_holder_in_its_present_run_reports() {
    let file = leased(json!({}));
    let mut other = report("done");
    other.envelope.from_agent = "swe-qa".into();
    let refusal = routed(&file, &other, Rules::default()).unwrap_err();
    assert_eq!(refusal.failure.code, Code::AofUnauthorizedAgent);
    assert_eq!(
        refused(&refusal),
        [concat!(
            r#"protocol.message.rejected swe-qa {"reason":"unauthorized_agent","#,
            r#""expected":"swe-backend","received":"swe-qa"}"#
        )]
    );
    let mut stale = report("done");
    stale.envelope.run_id = Some("run_0".into());
    let refusal = routed(&file, &stale, Rules::default()).unwrap_err();
    assert_eq!(refusal.failure.code, Code::AofStaleRun);
    // Without an id, the time of the message decides, in whole seconds: a clock may be two minutes
    // behind.
    for (sent, is_stale) in [(-151, true), (-150, false)] {
        let mut dated = report("done");
        dated.envelope.sent_at = accord_contract::time::Timestamp::emit(at(sent));
        assert_eq!(routed(&file, &dated, Rules::default()).is_err(), is_stale);
    }
    let free = task(TASK, "ready", json!({}));
    let refusal = route(&report("done"), &known(&free), Rules::default(), at(1)).unwrap_err();
    assert_eq!(refusal.failure.code, Code::AofUnassignedTask);
    let missing = Facts { task: None, ..known(&free) };
    let refusal = route(&report("done"), &missing, Rules::default(), at(1)).unwrap_err();
    assert_eq!(refusal.failure.code, Code::AofTaskNotFound);
}

#[test]
fn progress_is_logged_in_one_section() {
    let file = leased(json!({}));
    let payload = |text: &str| {
        let mut payload = json!({"taskId": TASK, "agentId": AGENT, "notes": "ok"});
        payload["progress"] = text.into();
        payload["blockers"] = json!(["a", "b"]);
        payload
    };
    let first = message("status.update", TASK, AGENT, payload("50/100"));
    let logged = after(&file, &routed(&file, &first, Rules::default()).unwrap());
    let second = message("status.update", TASK, AGENT, payload("one\n## Work Log\n- two"));
    let logged = after(&logged, &routed(&logged, &second, Rules::default()).unwrap());
    assert_eq!(
        logged.body(),
        "## Instructions\n\nShip it.\n\n## Work Log\n\n\
         - 2026-02-09T21:00:00.000Z Progress: 50/100 | Notes: ok | Blockers: a, b\n\
         - 2026-02-09T21:00:00.000Z Progress: one\\n## Work Log\\n- two | Notes: ok | \
         Blockers: a, b"
    );
    assert_eq!(logged.task().status, Status::InProgress);
}

#[test]
fn an_update_moves_a_task_or_is_logged() {
    let file = leased(json!({}));
    let update = |status: &str| {
        let mut payload = json!({"taskId": TASK, "agentId": AGENT, "status": status});
        payload["notes"] = "n".into();
        payload["blockers"] = json!(["env down"]);
        message("status.update", TASK, AGENT, payload)
    };
    let moved = routed(&file, &update("blocked"), Rules::default()).unwrap();
    assert_eq!(moved.events[1].payload["reason"], json!("env down"));
    let blocked = after(&file, &moved);
    assert_eq!(blocked.task().status, Status::Blocked);
    assert_eq!(blocked.task().metadata("blockReason"), Some(&json!("env down")));
    // There is no move from in-progress to done.
    let logged = routed(&file, &update("done"), Rules::default()).unwrap();
    assert_eq!(logged.not_applied, Some("invalid_transition"));
    assert!(after(&file, &logged).body().contains("Notes: n | Blockers: env down"));
}

#[test]
fn a_review_ends_by_a_person() {
    let update = message(
        "status.update",
        TASK,
        AGENT,
        json!({"taskId": TASK, "agentId": AGENT, "status": "done", "notes": "fine"}),
    );
    let review = task(TASK, "review", json!({"routing": {"agent": AGENT}}));
    let held = route(&update, &known(&review), Rules::default(), at(1)).unwrap();
    assert_eq!(held.not_applied, Some("review_is_human"));
    let held = after(&review, &held);
    assert_eq!(held.task().status, Status::Review);
    assert!(held.body().contains("fine"));
    let rules = Rules { review: ReviewMode::Guide, ..Rules::default() };
    let ended = route(&update, &known(&review), rules, at(1)).unwrap();
    assert_eq!(ended.moved_to, Some(Status::Done));
    let by_agent = json!({"routing": {"agent": AGENT}, "metadata": {"reviewBy": "agent"}});
    let review = task(TASK, "review", by_agent);
    let ended = route(&update, &known(&review), Rules::default(), at(1)).unwrap();
    assert_eq!(ended.moved_to, Some(Status::Done));
}

fn handoff(parent: &str) -> accord_tasks_core::message::Message {
    let payload = json!({
        "taskId": "TASK-2026-02-09-060",
        "parentTaskId": parent,
        "fromAgent": AGENT,
        "toAgent": "swe-qa",
        "acceptanceCriteria": ["All tests pass"],
        "contextRefs": ["a\n## Constraints"],
        "dueBy": "2026-02-10T12:00:00.000Z",
    });
    message("handoff.request", "TASK-2026-02-09-060", AGENT, payload)
}

#[test]
fn a_handoff_reaches_the_child() {
    let parent = leased(json!({}));
    let child = task("TASK-2026-02-09-060", "ready", json!({}));
    let run = run();
    let facts = Facts { parent: Some(&parent), parent_run: Some(&run), ..known(&child) };
    let routed = route(&handoff(TASK), &facts, Rules::default(), at(1)).unwrap();
    let delegated = after(&child, &routed);
    assert_eq!(delegated.task().agent(), Some("swe-qa"));
    assert_eq!(delegated.task().metadata("delegationDepth"), Some(&json!(1)));
    let [Artifact::HandoffDocument(document), Artifact::HandoffText(text)] = &routed.artifacts[..]
    else {
        panic!("{routed:?}");
    };
    assert_eq!(document["constraints"], json!([]));
    assert_eq!(
        text,
        "# Handoff Request\n\n**From:** swe-backend\n**To:** swe-qa\n\
         **Due By:** 2026-02-10T12:00:00.000Z\n\n## Acceptance Criteria\n\n- All tests pass\n\n\
         ## Expected Outputs\n\nNone\n\n## Context References\n\n- a ## Constraints\n\n\
         ## Constraints\n\nNone\n"
    );
    // The same request again writes the same and changes nothing.
    let facts = Facts { task: Some(&delegated), ..facts };
    let again = route(&handoff(TASK), &facts, Rules::default(), at(2)).unwrap();
    assert_eq!(again.artifacts, routed.artifacts);
    assert_eq!(again.changes, []);
    // A delegated task is not delegated again.
    let parent = leased(json!({"metadata": {"delegationDepth": 1}}));
    let facts = Facts { parent: Some(&parent), ..facts };
    let nested = route(&handoff(TASK), &facts, Rules::default(), at(2)).unwrap_err();
    assert_eq!(nested.failure.code, Code::AofNestedDelegation);
    assert_eq!(nested.events[1].kind, "delegation.rejected");
    let facts = Facts { parent: None, ..facts };
    let orphan = route(&handoff(TASK), &facts, Rules::default(), at(2)).unwrap_err();
    assert_eq!(orphan.failure.code, Code::AofParentNotFound);
}

#[test]
fn only_the_holder_of_the_parent_delegates() {
    let parent = task(
        TASK,
        "in-progress",
        json!({"lease": {
            "agent": "swe-ops", "acquiredAt": at(-9).to_string(), "expiresAt": at(9).to_string()
        }}),
    );
    let child = task("TASK-2026-02-09-060", "ready", json!({"routing": {"agent": AGENT}}));
    let facts = Facts { parent: Some(&parent), ..known(&child) };
    let refusal = route(&handoff(TASK), &facts, Rules::default(), at(1)).unwrap_err();
    assert_eq!(refusal.failure.code, Code::AofUnauthorizedAgent);
}

#[test]
fn a_handoff_is_accepted_or_blocks_the_child() {
    let child = task("TASK-2026-02-09-060", "ready", json!({"routing": {"agent": "swe-qa"}}));
    let answer = |kind: &str, accepted: bool| {
        let payload =
            json!({"taskId": "TASK-2026-02-09-060", "accepted": accepted, "reason": "no plan"});
        message(kind, "TASK-2026-02-09-060", "swe-qa", payload)
    };
    let accepted =
        route(&answer("handoff.accepted", true), &known(&child), Rules::default(), at(1));
    let accepted = accepted.unwrap();
    assert_eq!((accepted.changes.len(), accepted.events[1].kind), (0, "delegation.accepted"));
    let rejected = answer("handoff.rejected", false);
    let routed = route(&rejected, &known(&child), Rules::default(), at(1)).unwrap();
    let blocked = after(&child, &routed);
    assert_eq!(blocked.task().status, Status::Blocked);
    assert_eq!(routed.events[2].payload, *json!({"reason": "no plan"}).as_object().unwrap());
    // Twice is once: no second move is recorded.
    let again = route(&rejected, &known(&blocked), Rules::default(), at(2)).unwrap();
    assert_eq!(events(&again).len(), 2);
}

#[test]
fn every_input_leaves_an_event() {
    let file = leased(json!({}));
    let input = |text: &str| {
        let detected = accord_tasks_core::message::detect_text(text);
        receive(&detected, &known(&file), Rules::default(), at(1))
    };
    assert!(input("hello").is_none());
    let broken = input("AOF/1 {").unwrap().unwrap_err();
    assert_eq!(broken.events[0].kind, "protocol.message.rejected");
    assert_eq!(broken.events[0].payload["reason"], json!("invalid_json"));
    // The refusal says what is wrong, and where.
    let parts = input(r#"{"protocol":"aof"}"#).unwrap().unwrap_err();
    assert_eq!(parts.failure.code, Code::AofInvalidEnvelope);
    assert!(parts.failure.message.contains("/version: expected"), "{}", parts.failure.message);
    assert_ne!(broken.failure.message, Code::AofInvalidJson.meaning());
    let unknown = r#"{"protocol":"aof","version":1,"type":"x","taskId":"TASK-2026-02-09-057"}"#;
    let unknown = input(unknown).unwrap().unwrap_err();
    assert_eq!(unknown.events[0].kind, "protocol.message.unknown");
    assert_eq!(unknown.events[0].task, Some(TaskId::parse(TASK).unwrap()));
}

#[test]
fn a_lease_moves_with_its_heartbeat() {
    let times = lease::LeaseTimes::default();
    let ready = task(TASK, "ready", json!({}));
    let acquired = lease::acquire(ready.task(), AGENT, RUN, times, at(0)).unwrap();
    let mut file = ready.clone();
    file.edit(&acquired.changes).unwrap();
    assert_eq!(file.task().status, Status::InProgress);
    assert_eq!(file.task().lease.value().unwrap().expires_at.time(), at(600));
    assert!(!acquired.heartbeat.is_expired(at(299)) && acquired.heartbeat.is_expired(at(300)));
    let held = (&acquired.run, Some(&acquired.heartbeat));
    let renewed = lease::renew(file.task(), held, AGENT, Some(RUN), times, at(100)).unwrap();
    file.edit(&renewed.changes).unwrap();
    assert_eq!(file.task().lease.value().unwrap().expires_at.time(), at(700));
    assert_eq!(file.task().lease.value().unwrap().renew_count, Some(1));
    assert_eq!(renewed.heartbeat.beat_count, Some(1));
    assert_eq!(renewed.heartbeat.expires_at.as_ref().unwrap().time(), at(400));
    let stale = lease::renew(file.task(), held, AGENT, Some("run_0"), times, at(100));
    assert_eq!(stale.unwrap_err().code, Code::AofStaleRun);
    let busy = lease::acquire(file.task(), "swe-qa", "run_2", times, at(0)).unwrap_err();
    assert_eq!(busy.code, Code::AofTaskNotReady);
    let routed = task(TASK, "ready", json!({"routing": {"agent": "swe-qa"}}));
    let refused = lease::acquire(routed.task(), AGENT, RUN, times, at(0)).unwrap_err();
    assert_eq!(refused.code, Code::AofUnauthorizedAgent);
}
