//! A person stages a result without writing JSON.

use accord_contract::codes::Code;
use accord_runs::operations::ManualResult;
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
