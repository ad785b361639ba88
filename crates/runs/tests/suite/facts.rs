//! What Accord observed, for a person who decides.

use accord_contract::Code;
use accord_runs::operations::{PendingApproval, SendBack, Step};
use accord_runs_core::testing::consent;
use serde_json::{Value, json};

use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};
use crate::workers::{PLANS, accepted, planned_by};

#[test]
fn a_gate_is_shown_with_what_was_observed() {
    let repo = planned_by(
        &PLANS.replace("\"artifact\":", "\"artifacts_created\": [\"REPORT.pdf\"], \"artifact\":"),
        json!({}),
    );
    repo.configure(|config| {
        config["policies"] = json!([{"id": "again", "rule": "require_reproducible_verification",
            "action": "block"}]);
    });
    let base = repo.git(&["rev-parse", "HEAD"]);
    let runs = repo.started();
    accepted(runs.step(&Step::default()).unwrap());
    let facts = runs.facts().unwrap();
    assert_eq!(facts.files, PLANNING);
    assert_eq!(facts.missing, ["REPORT.pdf"], "declared, and not there");
    assert_eq!(facts.turns.len(), 1);
    let [check] = &facts.checks[..] else { panic!("{facts:?}") };
    assert_eq!((check.command.as_str(), check.exit_code, check.run_again), ("true", Some(0), true));
    assert!(facts.commits.is_empty());
    let diff = facts.diff_command.clone().unwrap();
    assert!(diff.ends_with(base.trim()), "{diff}");
    // The status has the same.
    let waiting = runs.status().unwrap().waiting.unwrap();
    assert_eq!(waiting.facts, Some(facts));
    // A commit since, and a request that was sent back.
    repo.commit_all("a person commits");
    runs.send_back(&SendBack { reason: "no dates".into(), role: None }, &consent()).unwrap();
    let facts = runs.facts().unwrap();
    assert!(facts.commits[0].ends_with("a person commits"), "{:?}", facts.commits);
    assert_eq!(facts.send_backs.len(), 1);
    assert_eq!(facts.send_backs[0].reason, "no dates");
}

#[test]
fn a_block_is_shown_with_what_active_turns_left() {
    let repo = Repo::with_git();
    let runs = repo.started();
    dispatched(&runs, "pm");
    plan(&repo);
    repo.write("left.txt", "x");
    repo.commit_all("left behind");
    runs.escalate("look").unwrap();
    let facts = runs.facts().unwrap();
    assert!(facts.files.contains(&"left.txt".to_owned()), "{facts:?}");
    assert!(facts.commits[0].ends_with("left behind"), "{facts:?}");
}

#[test]
fn a_file_that_was_deleted_is_not_missing() {
    let repo = Repo::with_git();
    repo.write("old.txt", "x");
    repo.commit_all("old");
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    std::fs::remove_file(repo.root().join("old.txt")).unwrap();
    let files = [PLANNING.as_slice(), &["old.txt"]].concat();
    let asks = |it: &mut Value| it["phase_transition_request"] = json!("implementation");
    stage(&repo, &turn, &result(&turn, &files, asks));
    accept(&runs, turn.turn.id()).unwrap();
    let facts = runs.facts().unwrap();
    assert!(facts.missing.is_empty(), "{facts:?}");
    assert!(!facts.checks[0].run_again, "the agent says so");
    runs.approve(PendingApproval::Transition, &consent()).unwrap();
    assert!(runs.facts().unwrap().turns.is_empty(), "another phase has begun");
}

#[test]
fn accepted_work_that_changed_since_is_named() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    let asks = |it: &mut Value| it["phase_transition_request"] = json!("implementation");
    stage(&repo, &turn, &result(&turn, &PLANNING, asks));
    accept(&runs, turn.turn.id()).unwrap();
    assert!(runs.status().unwrap().changed.is_empty());
    repo.write(PLANNING[0], "Approved: YES, and more\n");
    let id = turn.turn.id().to_string();
    let named = vec![(PLANNING[0].to_owned(), id)];
    assert_eq!(runs.status().unwrap().changed, named);
    let found = runs.doctor();
    assert!(found.iter().any(|finding| finding.subject == PLANNING[0]), "{found:?}");
    let made = runs.checkpoint(None).unwrap();
    assert_eq!(made.changed, [PLANNING[0]]);
    assert_eq!(made.files, PLANNING[1..]);
    // The rest is committed; what changed is named again, and not passed over.
    let failure = refused(runs.checkpoint(None), Code::XchainNothingToCheckpoint);
    assert!(failure.message.contains(PLANNING[0]), "{failure}");
}
