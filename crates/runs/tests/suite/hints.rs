//! The advice of refusals can be followed, and helps.

use accord_contract::Code;
use accord_runs::operations::{LoopOptions, LoopStop, NextStep, Reissue, Start, Step, StepResult};
use accord_runs::{Runs, TurnOutcome};
use accord_runs_core::state::Status;
use serde_json::json;

use crate::support::{Repo, dispatched, refused};
use crate::workers::{PLANS, planned_by};

fn next(runs: &Runs) -> NextStep {
    runs.status().unwrap().next.remove(0)
}

#[track_caller]
fn examined(step: NextStep) -> Code {
    match step {
        NextStep::Examine(failure) => failure.code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_whose_records_were_stashed_is_no_run_that_never_began() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let run = runs.state().unwrap().run_id().cloned();
    dispatched(&runs, "pm");
    repo.git(&["stash", "push", "--quiet"]);
    assert_eq!(runs.state().unwrap().status(), Status::Idle);
    assert_eq!(examined(next(&runs)), Code::XchainRecordsMissing);
    let reported = runs.doctor();
    let reported = reported.iter().filter_map(|finding| finding.code);
    assert!(reported.into_iter().any(|code| code == Code::XchainRecordsMissing));
    let before = repo.home();
    refused(runs.start(&Start::default()), Code::XchainRecordsMissing);
    refused(runs.step(&Step::default()), Code::XchainRecordsMissing);
    assert_eq!(repo.home(), before);
    repo.git(&["stash", "pop", "--quiet"]);
    assert_eq!(runs.state().unwrap().run_id().cloned(), run);
    assert!(matches!(next(&runs), NextStep::Work { .. }));
    // Who means it leaves the run behind.
    repo.git(&["stash", "push", "--quiet"]);
    runs.start(&Start { restart: true, ..Start::default() }).unwrap();
    assert_eq!(runs.state().unwrap().status(), Status::Active);
}

#[test]
fn no_turn_is_given_out_or_named_that_cannot_be_done_here() {
    let repo = Repo::with_git();
    repo.configure(|config| {
        config["runtimes"]["gone"] = json!({"type": "local_cli", "command": ["no-such-program"]});
        config["roles"]["dev"]["runtime"] = json!("gone");
        config["runtimes"]["cloud"] =
            json!({"type": "api_proxy", "provider": "ollama", "model": "m"});
        config["roles"]["qa"]["runtime"] = json!("cloud");
    });
    let runs = repo.started();
    for (role, code) in
        [("dev", Code::XchainRuntimeUnavailable), ("qa", Code::XchainRuntimeNotSupported)]
    {
        let before = repo.home();
        refused(runs.assign(Some(role)), code);
        assert_eq!(repo.home(), before);
    }
    let turn = dispatched(&runs, "pm");
    let before = repo.home();
    let reissue =
        Reissue { role: Some("dev".to_owned()), reason: "ill".to_owned(), ..Reissue::default() };
    refused(runs.reissue(&reissue), Code::XchainRuntimeUnavailable);
    assert_eq!(repo.home(), before);
    // A turn that is out, and whose program went away.
    repo.configure(|config| config["roles"]["pm"]["runtime"] = json!("gone"));
    let mut state = repo.json(".agentxchain/state.json");
    let id = turn.turn.id();
    state["active_turns"][id.as_str()]["runtime_id"] = json!("gone");
    repo.write(".agentxchain/state.json", &state.to_string());
    match next(&runs) {
        NextStep::Unable { turn, why } => {
            assert_eq!((&turn, why.code), (id, Code::XchainRuntimeUnavailable));
        }
        other => panic!("{other:?}"),
    }
    refused(runs.step(&Step::default()), Code::XchainRuntimeUnavailable);
    // The role that is due.
    let repo = planned_by("true", json!({"command": ["no-such-program"]}));
    let runs = repo.started();
    assert_eq!(examined(next(&runs)), Code::XchainRuntimeUnavailable);
    refused(runs.step(&Step::default()), Code::XchainRuntimeUnavailable);
}

#[test]
fn a_person_whose_turn_has_no_bundle_is_advised_to_dispatch_it() {
    let repo = Repo::plain();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    std::fs::remove_dir_all(repo.root().join(&turn.bundle)).unwrap();
    let id = turn.turn.id().clone();
    let dispatch = NextStep::Dispatch { turn: id, by_hand: true, stalled: None };
    assert_eq!(next(&runs), dispatch);
    runs.dispatch(None).unwrap();
    assert!(matches!(next(&runs), NextStep::Work { by_hand: true, .. }));
}

#[test]
fn a_journal_that_cannot_be_finished_is_named_by_status() {
    let repo = Repo::plain();
    let runs = repo.started();
    let journal = ".agentxchain/transactions/accept/txn_0123456789abcdef.json";
    repo.write(journal, "{\"half\": ");
    assert_eq!(examined(next(&runs)), Code::XchainRecordInvalid);
    assert!(runs.status().unwrap().journals.is_empty());
    refused(runs.step(&Step::default()), Code::XchainRecordInvalid);
}

#[test]
fn a_worker_that_goes_quiet_behind_its_result_has_one() {
    let repo = planned_by(&format!("{PLANS}\nsleep 60"), json!({}));
    repo.configure(|config| config["run_loop"] = json!({"stale_turn_threshold_ms": 3000}));
    let done = repo.started().step(&Step::default()).unwrap();
    assert!(matches!(done, StepResult::Turn(TurnOutcome::Accepted(_))), "{done:?}");
}

#[test]
fn a_turn_that_is_out_already_counts_among_those_of_a_loop() {
    let script = PLANS.replace(
        "\"phase_transition_request\": \"implementation\"",
        "\"needs_human_reason\": null",
    );
    let script =
        script.replace("\"proposed_next_role\": \"human\"", "\"proposed_next_role\": \"pm\"");
    let repo = planned_by(
        &format!("{script}\necho $AGENTXCHAIN_TURN_ID >> .planning/ROADMAP.md"),
        json!({}),
    );
    let runs = repo.started();
    runs.assign(None).unwrap();
    let options = LoopOptions { max_turns: Some(1), ..LoopOptions::default() };
    let looped = runs.run_loop(&options).unwrap();
    assert_eq!((looped.stop, looped.accepted), (LoopStop::MaxTurns, 1));
}

#[test]
fn a_run_that_is_blocked_before_its_first_acceptance_says_what_carried_it() {
    let repo = planned_by("exit 1", json!({}));
    repo.configure(|config| config["rules"]["max_turn_retries"] = json!(1));
    let runs = repo.started();
    let looped = runs.run_loop(&LoopOptions::default()).unwrap();
    assert_eq!(looped.stop, LoopStop::Blocked);
    let records = repo.lines(".agentxchain/run-history.jsonl");
    assert_eq!(records[0]["connector_used"], "agent");
}

#[test]
fn turns_beside_one_that_is_taken_back_name_the_one_in_its_place() {
    let repo = Repo::plain();
    repo.configure(|config| config["routing"]["planning"]["max_concurrent_turns"] = json!(2));
    let runs = repo.started();
    let first = dispatched(&runs, "pm").turn.id().clone();
    let second = dispatched(&runs, "dev").turn.id().clone();
    let reissued = runs.reissue(&Reissue {
        turn: Some(first),
        reason: "ill".to_owned(),
        ..Reissue::default()
    });
    let new = reissued.unwrap().assigned.turn.id().to_string();
    let state = runs.state().unwrap();
    let beside = state.turn(&second).unwrap().member("concurrent_with").cloned();
    assert_eq!(beside, Some(json!([new])));
}
