//! Gates, their commands, and blocks that people resolve.

use accord_contract::Code;
use accord_runs::Runs;
use accord_runs::operations::{PendingApproval, Start};
use accord_runs_core::state::{Block, Status};
use accord_runs_core::testing::consent;
use serde_json::{Value, json};

use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};

/// A run that waits at the gate behind planning.
pub(crate) fn waiting(repo: &Repo) -> Runs {
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(repo);
    stage(
        repo,
        &turn,
        &result(&turn, &PLANNING, |result| {
            result["phase_transition_request"] = json!("implementation");
        }),
    );
    accept(&runs, turn.turn.id()).unwrap();
    runs
}

fn with_actions(actions: Value) -> Repo {
    let repo = Repo::plain();
    repo.configure(|config| config["gates"]["planning_signoff"]["gate_actions"] = actions);
    repo
}

#[test]
fn the_commands_of_a_gate_run_before_it_is_passed() {
    let repo = with_actions(json!([
        {"run": "echo $AGENTXCHAIN_GATE_ID $AGENTXCHAIN_PHASE > seen", "timeout_ms": 5000},
        {"run": "echo and && echo more >> seen", "timeout_ms": 5000},
    ]));
    let runs = waiting(&repo);
    let plan = runs.plan_approval(PendingApproval::Transition).unwrap();
    assert_eq!(plan.actions.len(), 2);
    assert!(!repo.has("seen"), "looking does nothing");
    refused(
        runs.approve(PendingApproval::Completion, &consent()),
        Code::XchainInvalidStateTransition,
    );
    let moved = runs.approve(PendingApproval::Transition, &consent()).unwrap();
    assert_eq!(moved.state.phase(), "implementation");
    assert_eq!(repo.read("seen"), "planning_signoff planning\nmore\n");
    let ledger = repo.lines(".agentxchain/decision-ledger.jsonl");
    assert_eq!(ledger.iter().filter(|line| line["type"] == "gate_action").count(), 2);
}

#[test]
fn a_command_that_fails_keeps_the_gate_shut() {
    let repo = with_actions(json!([
        {"run": "echo why >&2; test -f allowed", "timeout_ms": 5000},
        {"run": "touch never", "timeout_ms": 5000},
    ]));
    let runs = waiting(&repo);
    refused(runs.approve(PendingApproval::Transition, &consent()), Code::XchainGateActionFailed);
    assert!(!repo.has("never"));
    let state = runs.state().unwrap();
    assert_eq!((state.status(), state.phase()), (Status::Blocked, "planning"));
    let line = repo.lines(".agentxchain/decision-ledger.jsonl").pop().unwrap();
    assert_eq!((&line["exit_code"], &line["output_excerpt"]), (&json!(1), &json!("why\n")));
    refused(runs.resolve(&consent()), Code::XchainInvalidStateTransition);
    repo.write("allowed", "");
    runs.approve(PendingApproval::Transition, &consent()).unwrap();
    assert!(repo.has("never"));
}

#[test]
fn a_command_that_never_ends_is_ended() {
    let repo = with_actions(json!([{"run": "sleep 60 & sleep 60", "timeout_ms": 1000}]));
    let runs = waiting(&repo);
    refused(runs.approve(PendingApproval::Transition, &consent()), Code::XchainGateActionFailed);
    let line = repo.lines(".agentxchain/decision-ledger.jsonl").pop().unwrap();
    assert_eq!((&line["timed_out"], &line["exit_code"]), (&json!(true), &Value::Null));
}

#[test]
fn a_hook_before_a_gate_can_keep_it_shut() {
    let repo = Repo::plain();
    repo.hook("before_gate", "no", "blocking", 5000, "exit 1");
    let runs = waiting(&repo);
    refused(runs.approve(PendingApproval::Transition, &consent()), Code::XchainHookBlocked);
    assert_eq!(runs.state().unwrap().phase(), "planning");
}

#[test]
fn a_person_stops_a_run_and_lets_it_go_on() {
    let repo = Repo::plain();
    let runs = repo.started();
    let moved = runs.escalate("Look at the budget!").unwrap();
    assert_eq!(moved.state.blocked_on(), Some("escalation:operator:look-at-the-budget"));
    refused(runs.assign(None), Code::XchainInvalidStateTransition);
    refused(runs.escalate("again"), Code::XchainInvalidStateTransition);
    assert_eq!(runs.resolve(&consent()).unwrap().state.status(), Status::Active);
    refused(runs.resolve(&consent()), Code::XchainInvalidStateTransition);
    let turn = runs.assign(None).unwrap().turn;
    let moved = runs.block(&Block::dispatch("no worker", turn.id())).unwrap();
    assert_eq!(moved.state.blocked_on(), Some("dispatch:no-worker"));
    let again = Start { restart: true, ..Start::default() };
    assert_ne!(runs.start(&again).unwrap().state.run_id(), moved.state.run_id());
}
