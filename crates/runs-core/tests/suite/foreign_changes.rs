//! Which changes of the records are taken over while a worker runs.

use accord_base::decision::DecisionRecord;
use accord_contract::{Object, Wire as _};
use accord_runs_core::TurnId;
use accord_runs_core::guard::{ForeignChange, check_foreign_change};
use accord_runs_core::state::State;
use serde_json::{Value, json};

const OWN: &str = "turn_0000000000000001";
const OTHER: &str = "turn_0000000000000002";
const RUN: &str = "run_0000000000000001";

fn turn(id: &str, sequence: u64) -> Value {
    json!({"turn_id": id, "assigned_role": "dev", "status": "running", "attempt": 1,
        "assigned_sequence": sequence, "run_id": RUN})
}

fn before() -> Value {
    json!({"schema_version": "1.1", "run_id": RUN, "project_id": "p", "status": "active",
        "phase": "planning", "turn_sequence": 2,
        "active_turns": {OWN: turn(OWN, 1), OTHER: turn(OTHER, 2)},
        "phase_gate_status": {"signoff": "pending"}, "last_completed_turn_id": null,
        "pending_phase_transition": null, "queued_phase_transition": null,
        "budget_status": {"spent_usd": 2.0}, "budget_reservations": {}})
}

/// The state after another turn was accepted.
fn accepted() -> Value {
    let mut state = before();
    state["active_turns"].as_object_mut().unwrap().remove(OTHER);
    state["turn_sequence"] = json!(3);
    state["accepted_sequence"] = json!(3);
    state["last_completed_turn_id"] = json!(OTHER);
    state["budget_status"]["spent_usd"] = json!(3.5);
    state
}

fn history() -> Vec<Value> {
    vec![json!({"turn_id": OTHER, "run_id": RUN, "accepted_sequence": 3, "status": "completed"})]
}

fn event(kind: &str, turn: Option<&str>) -> Value {
    json!({"event_id": "evt_1", "event_type": kind, "run_id": RUN,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "turn": turn.map(|turn| json!({"turn_id": turn, "role_id": "dev"})), "payload": {}})
}

fn events() -> Vec<Value> {
    vec![event("turn_accepted", Some(OTHER))]
}

fn objects(lines: Vec<Value>) -> Vec<Object> {
    lines.into_iter().map(|line| line.as_object().unwrap().clone()).collect()
}

fn check(
    after: Value,
    history: Vec<Value>,
    ledger: Vec<Value>,
    events: Vec<Value>,
) -> Result<(), Vec<String>> {
    check_noted(after, history, ledger, events, &[])
}

fn check_noted(
    after: Value,
    history: Vec<Value>,
    ledger: Vec<Value>,
    events: Vec<Value>,
    noted: &[DecisionRecord],
) -> Result<(), Vec<String>> {
    let (before, after) = (State::read(before()).unwrap(), State::read(after).unwrap());
    check_foreign_change(&ForeignChange {
        before: &before,
        after: &after,
        history: &objects(history),
        ledger: &objects(ledger),
        events: &objects(events),
        guarded: &[TurnId::parse(OWN).unwrap()].into(),
        noted,
    })
}

#[test]
fn work_on_another_turn_is_taken_over() {
    let decision = json!({"id": "DEC-001", "turn_id": OTHER, "run_id": RUN, "statement": "x"});
    assert_eq!(check(accepted(), history(), vec![decision], events()), Ok(()));
    // An assignment, which has no event.
    let mut assigned = before();
    assigned["active_turns"]["turn_0000000000000003"] = turn("turn_0000000000000003", 3);
    assigned["turn_sequence"] = json!(3);
    assert_eq!(check(assigned, vec![], vec![], vec![]), Ok(()));
    // A rejection of the other turn.
    let mut rejected = before();
    rejected["active_turns"][OTHER]["attempt"] = json!(2);
    let events = vec![event("turn_rejected", Some(OTHER))];
    assert_eq!(check(rejected, vec![], vec![], events), Ok(()));
}

#[test]
fn a_stop_is_taken_over_and_a_release_is_not() {
    let mut blocked = before();
    blocked["status"] = json!("blocked");
    blocked["blocked_on"] = json!("human:look");
    let raised = || vec![event("escalation_raised", None)];
    assert_eq!(check(blocked.clone(), vec![], vec![], raised()), Ok(()));
    // Without an event, and an event without a stop.
    check(blocked, vec![], vec![], vec![]).unwrap_err();
    check(before(), vec![], vec![], raised()).unwrap_err();
}

#[test]
fn a_stop_brings_no_decision_of_a_person() {
    let mut blocked = before();
    blocked["status"] = json!("blocked");
    blocked["blocked_on"] = json!("escalation:operator:look");
    blocked["escalation"] = json!({"source": "operator", "reason": "look"});
    let raised = || vec![event("escalation_raised", None), event("run_blocked", None)];
    let line = || {
        json!({"timestamp": "2026-01-01T00:00:00.000Z", "decision": "operator_escalated",
            "run_id": RUN, "phase": "planning", "reason": "look",
            "blocked_on": "escalation:operator:look"})
    };
    assert_eq!(check(blocked.clone(), vec![], vec![line()], raised()), Ok(()));
    let changes: [fn(&mut Value); 7] = [
        |line| line["actor"] = json!("human:lead"),
        |line| line["role"] = json!("human"),
        |line| line["statement"] = json!("widen the scope"),
        |line| line["id"] = json!("DEC-001"),
        |line| line["reason"] = json!("another"),
        |line| line["decision"] = json!("scope_widened"),
        |line| line["type"] = json!("timeout"),
    ];
    for change in changes {
        let mut forged = line();
        change(&mut forged);
        check(blocked.clone(), vec![], vec![forged], raised()).unwrap_err();
    }
    // A line of a turn names no person either.
    for name in ["actor", "os_user", "note", "door", "presence", "evidence_digest"] {
        let line = json!({"id": "DEC-001", "turn_id": OTHER, "run_id": RUN, name: "human:lead"});
        check(accepted(), history(), vec![line], events()).unwrap_err();
    }
}

#[test]
fn a_stop_names_the_person_whose_decision_is_noted() {
    let mut blocked = before();
    blocked["status"] = json!("blocked");
    blocked["blocked_on"] = json!("escalation:operator:look");
    let raised = json!({"source": "operator", "reason": "look", "accord_ends_workers": true});
    blocked["escalation"] = raised;
    let raised = || vec![event("escalation_raised", None), event("run_blocked", None)];
    let id = "dec_00000000000000000000000000000001";
    let line = || {
        json!({"timestamp": "2026-01-01T00:00:00.000Z", "decision": "operator_escalated",
            "run_id": RUN, "phase": "planning", "reason": "look",
            "blocked_on": "escalation:operator:look", "actor": "human:lead", "door": "http",
            "note": "look", "evidence_digest": "0a", "decision_id": id, "known_by": "key",
            "hub": "inc_1", "decided_at": "2026-01-01T00:00:00.000Z"})
    };
    let noted = |kind: &str| {
        let record = json!({"decision_id": id, "protocol": "runs", "kind": kind, "subject": RUN,
            "outcome": "stopped", "actor": "human:lead", "known_by": "key", "door": "http",
            "evidence": "0a", "note": "look", "decided_at": "2026-01-01T00:00:00.000Z"});
        vec![DecisionRecord::from_document(record).unwrap()]
    };
    let check = |line: Value, noted: &[DecisionRecord]| {
        check_noted(blocked.clone(), vec![], vec![line], raised(), noted)
    };
    assert_eq!(check(line(), &noted("run.stop")), Ok(()));
    check(line(), &[]).unwrap_err();
    check(line(), &noted("run.gate")).unwrap_err();
    let changes: [fn(&mut Value); 6] = [
        |line| line["actor"] = json!("human:other"),
        |line| line["note"] = json!("and widen the scope"),
        |line| line["decision_id"] = json!("dec_00000000000000000000000000000002"),
        |line| line["statement"] = json!("widen the scope"),
        |line| line["decision"] = json!("escalation_resolved"),
        |line| line["reason"] = json!("another"),
    ];
    for change in changes {
        let mut forged = line();
        change(&mut forged);
        check(forged, &noted("run.stop")).unwrap_err();
    }
}

#[test]
fn delegated_work_comes_from_turns() {
    let item = |parent: &str, child: Value, status: &str| {
        json!({"delegation_id": "del-1", "parent_turn_id": parent, "parent_role": "pm",
            "to_role": "dev", "charter": "do it", "status": status, "child_turn_id": child})
    };
    // Out of nothing, and from a turn that ended.
    let mut forged = before();
    forged["delegation_queue"] = json!([item(OTHER, Value::Null, "pending")]);
    check(forged, vec![], vec![], vec![]).unwrap_err();
    for (parent, taken) in [(OTHER, true), (OWN, false)] {
        let mut after = accepted();
        after["delegation_queue"] = json!([item(parent, Value::Null, "pending")]);
        assert_eq!(check(after, history(), vec![], events()).is_ok(), taken, "{parent}");
    }
    let mut review = before();
    review["pending_delegation_review"] = json!({"parent_turn_id": OTHER, "parent_role": "dev"});
    check(review, vec![], vec![], vec![]).unwrap_err();
    // A new turn takes it, without another change.
    let mut waits = before();
    waits["delegation_queue"] = json!([item(OTHER, Value::Null, "pending")]);
    let new = "turn_0000000000000003";
    let mut taken = waits.clone();
    taken["active_turns"][new] = turn(new, 3);
    taken["turn_sequence"] = json!(3);
    taken["delegation_queue"] = json!([item(OTHER, json!(new), "active")]);
    let compare = |after: &Value| {
        let (before, after) =
            (State::read(waits.clone()).unwrap(), State::read(after.clone()).unwrap());
        check_foreign_change(&ForeignChange {
            before: &before,
            after: &after,
            history: &[],
            ledger: &[],
            events: &[],
            guarded: &[TurnId::parse(OWN).unwrap()].into(),
            noted: &[],
        })
    };
    assert_eq!(compare(&taken), Ok(()));
    let changes: [fn(&mut Value); 3] = [
        |state| state["delegation_queue"][0]["charter"] = json!("do another thing"),
        |state| state["delegation_queue"][0]["child_turn_id"] = json!(OWN),
        |state| state["delegation_queue"] = json!([]),
    ];
    for change in changes {
        let mut after = taken.clone();
        change(&mut after);
        compare(&after).unwrap_err();
    }
}

#[test]
fn what_is_a_persons_decision_is_not_taken_over() {
    let changes: [fn(&mut Value); 10] = [
        |state| state["phase"] = json!("implementation"),
        |state| state["phase_gate_status"]["signoff"] = json!("passed"),
        |state| state["pending_phase_transition"] = json!({"from": "planning", "to": "qa"}),
        |state| state["queued_phase_transition"] = json!({"from": "planning", "to": "qa"}),
        |state| state["pending_run_completion"] = json!({"gate": "signoff"}),
        |state| state["status"] = json!("completed"),
        |state| state["run_id"] = json!("run_0000000000000002"),
        |state| state["active_turns"][OWN]["attempt"] = json!(2),
        |state| state["budget_status"]["spent_usd"] = json!(0.0),
        |state| state["x-unknown"] = json!(1),
    ];
    for change in changes {
        let mut after = accepted();
        change(&mut after);
        check(after, history(), vec![], events()).unwrap_err();
    }
}

#[test]
fn what_only_the_end_of_a_turn_changes_needs_a_turn_that_ended() {
    let changes: [fn(&mut Value); 5] = [
        |state| state["budget_status"]["remaining_usd"] = json!(1000.0),
        |state| state["next_recommended_role"] = json!("dev"),
        |state| state["non_progress_signature"] = json!("another"),
        |state| state["non_progress_count"] = json!(0),
        |state| state["repo_decisions"] = json!([{"id": "DEC-001"}]),
    ];
    for change in changes {
        let mut after = before();
        change(&mut after);
        let reasons = check(after, vec![], vec![], vec![]).unwrap_err();
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        let mut after = accepted();
        change(&mut after);
        assert_eq!(check(after, history(), vec![], events()), Ok(()));
    }
}

#[test]
fn records_that_do_not_agree_are_not_taken_over() {
    // Each of the three is missing once.
    check(before(), history(), vec![], events()).unwrap_err();
    check(accepted(), vec![], vec![], events()).unwrap_err();
    check(accepted(), history(), vec![], vec![]).unwrap_err();
    // The guarded turn is in one of them.
    let mut own = history();
    own[0]["turn_id"] = json!(OWN);
    check(accepted(), own, vec![], events()).unwrap_err();
    let own = vec![event("turn_accepted", Some(OTHER)), event("turn_dispatched", Some(OWN))];
    check(accepted(), history(), vec![], own).unwrap_err();
    let own = json!({"id": "DEC-001", "turn_id": OWN, "run_id": RUN});
    check(accepted(), history(), vec![own], events()).unwrap_err();
    // A gate, in the events or in the ledger.
    let gate = [events(), vec![event("gate_approved", None)]].concat();
    check(accepted(), history(), vec![], gate).unwrap_err();
    let gate = json!({"decision": "phase_transition_approved", "run_id": RUN});
    check(accepted(), history(), vec![gate], events()).unwrap_err();
    // A decision that no turn took.
    for turn in [Value::Null, json!("turn_0000000000000007")] {
        let line = json!({"id": "DEC-001", "turn_id": turn, "run_id": RUN, "statement": "yes"});
        check(accepted(), history(), vec![line], events()).unwrap_err();
    }
    // Another run.
    let mut other = history();
    other[0]["run_id"] = json!("run_0000000000000009");
    check(accepted(), other, vec![], events()).unwrap_err();
}
