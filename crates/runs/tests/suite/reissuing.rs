//! Turns that are taken back and given to another role.

use std::process::Command;

use accord_contract::Code;
use accord_runs::operations::{Reissue, Reject};
use accord_runs_core::state::Status;
use serde_json::{Value, json};

use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};

fn to(role: &str) -> Reissue {
    Reissue { role: Some(role.to_owned()), reason: "she is ill".to_owned(), ..Reissue::default() }
}

#[test]
fn a_run_that_a_role_cannot_carry_on_goes_on_with_another() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    for reason in ["unclear", "still unclear"] {
        stage(&repo, &turn, &result(&turn, &[], |_| {}));
        runs.reject(&Reject { reason: reason.to_owned(), ..Reject::default() }).unwrap();
    }
    assert_eq!(runs.state().unwrap().status(), Status::Blocked);
    stage(&repo, &turn, &result(&turn, &[], |_| {}));
    let reissued = runs.reissue(&to("dev")).unwrap();
    let state = runs.state().unwrap();
    assert_eq!(state.status(), Status::Active);
    assert_eq!(state.only_turn(), Some(&reissued.assigned.turn));
    assert!(repo.has(&reissued.kept.unwrap()), "the result is kept");
    assert!(!repo.has(&turn.staging) && !repo.has(&turn.bundle));
    let index = repo.json(".agentxchain/dispatch/index.json");
    let new = reissued.assigned.turn.id().as_str();
    assert_eq!(index["active_turns"][new]["role"], "dev");
    assert_eq!(repo.json(".agentxchain/session.json")["checkpoint_reason"], "turn_assigned");

    // The run goes on, and the turn that was taken back is no part of what was done.
    let handed = runs.dispatch(None).unwrap();
    plan(&repo);
    stage(&repo, &handed, &result(&handed, &PLANNING, |_| {}));
    accept(&runs, handed.turn.id()).unwrap();
    let history = repo.lines(".agentxchain/history.jsonl");
    let statuses: Vec<&Value> = history.iter().map(|line| &line["status"]).collect();
    assert_eq!(statuses, ["reissued", "completed"]);
    assert_eq!(runs.status().unwrap().accepted_turns, 1);
    refused(accept(&runs, turn.turn.id()), Code::XchainTurnNotActive);
}

#[test]
fn what_a_turn_left_behind_is_removed_before_another_role_begins() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    repo.write("half.txt", "done");
    let before = repo.home();
    let failure = refused(runs.reissue(&to("dev")), Code::XchainBaselineDirty);
    assert!(failure.message.contains("half.txt"), "{}", failure.message);
    assert_eq!(repo.home(), before, "a refusal changes nothing");
    std::fs::remove_file(repo.root().join("half.txt")).unwrap();
    let again = runs.reissue(&Reissue { reason: "try anew".to_owned(), ..Reissue::default() });
    let again = again.unwrap().assigned.turn;
    assert_eq!(again.role(), "pm", "the same role, when none is named");
    assert_ne!(again.id(), turn.turn.id());
}

#[test]
fn a_hook_has_its_say_and_the_turn_stays_when_it_refuses() {
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    repo.hook(
        "before_assignment",
        "nobody",
        "blocking",
        5000,
        "echo '{\"verdict\": \"block\", \"message\": \"not now\"}'",
    );
    refused(runs.reissue(&to("dev")), Code::XchainHookBlocked);
    let state = runs.state().unwrap();
    assert_eq!(state.status(), Status::Blocked);
    assert_eq!(state.only_turn().unwrap().id(), turn.turn.id());
    assert!(repo.lines(".agentxchain/history.jsonl").is_empty());
    // The block is about the hook, not about the turn: a person resolves it first.
    refused(runs.reissue(&to("dev")), Code::XchainInvalidStateTransition);
}

#[test]
fn a_turn_whose_worker_works_is_not_taken_back() {
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    let mut worker = Command::new("sleep").arg("60").spawn().unwrap();
    let mut state = repo.json(".agentxchain/state.json");
    let active = &mut state["active_turns"][turn.turn.id().as_str()];
    active["worker_pid"] = json!(worker.id());
    active["worker_started_at"] = active["dispatched_at"].clone();
    repo.write(".agentxchain/state.json", &state.to_string());
    refused(runs.reissue(&to("dev")), Code::XchainWorkerBusy);
    worker.kill().unwrap();
    worker.wait().unwrap();
    runs.reissue(&to("dev")).unwrap();
}
