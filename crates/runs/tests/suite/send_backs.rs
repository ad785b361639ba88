//! Requests for a gate that a person sends back.

use accord_contract::Code;
use accord_runs::coordinator::{NextAction, SendBackGate, StepOutcome};
use accord_runs::operations::{LoopOptions, LoopStop, NextStep, PendingApproval, SendBack};
use accord_runs_core::coordinator::CoordinatorStatus;
use accord_runs_core::state::Status;
use accord_runs_core::testing::consent;
use serde_json::{Value, json};

use crate::initiative::{HOME, Workspace, handed_out};
use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};

const REASON: &str = "The roadmap names no dates.";

fn given() -> SendBack {
    SendBack { reason: REASON.to_owned(), role: None }
}

/// A turn of the project manager that requests the next phase.
fn request(repo: &Repo) -> String {
    let runs = repo.runs();
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
    turn.prompt
}

#[test]
fn a_request_is_sent_back_made_again_and_approved() {
    let repo = Repo::plain();
    let runs = repo.started();
    let before = repo.home();
    refused(runs.send_back(&given(), &consent()), Code::XchainInvalidStateTransition);
    assert_eq!(repo.home(), before, "a refusal writes nothing");
    assert!(!request(&repo).contains(REASON));
    let stop = runs.run_loop(&LoopOptions::default()).unwrap().stop;
    assert_eq!(stop, LoopStop::GateHeld(PendingApproval::Transition));
    let before = repo.home();
    let nobody = SendBack { role: Some("nobody".to_owned()), ..given() };
    refused(runs.send_back(&nobody, &consent()), Code::XchainUnknownRole);
    assert_eq!(repo.home(), before);

    let moved = runs.send_back(&given(), &consent()).unwrap();
    assert_eq!((moved.state.status(), moved.state.phase()), (Status::Active, "planning"));
    assert_eq!(repo.json(".agentxchain/session.json")["pending_gate"], Value::Null);
    refused(
        runs.approve(PendingApproval::Transition, &consent()),
        Code::XchainInvalidStateTransition,
    );
    refused(runs.send_back(&given(), &consent()), Code::XchainInvalidStateTransition);
    let next = runs.status().unwrap().next;
    assert!(matches!(&next[0], NextStep::Assign { role, .. } if role == "pm"), "{next:?}");

    let prompt = request(&repo);
    assert!(prompt.contains("## Sent back by a person") && prompt.contains(REASON), "{prompt}");
    assert_eq!(
        runs.approve(PendingApproval::Transition, &consent()).unwrap().state.phase(),
        "implementation"
    );
    let state = repo.json(".agentxchain/state.json");
    assert_eq!(state["phase_gate_status"]["planning_signoff"], "passed");
    let events = repo.lines(".agentxchain/events.jsonl");
    let kinds: Vec<&str> = events.iter().map(|line| line["event_type"].as_str().unwrap()).collect();
    let gate: Vec<&&str> = kinds.iter().filter(|kind| kind.starts_with("gate_")).collect();
    assert_eq!(gate, [&"gate_pending", &"gate_failed", &"gate_pending", &"gate_approved"]);
    let ledger = repo.lines(".agentxchain/decision-ledger.jsonl");
    let sent: Vec<&Value> =
        ledger.iter().filter(|line| line["decision"] == "gate_sent_back").collect();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["sent_back"]["requested_by_role"], "pm");
}

#[test]
fn a_run_that_the_gate_blocked_is_sent_back() {
    let repo = Repo::plain();
    repo.configure(|config| {
        config["gates"]["planning_signoff"]["gate_actions"] =
            json!([{"run": "false", "timeout_ms": 5000}]);
    });
    let runs = repo.started();
    request(&repo);
    refused(runs.approve(PendingApproval::Transition, &consent()), Code::XchainGateActionFailed);
    let next = runs.status().unwrap().next;
    assert!(matches!(&next[1], NextStep::SendBack { .. }), "{next:?}");
    let dev = SendBack { role: Some("dev".to_owned()), ..given() };
    let state = runs.send_back(&dev, &consent()).unwrap().state;
    assert_eq!(state.status(), Status::Active);
    assert_eq!(runs.assign(None).unwrap().turn.role(), "dev");
}

fn into_qa(result: &mut Value) {
    result["phase_transition_request"] = json!("qa");
}

#[test]
fn the_gate_of_an_initiative_is_sent_back_to_repositories() {
    let workspace = Workspace::new();
    let coordinator = workspace.begun();
    let give = |repos: &[&str]| SendBackGate {
        reason: REASON.to_owned(),
        repos: repos.iter().map(|repo| (*repo).to_owned()).collect(),
    };
    let before = workspace.kept();
    refused(coordinator.send_back(&give(&[]), &consent()), Code::XchainInvalidStateTransition);
    assert_eq!(workspace.kept(), before);
    for expected in ["api", "web"] {
        let (repo, turn) = handed_out(coordinator.step(None));
        assert_eq!(repo, expected);
        workspace.carry_out(&repo, &turn, into_qa);
    }
    let StepOutcome::Gate { state } = coordinator.step(None).unwrap().outcome else {
        panic!("the phase is at its end");
    };
    assert_eq!(state.status(), CoordinatorStatus::Paused);
    let gate = state.pending_gate_id().unwrap().to_owned();
    let next = coordinator.status().unwrap().next;
    assert!(
        matches!(&next[..], [NextAction::ApproveGate { .. }, NextAction::SendBack { .. }]),
        "{next:?}"
    );
    let unknown =
        refused(coordinator.send_back(&give(&["shop"]), &consent()), Code::XchainUnknownRepository);
    assert_eq!(unknown.details.unwrap()["repo_ids"], json!(["api", "web"]));

    let sent = coordinator.send_back(&give(&[]), &consent()).unwrap();
    assert_eq!(sent.repos, ["api", "web"]);
    assert_eq!(
        (sent.state.status(), sent.state.phase()),
        (CoordinatorStatus::Active, state.phase())
    );
    let written = workspace.json(&format!("{HOME}/state.json"));
    assert_eq!(written["pending_gate"], Value::Null);
    assert_eq!(written["phase_gate_status"][&gate], "failed");
    let line = &workspace.said("gate_sent_back")[0];
    assert_eq!((&line["reason"], &line["repo_ids"]), (&json!(REASON), &json!(["api", "web"])));
    let decisions = workspace.lines(&format!("{HOME}/decision-ledger.jsonl"));
    let decision = decisions.last().unwrap();
    assert_eq!(
        (&decision["decision"], &decision["actor"]),
        (&json!("gate_sent_back"), &json!("human:reviewer"))
    );
    refused(coordinator.approve_gate(&consent()), Code::XchainInvalidStateTransition);

    // Each repository gets another turn with the reason, and the gate waits for both.
    for expected in ["api", "web"] {
        let (repo, turn) = handed_out(coordinator.step(None));
        assert_eq!(repo, expected);
        let context =
            workspace.read(&format!("{repo}/.agentxchain/dispatch/turns/{turn}/CONTEXT.md"));
        assert!(context.contains(&format!("> {REASON}")), "{context}");
        let document = workspace
            .json(&format!("{repo}/.agentxchain/dispatch/turns/{turn}/COORDINATOR_CONTEXT.json"));
        assert_eq!(document["sent_back"]["sent_back_by"], "human:reviewer");
        workspace.carry_out(&repo, &turn, |_| {});
    }
    let StepOutcome::Gate { state } = coordinator.step(None).unwrap().outcome else {
        panic!("both had their turn");
    };
    assert_eq!(state.status(), CoordinatorStatus::Paused);

    // Only the named repository gets a turn.
    coordinator.send_back(&give(&["web"]), &consent()).unwrap();
    let (repo, turn) = handed_out(coordinator.step(None));
    assert_eq!(repo, "web");
    workspace.carry_out(&repo, &turn, |_| {});
    let StepOutcome::Gate { .. } = coordinator.step(None).unwrap().outcome else {
        panic!("it had its turn");
    };
    coordinator.approve_gate(&consent()).unwrap();
}
