//! What git sees of a turn, and what it is not asked.

use accord_contract::codes::Code;
use accord_runs::git::Git;

use crate::support::{Repo, accept, dispatched, plan, refused, result, stage};

#[test]
fn changes_that_a_result_does_not_declare_are_refused() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    repo.write("notes.txt", "left behind");
    stage(
        &repo,
        &turn,
        &result(&turn, &crate::support::PLANNING, |result| {
            result["verification"] = serde_json::json!({"status": "skipped"});
        }),
    );
    let failure = accept(&runs, turn.turn.id()).unwrap_err();
    assert_eq!(
        failure.details.unwrap()["files"],
        serde_json::json!(["notes.txt"])
    );
    assert_eq!(failure.code, Code::XchainArtifactDirtyTreeMismatch);
    std::fs::remove_file(repo.root().join("notes.txt")).unwrap();
    accept(&runs, turn.turn.id()).unwrap();
}

#[test]
fn work_that_was_committed_during_the_turn_counts_as_its_work() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    repo.write("extra.txt", "e");
    repo.commit_all("an agent commits by itself");
    let partly = result(&turn, &crate::support::PLANNING, |_| {});
    stage(&repo, &turn, &partly);
    let failure = refused(accept(&runs, turn.turn.id()), Code::XchainArtifactMismatch);
    assert!(failure.message.contains("extra.txt"), "{failure}");
    let all = [&crate::support::PLANNING[..], &["extra.txt"]].concat();
    stage(&repo, &turn, &result(&turn, &all, |_| {}));
    let accepted = accept(&runs, turn.turn.id()).unwrap().accepted;
    let head = repo.git(&["rev-parse", "HEAD"]);
    let seen = &accepted.history_entry["observed_artifact"];
    assert_eq!(seen["accepted_ref"], format!("git:{}", head.trim()));
    assert_eq!(seen["files_changed"].as_array().unwrap().len(), 4);
}

#[test]
fn what_was_dirty_before_a_review_is_not_held_against_it() {
    let repo = Repo::with_git();
    let runs = repo.started();
    repo.write("mine.txt", "unfinished");
    let failure = refused(runs.assign(Some("pm")), Code::XchainBaselineDirty);
    assert_eq!(
        failure.details.unwrap()["files"],
        serde_json::json!(["mine.txt"])
    );
    let turn = dispatched(&runs, "qa");
    let review = |result: &mut serde_json::Value| {
        result["objections"] = serde_json::json!([{"id": "OBJ-001", "severity": "low",
            "statement": "hm", "status": "raised"}]);
    };
    stage(&repo, &turn, &result(&turn, &[], review));
    repo.write("mine.txt", "changed under review");
    let failure = accept(&runs, turn.turn.id()).unwrap_err();
    assert!(failure.message.contains("mine.txt"), "{failure}");
    repo.write("mine.txt", "unfinished");
    accept(&runs, turn.turn.id()).unwrap();
}

#[test]
fn looking_leaves_git_alone_and_runs_nothing_of_its_configuration() {
    let repo = Repo::with_git();
    let trap = repo.root().join(".git/trap");
    let line = format!(
        "#!/bin/sh\ntouch {}/ran\nexit 0\n",
        repo.root().join(".git").display()
    );
    std::fs::write(&trap, line).unwrap();
    executable(&trap);
    let trap = trap.to_str().unwrap();
    for name in ["core.fsmonitor", "diff.external", "core.pager"] {
        repo.git(&["config", name, trap]);
    }
    let hooks = repo.root().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hooks.parent().unwrap()).unwrap();
    std::fs::copy(trap, &hooks).unwrap();
    executable(&hooks);
    repo.write("new.txt", "n");
    // A file whose time changed and whose content did not makes git want to write its index.
    repo.write("TALK.md", &repo.read("TALK.md"));
    let index = std::fs::read(repo.root().join(".git/index")).unwrap();
    let git = Git::find(&repo.root()).unwrap().unwrap();
    let changes = git.changes().unwrap();
    assert_eq!(changes.dirty.keys().collect::<Vec<_>>(), ["new.txt"]);
    assert_eq!(
        std::fs::read(repo.root().join(".git/index")).unwrap(),
        index
    );
    git.commit(&["new.txt".to_owned()], "new").unwrap();
    assert!(!repo.has(".git/ran"));
}

#[test]
fn a_commit_takes_what_it_is_told_and_no_more() {
    let repo = Repo::with_git();
    repo.write("a b.txt", "1");
    repo.write("*.txt", "2");
    repo.write("staged.txt", "3");
    repo.git(&["add", "staged.txt"]);
    std::fs::remove_file(repo.root().join("TALK.md")).unwrap();
    let git = Git::find(&repo.root()).unwrap().unwrap();
    let commit = git
        .commit(&["*.txt".into(), "TALK.md".into()], "two")
        .unwrap();
    let named = repo.git(&["show", "--name-status", "--format=", &commit]);
    assert_eq!(named, "A\t*.txt\nD\tTALK.md\n");
    let left: Vec<String> = git.changes().unwrap().dirty.into_keys().collect();
    assert_eq!(left, ["a b.txt", "staged.txt"]);
}

#[test]
fn a_repository_below_another_sees_its_own_part() {
    let outer = Repo::empty();
    outer.git(&["init", "--quiet", "--initial-branch=main"]);
    outer.write("top.txt", "t");
    outer.write("inner/x.txt", "x");
    outer.commit_all("begin");
    outer.write("top.txt", "changed");
    outer.write("inner/x.txt", "changed");
    outer.write("inner/new.txt", "n");
    let inner = outer.root().join("inner");
    let git = Git::find(&inner).unwrap().unwrap();
    let changes = git.changes().unwrap();
    assert_eq!(
        changes.dirty.keys().collect::<Vec<_>>(),
        ["new.txt", "x.txt"]
    );
    let before = changes.baseline();
    git.commit(&["x.txt".into()], "x").unwrap();
    let seen = git.observe(Some(&before)).unwrap();
    assert_eq!(
        seen.changed.keys().collect::<Vec<_>>(),
        ["new.txt", "x.txt"]
    );
    assert_eq!(seen.uncommitted.iter().collect::<Vec<_>>(), ["new.txt"]);
    // A folder that the outer repository ignores has no version control.
    outer.write(".gitignore", "inner\n");
    outer.git(&["rm", "-r", "--quiet", "--cached", "inner"]);
    assert!(Git::find(&inner).unwrap().is_none());
}

#[test]
fn a_repository_without_commits_is_compared_with_nothing() {
    let repo = Repo::empty();
    repo.git(&["init", "--quiet", "--initial-branch=main"]);
    repo.write("a.txt", "a");
    let git = Git::find(&repo.root()).unwrap().unwrap();
    let before = git.changes().unwrap();
    assert_eq!(before.dirty.keys().collect::<Vec<_>>(), ["a.txt"]);
    repo.commit_all("first");
    let seen = git.observe(Some(&before.baseline())).unwrap();
    assert_eq!(seen.changed.keys().collect::<Vec<_>>(), ["a.txt"]);
    assert!(!seen.dirty);
}

#[test]
fn a_baseline_that_is_no_commit_is_refused_and_is_no_option() {
    let repo = Repo::with_git();
    let git = Git::find(&repo.root()).unwrap().unwrap();
    let mut baseline = git.changes().unwrap().baseline();
    for wrong in [
        "--output=/tmp/x",
        "main",
        "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
    ] {
        baseline.head_ref = Some(wrong.to_owned());
        refused(git.observe(Some(&baseline)), Code::XchainGitFailed);
    }
}

fn executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_records_of_the_run_are_not_looked_at_and_everything_else_is() {
    let repo = Repo::with_git();
    drop(repo.started());
    let git = Git::find(&repo.root()).unwrap().unwrap();
    let begun = git.changes().unwrap();
    let head = begun.head.clone();
    for path in [
        ".agentxchain/history.jsonl",
        ".agentxchain/events.jsonl",
        "TALK.md",
        "history.jsonl",
        "sub/TALK.md",
        ":(exclude)odd",
    ] {
        repo.write(path, "{}\n");
    }
    let seen = |changes: Vec<String>| {
        let known = |path: &String| begun.dirty.contains_key(path);
        changes
            .into_iter()
            .filter(|path| !known(path))
            .collect::<Vec<_>>()
    };
    let expected = [":(exclude)odd", "history.jsonl", "sub/TALK.md"];
    let changes = git.changes().unwrap().dirty;
    assert_eq!(seen(changes.into_keys().collect()), expected);
    // Committed since, they are still nobody's work.
    repo.commit_all("all");
    let baseline = accord_governance::state::Baseline {
        head_ref: Some(head),
        ..begun.baseline()
    };
    let observed = git.observe(Some(&baseline)).unwrap().changed;
    assert_eq!(seen(observed.into_keys().collect()), expected);
}
