//! Proposals of turns, and the decision of a person on them.

use std::os::unix::fs::PermissionsExt as _;

use accord_contract::Code;
use accord_runs::Runs;
use accord_runs::answers::{CommandNames, next_answer};
use accord_runs::operations::{ApplyTo, NextStep, ProposalFile, ProposalFilter};
use accord_runs_core::TurnId;
use accord_runs_core::proposal::FileState;
use accord_runs_core::testing::consent;
use serde_json::{Value, json};

use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};

/// A repository with files that a proposal changes.
fn repo() -> Repo {
    let repo = Repo::with_git();
    repo.write("old.txt", "old\n");
    repo.write("gone.txt", "gone\n");
    repo.write("run.sh", "#!/bin/sh\n");
    let script = repo.root().join("run.sh");
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    repo.commit_all("files");
    repo
}

fn changes() -> Value {
    json!([
        {"path": "src/new.txt", "action": "create", "content": "new\n"},
        {"path": "old.txt", "action": "modify", "content": "better\n"},
        {"path": "run.sh", "action": "modify", "content": "#!/bin/sh\necho better\n"},
        {"path": "gone.txt", "action": "delete"},
    ])
}

/// A turn that proposes these changes, accepted and committed.
fn proposed(repo: &Repo, changes: &Value) -> (Runs, TurnId) {
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(repo);
    repo.write(PLANNING[0], &format!("Approved: YES\n{}\n", turn.turn.id()));
    let declared = if repo.git(&["status", "--porcelain"]).contains("SYSTEM_SPEC") {
        &PLANNING[..]
    } else {
        &PLANNING[..1]
    };
    stage(
        repo,
        &turn,
        &result(&turn, declared, |result| {
            result["proposed_changes"] = changes.clone();
        }),
    );
    accept(&runs, turn.turn.id()).unwrap();
    repo.commit_all("turn");
    (runs, turn.turn.id().clone())
}

fn states(files: &[ProposalFile]) -> Vec<FileState> {
    files.iter().map(|file| file.state).collect()
}

#[test]
fn a_proposal_is_written_into_the_working_tree_once() {
    let repo = repo();
    let (runs, turn) = proposed(&repo, &changes());
    let folder = format!(".agentxchain/proposed/{turn}");
    // The form that the reference runner reads.
    let page = repo.read(&format!("{folder}/PROPOSAL.md"));
    assert!(page.contains("**Role:** pm\n") && page.contains("- `gone.txt` — delete\n"), "{page}");
    let snapshot = repo.json(&format!("{folder}/SOURCE_SNAPSHOT.json"));
    assert_eq!(
        (&snapshot["files"][0]["existed"], &snapshot["files"][0]["sha256"]),
        (&json!(false), &Value::Null)
    );
    // Made with another program: printf 'old\n' | sha256sum
    let old = "sha256:01d09d19c2139a46aebfb577780d123d7396e97201bc7ead210a2ebff8239dee";
    assert_eq!(snapshot["files"][1]["sha256"], old);
    let waiting = runs.proposals(ProposalFilter::Waiting).unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].proposal.turn, turn);
    let next = runs.status().unwrap().next;
    assert!(next.contains(&NextStep::DecideProposal { turn: turn.clone(), files: 4 }), "{next:?}");
    for (files, waits) in [(4, "4 proposed files wait; "), (1, "a proposed file waits; ")] {
        let step = NextStep::DecideProposal { turn: turn.clone(), files };
        let why = next_answer(&step, &CommandNames::default()).why;
        assert!(why.starts_with(waits), "{why}");
    }
    let (view, files) = runs.proposal(&turn).unwrap();
    assert_eq!((view.decided, view.proposal.role.as_deref()), (None, Some("pm")));
    assert_eq!(states(&files), [FileState::Ready; 4]);
    assert_eq!(files[1].content.as_deref(), Some("better\n"));

    let decided = runs.apply_proposal(&turn, &consent(), ApplyTo::WorkingTree).unwrap();
    assert_eq!(decided.files, ["src/new.txt", "old.txt", "run.sh", "gone.txt"]);
    assert_eq!(
        (repo.read("src/new.txt"), repo.read("old.txt")),
        ("new\n".into(), "better\n".into())
    );
    assert!(!repo.has("gone.txt"));
    let mode = repo.root().join("run.sh").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755, "an executable file stays one");
    let record = repo.json(&format!("{folder}/APPLIED.json"));
    assert_eq!(record["applied_by"], "human:reviewer");
    let line = repo.lines(".agentxchain/decision-ledger.jsonl").pop().unwrap();
    assert_eq!(
        (&line["decision"], &line["action"], &line["category"]),
        (&json!("proposal_applied"), &json!("applied"), &json!("proposal"))
    );
    assert_eq!(line["id"], format!("DEC-PROP-APPLY-{turn}"));
    let event = repo.lines(".agentxchain/events.jsonl").pop().unwrap();
    assert_eq!(event["event_type"], "human_escalation_resolved");
    assert_eq!(event["payload"]["resolved_via"], "proposal_applied");
    assert_eq!(event["turn"]["turn_id"], turn.as_str());

    assert!(runs.proposals(ProposalFilter::Waiting).unwrap().is_empty());
    assert_eq!(runs.proposals(ProposalFilter::All).unwrap()[0].decided, Some("applied"));
    refused(
        runs.apply_proposal(&turn, &consent(), ApplyTo::WorkingTree),
        Code::XchainProposalDecided,
    );
    refused(runs.drop_proposal(&turn, None, &consent()), Code::XchainProposalDecided);
    let next = runs.status().unwrap().next;
    assert!(matches!(&next[0], NextStep::Tidy { files } if files.len() == 4), "{next:?}");
}

#[test]
fn applied_files_can_be_committed_at_once() {
    let repo = repo();
    let (runs, turn) = proposed(&repo, &changes());
    let decided = runs.apply_proposal(&turn, &consent(), ApplyTo::Checkpoint).unwrap();
    let made = decided.checkpoint.unwrap();
    assert_eq!(made.commit, repo.git(&["rev-parse", "HEAD"]).trim());
    let shown = repo.git(&["show", "--format=%B", "--name-only", "HEAD"]);
    assert!(shown.contains(&format!("Turn: {turn}")) && shown.contains("gone.txt"), "{shown}");
    let next = runs.status().unwrap().next;
    assert!(matches!(&next[0], NextStep::Assign { .. }), "{next:?}");
}

#[test]
fn a_file_that_changed_since_is_not_overwritten() {
    let repo = repo();
    let (runs, turn) = proposed(&repo, &changes());
    repo.write("old.txt", "newer\n");
    repo.write("src/new.txt", "already there\n");
    // The same as proposed is no conflict.
    std::fs::remove_file(repo.root().join("gone.txt")).unwrap();
    let before = repo.home();
    let failure = refused(
        runs.apply_proposal(&turn, &consent(), ApplyTo::WorkingTree),
        Code::XchainProposalOutdated,
    );
    assert_eq!(failure.details.unwrap()["files"], json!(["src/new.txt", "old.txt"]));
    assert_eq!(repo.home(), before);
    assert_eq!(repo.read("old.txt"), "newer\n");
    let (_, files) = runs.proposal(&turn).unwrap();
    let expected = [FileState::Outdated, FileState::Outdated, FileState::Ready, FileState::Done];
    assert_eq!(states(&files), expected);
    repo.write("old.txt", "old\n");
    std::fs::remove_file(repo.root().join("src/new.txt")).unwrap();
    let decided = runs.apply_proposal(&turn, &consent(), ApplyTo::WorkingTree).unwrap();
    assert_eq!(decided.files, ["src/new.txt", "old.txt", "run.sh"]);
}

#[test]
fn only_what_was_accepted_is_applied() {
    let repo = repo();
    let (runs, turn) = proposed(&repo, &changes());
    let folder = format!(".agentxchain/proposed/{turn}");
    repo.write(&format!("{folder}/old.txt"), "worse\n");
    // The list in the folder says so too, but the history decides.
    repo.write(
        &format!("{folder}/SOURCE_SNAPSHOT.json"),
        &json!({"files": [{"path": ".git/config", "action": "create", "existed": false}]})
            .to_string(),
    );
    let failure = refused(
        runs.apply_proposal(&turn, &consent(), ApplyTo::WorkingTree),
        Code::XchainProposalChanged,
    );
    assert_eq!(failure.details.unwrap()["files"], json!(["old.txt"]));
    assert_eq!(repo.read("old.txt"), "old\n");
}

#[test]
fn a_proposal_of_another_runner_writes_nothing_that_is_guarded_or_outside() {
    let repo = repo();
    let runs = repo.started();
    let turn = TurnId::parse("turn_of_another").unwrap();
    let folder = format!(".agentxchain/proposed/{turn}");
    repo.write(".agentxchain/history.jsonl", "{\"turn_id\": \"turn_of_another\"}\n");
    for (path, code) in [
        (".agentxchain/state.json", Code::XchainReservedPathViolation),
        (".git/config", Code::XchainReservedPathViolation),
        ("part/.GIT/config", Code::XchainReservedPathViolation),
        ("agentxchain.json", Code::XchainReservedPathViolation),
        ("AGENTXCHAIN.json", Code::XchainReservedPathViolation),
        ("../outside", Code::XchainPathOutsideRepository),
        ("/outside", Code::XchainPathOutsideRepository),
    ] {
        let file = json!({"path": path, "action": "create", "existed": false, "sha256": null});
        repo.write(
            &format!("{folder}/SOURCE_SNAPSHOT.json"),
            &json!({"captured_at": "2026-01-01T00:00:00.000Z", "files": [file]}).to_string(),
        );
        if !path.starts_with(['.', '/']) {
            repo.write(&format!("{folder}/{path}"), "x");
        }
        refused(runs.apply_proposal(&turn, &consent(), ApplyTo::WorkingTree), code);
    }
    // The reference runner's list is enough for what it may change, and a link is not followed.
    repo.write(&format!("{folder}/free.txt"), "free\n");
    let file = json!({"path": "free.txt", "action": "create", "existed": false, "sha256": null});
    repo.write(&format!("{folder}/SOURCE_SNAPSHOT.json"), &json!({"files": [file]}).to_string());
    std::os::unix::fs::symlink("/etc/hostname", repo.root().join("free.txt")).unwrap();
    refused(runs.apply_proposal(&turn, &consent(), ApplyTo::WorkingTree), Code::XchainNotAFile);
    std::fs::remove_file(repo.root().join("free.txt")).unwrap();
    runs.apply_proposal(&turn, &consent(), ApplyTo::WorkingTree).unwrap();
    assert_eq!(repo.read("free.txt"), "free\n");
}

#[test]
fn a_dropped_proposal_leaves_the_list_and_keeps_its_files() {
    let repo = repo();
    let (runs, turn) = proposed(&repo, &changes());
    let none = TurnId::parse("turn_none").unwrap();
    refused(runs.drop_proposal(&none, None, &consent()), Code::XchainProposalNotFound);
    refused(runs.proposal(&none), Code::XchainProposalNotFound);
    // While a turn is active, its proposal can be dropped, but not applied.
    let active = runs.assign(Some("pm")).unwrap().turn;
    refused(
        runs.apply_proposal(&turn, &consent(), ApplyTo::WorkingTree),
        Code::XchainInvalidStateTransition,
    );
    runs.drop_proposal(&turn, Some("too much"), &consent()).unwrap();
    assert!(runs.state().unwrap().turn(active.id()).is_some());
    assert!(runs.proposals(ProposalFilter::Waiting).unwrap().is_empty());
    let folder = format!(".agentxchain/proposed/{turn}");
    let record = repo.json(&format!("{folder}/REJECTED.json"));
    assert_eq!(
        (&record["reason"], &record["rejected_by"]),
        (&json!("too much"), &json!("human:reviewer"))
    );
    assert_eq!(repo.read(&format!("{folder}/old.txt")), "better\n");
    let line = repo.lines(".agentxchain/decision-ledger.jsonl").pop().unwrap();
    assert_eq!(
        (&line["decision"], &line["reason"]),
        (&json!("proposal_rejected"), &json!("too much"))
    );
    assert_eq!(repo.read("old.txt"), "old\n");
}

#[test]
fn a_proposal_and_a_decision_that_the_records_do_not_have_do_not_count() {
    let repo = repo();
    let (runs, turn) = proposed(&repo, &changes());
    let page = format!(".agentxchain/proposed/{turn}/APPLIED.json");
    repo.write(&page, "{\"applied_by\": \"human:lead\"}");
    let file = json!({"path": "evil", "action": "create", "existed": false});
    let planted = ".agentxchain/proposed/turn_00aa";
    repo.write(
        &format!("{planted}/SOURCE_SNAPSHOT.json"),
        &json!({"role": "qa", "files": [file]}).to_string(),
    );
    repo.write(&format!("{planted}/evil"), "x");
    let waiting = runs.proposals(ProposalFilter::Waiting).unwrap();
    assert_eq!(waiting.iter().map(|it| &it.proposal.turn).collect::<Vec<_>>(), [&turn]);
    let named: Vec<String> = runs.doctor().into_iter().map(|finding| finding.subject).collect();
    for forged in [page.as_str(), planted] {
        assert!(named.iter().any(|subject| subject == forged), "{named:?}");
    }
    let planted = TurnId::parse("turn_00aa").unwrap();
    let applied = runs.apply_proposal(&planted, &consent(), ApplyTo::WorkingTree);
    refused(applied, Code::XchainProposalNotFound);
    runs.apply_proposal(&turn, &consent(), ApplyTo::WorkingTree).unwrap();
    assert!(runs.proposals(ProposalFilter::Waiting).unwrap().is_empty());
}
