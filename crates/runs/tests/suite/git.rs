//! What git sees of a turn, and what it is not asked.

use accord_contract::Code;
use accord_process::Cancel;
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
    assert_eq!(failure.details.unwrap()["files"], serde_json::json!(["notes.txt"]));
    assert_eq!(failure.code, Code::XchainArtifactDirtyTreeMismatch);
    std::fs::remove_file(repo.root().join("notes.txt")).unwrap();
    accept(&runs, turn.turn.id()).unwrap();
}

#[test]
fn a_message_names_the_first_files_and_no_path_of_many_levels() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    let deep = format!("src/{}end.rs", "d/".repeat(256));
    repo.write(&deep, "deep");
    for number in 0..8 {
        repo.write(&format!("stray/{number}.txt"), "stray");
    }
    stage(&repo, &turn, &result(&turn, &crate::support::PLANNING, |_| {}));
    let failure = refused(accept(&runs, turn.turn.id()), Code::XchainArtifactDirtyTreeMismatch);
    let message = &failure.message;
    assert!(message.starts_with("9 files not committed and not declared"), "{message}");
    assert!(message.ends_with(" and 4 more files") && message.len() < 400, "{message}");
    assert!(message.contains(" levels …/"), "{message}");
    let files = failure.details.unwrap()["files"].clone();
    assert_eq!(files[0], deep.as_str());
    assert_eq!(files.as_array().unwrap().len(), 9);
    assert!(!message.contains("check"), "{message}");
}

#[test]
fn the_summary_of_a_turn_counts_its_own_files() {
    let repo = Repo::with_git();
    let runs = repo.started();
    // Changed before the review, which it does not matter to.
    repo.write("src/other.rs", "of another");
    repo.write(".planning/NOTES.md", "before");
    let turn = dispatched(&runs, "qa");
    repo.write(".planning/ONE.md", "one");
    let review = result(&turn, &[".planning/ONE.md"], |result| {
        result["artifact"] = serde_json::json!({"type": "review"});
        result["objections"] = serde_json::json!([{"id": "OBJ-001", "severity": "low",
            "statement": "s", "status": "raised"}]);
    });
    stage(&repo, &turn, &review);
    let done = accept(&runs, turn.turn.id()).unwrap().accepted;
    assert_eq!(done.history_entry["observed_artifact"]["diff_summary"], "1 file changed");
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
    assert_eq!(failure.details.unwrap()["files"], serde_json::json!(["mine.txt"]));
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
    let line = format!("#!/bin/sh\ntouch {}/ran\nexit 0\n", repo.root().join(".git").display());
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
    let git = Git::find(&repo.root(), None).unwrap().unwrap();
    let changes = git.changes().unwrap();
    assert_eq!(changes.dirty.keys().collect::<Vec<_>>(), ["new.txt"]);
    assert_eq!(std::fs::read(repo.root().join(".git/index")).unwrap(), index);
    git.commit(&["new.txt".to_owned()], "new").unwrap();
    assert!(!repo.has(".git/ran"));
}

#[test]
fn a_commit_takes_the_given_paths_and_no_more() {
    let repo = Repo::with_git();
    repo.write("a b.txt", "1");
    repo.write("*.txt", "2");
    repo.write("staged.txt", "3");
    repo.git(&["add", "staged.txt"]);
    std::fs::remove_file(repo.root().join("TALK.md")).unwrap();
    let git = Git::find(&repo.root(), None).unwrap().unwrap();
    let commit = git.commit(&["*.txt".into(), "TALK.md".into()], "two").unwrap().unwrap();
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
    let git = Git::find(&inner, None).unwrap().unwrap();
    let changes = git.changes().unwrap();
    assert_eq!(changes.dirty.keys().collect::<Vec<_>>(), ["new.txt", "x.txt"]);
    let before = changes.baseline();
    git.commit(&["x.txt".into()], "x").unwrap();
    let seen = git.observe(Some(&before), false).unwrap();
    assert_eq!(seen.changed.keys().collect::<Vec<_>>(), ["new.txt", "x.txt"]);
    assert_eq!(seen.uncommitted.iter().collect::<Vec<_>>(), ["new.txt"]);
    // A folder that the outer repository ignores has no version control.
    outer.write(".gitignore", "inner\n");
    outer.git(&["rm", "-r", "--quiet", "--cached", "inner"]);
    assert!(Git::find(&inner, None).unwrap().is_none());
}

#[test]
fn a_repository_without_commits_is_compared_with_nothing() {
    let repo = Repo::empty();
    repo.git(&["init", "--quiet", "--initial-branch=main"]);
    repo.write("a.txt", "a");
    let git = Git::find(&repo.root(), None).unwrap().unwrap();
    let before = git.changes().unwrap();
    assert_eq!(before.dirty.keys().collect::<Vec<_>>(), ["a.txt"]);
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "--quiet", "-m", "first"]);
    let seen = git.observe(Some(&before.baseline()), false).unwrap();
    assert_eq!(seen.changed.keys().collect::<Vec<_>>(), ["a.txt"]);
    assert!(!seen.dirty);
}

#[test]
fn a_baseline_that_is_no_commit_is_refused_and_is_no_option() {
    let repo = Repo::with_git();
    let git = Git::find(&repo.root(), None).unwrap().unwrap();
    let mut baseline = git.changes().unwrap().baseline();
    for wrong in ["--output=/tmp/x", "main", "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef"] {
        baseline.head_ref = Some(wrong.to_owned());
        refused(git.observe(Some(&baseline), false), Code::XchainGitFailed);
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
    let git = Git::find(&repo.root(), None).unwrap().unwrap();
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
        changes.into_iter().filter(|path| !known(path)).collect::<Vec<_>>()
    };
    let expected = [":(exclude)odd", "history.jsonl", "sub/TALK.md"];
    let changes = git.changes().unwrap().dirty;
    assert_eq!(seen(changes.into_keys().collect()), expected);
    // Committed since, they are still nobody's work.
    repo.commit_all("all");
    let baseline = accord_runs_core::state::Baseline { head_ref: Some(head), ..begun.baseline() };
    let observed = git.observe(Some(&baseline), false).unwrap().changed;
    assert_eq!(seen(observed.into_keys().collect()), expected);
}

#[test]
fn what_a_worker_removed_or_renamed_with_git_is_committed() {
    let repo = removed_and_renamed();
    let git = Git::find(&repo.root(), None).unwrap().unwrap();
    let files: Vec<String> = git.changes().unwrap().dirty.into_keys().collect();
    let commit = git.commit(&files, "all of it").unwrap().unwrap();
    assert_eq!(repo.git(&named(&commit)), REMOVED_AND_RENAMED);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(git.commit(&files, "nothing more").unwrap(), None);
}

#[test]
fn a_commit_does_not_read_the_records_and_concludes_a_merge() {
    let repo = Repo::with_git();
    let git = Git::find(&repo.root(), None).unwrap().unwrap();
    // Tracked when it was empty, so that `git commit` would read it: no end of it is in sight.
    let history = ".agentxchain/history.jsonl";
    assert_eq!(repo.git(&["ls-files", history]).trim(), history);
    let record = std::fs::File::options().write(true).open(repo.root().join(history)).unwrap();
    record.set_len(1 << 40).unwrap();
    repo.write("src/a.rs", "a\n");
    let before = repo.git(&["rev-parse", "HEAD"]);
    let commit = git.commit(&["src/a.rs".to_owned()], "dev: a\n\nTurn: t\n").unwrap().unwrap();
    assert_eq!(repo.git(&["rev-parse", "HEAD"]).trim(), commit);
    assert_eq!(repo.git(&["rev-parse", "HEAD^"]), before);
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]).trim(), "dev: a\n\nTurn: t");
    assert_eq!(repo.git(&named(&commit)).trim(), "A\tsrc/a.rs");
    assert!(repo.git(&["reflog", "-1", "--format=%gs"]).starts_with("commit: dev: a"));
    record.set_len(0).unwrap();
    // A merge that waits for its commit gets both parents.
    repo.git(&["checkout", "--quiet", "-b", "other"]);
    repo.write("b.txt", "b");
    repo.commit_all("b");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["merge", "--quiet", "--no-commit", "--no-ff", "other"]);
    repo.write("src/a.rs", "again\n");
    let files = ["src/a.rs".to_owned(), "b.txt".to_owned()];
    git.commit(&files, "merge").unwrap().unwrap();
    assert_eq!(repo.git(&["log", "-1", "--format=%P"]).split_whitespace().count(), 2);
}

#[test]
fn what_others_staged_stays_staged() {
    let repo = removed_and_renamed();
    let git = Git::find(&repo.root(), None).unwrap().unwrap();
    let files: Vec<String> = git.changes().unwrap().dirty.into_keys().collect();
    repo.write("theirs.txt", "t");
    repo.git(&["add", "theirs.txt"]);
    let commit = git.commit(&files, "all of it").unwrap().unwrap();
    assert_eq!(repo.git(&named(&commit)), REMOVED_AND_RENAMED);
    assert_eq!(repo.git(&["status", "--porcelain"]), "A  theirs.txt\n");
}

#[test]
fn what_is_staged_around_the_repository_stays_staged() {
    let outer = Repo::empty();
    outer.git(&["init", "--quiet", "--initial-branch=main"]);
    outer.commit_all("begin");
    outer.write("same.txt", "outer");
    outer.git(&["add", "same.txt"]);
    outer.write("inner/same.txt", "inner");
    let git = Git::find(&outer.root().join("inner"), None);
    let git = git.unwrap().unwrap();
    git.commit(&["same.txt".into()], "inner").unwrap().unwrap();
    assert_eq!(outer.git(&["status", "--porcelain"]), "A  same.txt\n");
}

const REMOVED_AND_RENAMED: &str = "M\tkept.txt\nD\tmoved.txt\nA\tnew.txt\nD\told.txt\n\
    D\tshape\nA\tshape/inner.txt\nA\tway\nD\tway/inner.txt\n";

/// What a commit did to which files.
fn named(commit: &str) -> [&str; 5] {
    let [show, renames, names, format] = ["show", "--no-renames", "--name-status", "--format="];
    [show, renames, names, format, commit]
}

fn removed_and_renamed() -> Repo {
    let repo = Repo::with_git();
    for name in ["old.txt", "moved.txt", "kept.txt", "shape", "way/inner.txt"] {
        repo.write(name, name);
    }
    repo.commit_all("files");
    repo.git(&["rm", "--quiet", "old.txt"]);
    repo.git(&["mv", "moved.txt", "new.txt"]);
    repo.git(&["rm", "--quiet", "--cached", "kept.txt"]);
    // Added and deleted again: part of no commit.
    repo.write("brief.txt", "b");
    repo.git(&["add", "brief.txt"]);
    std::fs::remove_file(repo.root().join("brief.txt")).unwrap();
    // A file that became a folder.
    std::fs::remove_file(repo.root().join("shape")).unwrap();
    repo.write("shape/inner.txt", "i");
    // A folder that became a link.
    std::fs::remove_dir_all(repo.root().join("way")).unwrap();
    std::os::unix::fs::symlink("shape", repo.root().join("way")).unwrap();
    repo.write("kept.txt", "changed");
    repo
}

#[test]
fn a_git_that_is_killed_has_failed_unless_the_command_was_terminated() {
    let repo = Repo::with_git();
    repo.write(".gitattributes", "*.bin filter=end\n");
    repo.commit_all("attributes");
    repo.git(&["config", "filter.end.clean", "kill -KILL $PPID"]);
    repo.write("a.bin", "a");
    let word = Cancel::new();
    let git = Git::find(&repo.root(), Some(&word)).unwrap().unwrap().with_filters();
    let files = ["a.bin".to_owned()];
    let end = || {
        // What a killed git leaves behind.
        let _ = std::fs::remove_file(repo.root().join(".git/index.lock"));
        git.commit(&files, "a")
    };
    refused(end(), Code::XchainGitFailed);
    word.cancel();
    refused(end(), Code::XchainGivenUp);
    // Another trouble is still git's own.
    let baseline = accord_runs_core::state::Baseline {
        head_ref: Some("deadbeef".to_owned()),
        ..git.changes().unwrap().baseline()
    };
    refused(git.observe(Some(&baseline), false), Code::XchainGitFailed);
}

#[test]
fn git_writes_through_no_link_that_a_filter_made() {
    let repo = Repo::with_git();
    let outside = repo.state_folder().join("outside");
    std::fs::write(&outside, "mine").unwrap();
    repo.write(".gitattributes", "*.bin filter=link\n");
    repo.write("x.bin", "x");
    let link = format!("ln -sf {} .git/logs/HEAD; cat", outside.display());
    repo.git(&["config", "filter.link.clean", &link]);
    let git = Git::find(&repo.root(), None).unwrap().unwrap().with_filters();
    let failure = git.commit(&["x.bin".to_owned()], "x").unwrap_err();
    assert_eq!(failure.code, Code::XchainGitFailed);
    assert!(failure.message.contains("logs/HEAD in git's folder is a link"), "{failure}");
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "mine");
}
