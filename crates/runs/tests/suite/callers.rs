//! Decisions of a person are refused where a worker started the caller.

use accord_base::worker::{Ancestor, Ancestry};
use accord_base::{Caller, CallerProcess};
use accord_contract::Code;
use accord_runs::coordinator::{Coordinator, SendBackGate};
use accord_runs::operations::{Accept, ApplyTo, PendingApproval, SendBack};
use accord_runs::{Environment, Runs};
use accord_runs_core::TurnId;
use accord_runs_core::testing::consent;

use crate::initiative::Workspace;
use crate::support::{Repo, refused};

/// An environment whose caller has this mark on its parent.
fn called_with(mark: &str, value: &str) -> Environment {
    let parent = Ancestor {
        pid: 4,
        marks: vec![(mark.to_owned(), value.to_owned())],
        ..Ancestor::default()
    };
    let own = Ancestor { pid: 5, ..Ancestor::default() };
    let process = Ancestry { processes: vec![own, parent], has_terminal: true, os_user: None };
    let caller = Caller::owner().examined_by(move || CallerProcess::Seen(vec![process.clone()]));
    Environment::system().with_caller(caller)
}

#[test]
fn each_decision_of_a_person_is_refused_in_a_worker() {
    let repo = Repo::with_git();
    repo.started();
    let before = repo.home();
    for (mark, value) in [
        ("AGENTXCHAIN_TURN_ID", "turn_1"),
        ("AGENTXCHAIN_HOOK_NAME", "check"),
        ("AGENTXCHAIN_GATE_TYPE", "phase_transition"),
        // The agent of a task does not decide about a run either.
        ("ACCORD_TASK_ID", "TASK-2026-02-09-001"),
    ] {
        let runs = Runs::open(&repo.root(), called_with(mark, value)).unwrap();
        refused(runs.approve(PendingApproval::Transition, &consent()), Code::NotForWorkers);
        refused(runs.approve(PendingApproval::Completion, &consent()), Code::NotForWorkers);
        refused(runs.resolve(&consent()), Code::NotForWorkers);
        refused(runs.send_back(&SendBack::default(), &consent()), Code::NotForWorkers);
        let turn = TurnId::parse("turn_1").unwrap();
        refused(runs.apply_proposal(&turn, &consent(), ApplyTo::WorkingTree), Code::NotForWorkers);
        refused(runs.drop_proposal(&turn, None, &consent()), Code::NotForWorkers);
        let merge = Accept { human_merge: Some(consent()), ..Accept::default() };
        refused(runs.accept(&merge), Code::NotForWorkers);
        // An acceptance that claims no person is judged by its own rules.
        refused(runs.accept(&Accept::default()), Code::XchainTurnNotActive);
    }
    assert_eq!(repo.home(), before);
}

#[test]
fn the_gate_of_an_initiative_is_not_approved_by_a_worker() {
    let workspace = Workspace::new();
    workspace.begun();
    let before = workspace.kept();
    let environment = called_with("AGENTXCHAIN_TURN_ID", "turn_1");
    let coordinator = Coordinator::open(&workspace.root(), environment).unwrap();
    refused(coordinator.approve_gate(&consent()), Code::NotForWorkers);
    refused(coordinator.send_back(&SendBackGate::default(), &consent()), Code::NotForWorkers);
    assert_eq!(workspace.kept(), before);
}
