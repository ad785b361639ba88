//! A person stages a result without writing JSON.

use accord_contract::Code;
use accord_runs::operations::{ManualResult, NextStep};
use serde_json::json;

use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused};

fn manual(summary: &str) -> ManualResult {
    ManualResult { summary: summary.to_owned(), ..ManualResult::default() }
}

#[test]
fn what_git_saw_and_what_was_said_becomes_a_result() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    let staged = runs
        .stage_manual_result(&ManualResult {
            decisions: vec!["small".into(), "soon".into()],
            verified: vec!["make test".into()],
            next_phase: true,
            ..manual("planned")
        })
        .unwrap();
    assert_eq!(staged.problem, None);
    assert_eq!(staged.result["files_changed"], json!(PLANNING));
    assert_eq!(staged.result["artifact"]["type"], "workspace");
    assert_eq!(staged.result["decisions"][1]["id"], "DEC-002");
    assert_eq!(staged.result["phase_transition_request"], "implementation");
    let accepted = accept(&runs, turn.turn.id()).unwrap().accepted;
    assert!(accepted.state.pending_transition().is_some());
}

#[test]
fn members_are_taken_as_they_are_and_what_would_be_refused_is_said() {
    let repo = Repo::with_git();
    let runs = repo.started();
    dispatched(&runs, "pm");
    plan(&repo);
    let members = json!({"decisions": [{"id": "DEC-101", "category": "scope", "statement": "s",
        "rationale": "r", "durability": "repo"}], "cost": {"usd": 0.5}});
    let staged = runs
        .stage_manual_result(&ManualResult {
            members: members.as_object().cloned().unwrap(),
            ..manual("planned")
        })
        .unwrap();
    assert_eq!(staged.problem, None);
    assert_eq!(staged.result["decisions"][0]["id"], "DEC-101");
    let staged = runs
        .stage_manual_result(&ManualResult {
            files: vec!["../outside".into()],
            ..manual("planned")
        })
        .unwrap();
    let problem = staged.problem.expect("it would be refused");
    assert_eq!(problem.code, Code::XchainValidationFailed, "{problem:?}");
    refused(accept(&runs, staged.turn.id()), Code::XchainValidationFailed);
}

/// Two turns at a time in the first phase.
fn parallel() -> Repo {
    let repo = Repo::with_git();
    repo.configure(|config| config["routing"]["planning"]["max_concurrent_turns"] = json!(2));
    repo
}

fn of(turn: &accord_runs_core::TurnId, files: &[&str]) -> ManualResult {
    ManualResult {
        turn: Some(turn.clone()),
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        ..manual("done")
    }
}

#[test]
fn parallel_turns_name_their_files_and_the_last_one_leaves_out_accepted_ones() {
    for checkpointed in [false, true] {
        let repo = parallel();
        let runs = repo.started();
        let first = dispatched(&runs, "pm").turn.id().clone();
        let second = dispatched(&runs, "dev").turn.id().clone();
        for step in runs.status().unwrap().next {
            assert!(matches!(step, NextStep::Work { names_files: true, .. }), "{step:?}");
        }
        let staged = runs.stage_manual_result(&of(&first, &[])).unwrap();
        assert_eq!(staged.result["files_changed"], json!([]), "nothing has changed yet");
        repo.write("one.txt", "1");
        repo.write("two.txt", "2");
        let failure =
            refused(runs.stage_manual_result(&of(&first, &[])), Code::XchainFilesRequired);
        assert!(failure.message.contains("one.txt, two.txt"), "{failure}");
        let nothing = ManualResult { no_files: true, ..of(&first, &[]) };
        let staged = runs.stage_manual_result(&nothing).unwrap();
        assert_eq!(staged.result["files_changed"], json!([]));
        runs.stage_manual_result(&of(&first, &["one.txt"])).unwrap();
        accept(&runs, &first).unwrap();
        if checkpointed {
            repo.git(&["add", "one.txt"]);
            repo.git(&["commit", "-qm", "one", "--", "one.txt"]);
        }
        let staged = runs.stage_manual_result(&of(&second, &[])).unwrap();
        assert_eq!(staged.result["files_changed"], json!(["two.txt"]));
        let next = runs.status().unwrap().next;
        assert!(matches!(&next[0], NextStep::Accept { .. }), "{next:?}");
        accept(&runs, &second).unwrap();
    }
}

#[test]
fn a_file_that_changed_again_after_its_acceptance_is_not_left_out() {
    let repo = parallel();
    let runs = repo.started();
    let first = dispatched(&runs, "pm").turn.id().clone();
    let second = dispatched(&runs, "dev").turn.id().clone();
    repo.write("one.txt", "1");
    runs.stage_manual_result(&of(&first, &["one.txt"])).unwrap();
    accept(&runs, &first).unwrap();
    repo.write("one.txt", "changed by the second turn");
    let staged = runs.stage_manual_result(&of(&second, &[])).unwrap();
    assert_eq!(staged.result["files_changed"], json!(["one.txt"]));
    refused(accept(&runs, &second), Code::XchainConflict);
}
