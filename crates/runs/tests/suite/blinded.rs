//! A worker that turns git's eyes away: what it changed is seen all the same, or the result is
//! refused for it.

use std::os::unix::fs::PermissionsExt as _;

use accord_contract::Code;
use accord_runs::operations::Dispatched;

use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};

/// What a worker does to git.
type Blind<'a> = &'a dyn Fn(&Repo);

/// A turn whose result declares the planning documents, which are written.
fn turn_in(repo: &Repo) -> (accord_runs::Runs, Dispatched) {
    repo.write("base.txt", "base\n");
    repo.commit_all("base");
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(repo);
    let said = result(&turn, &PLANNING, |result| {
        result["verification"] = serde_json::json!({"status": "skipped"});
    });
    stage(repo, &turn, &said);
    (runs, turn)
}

#[track_caller]
fn recorded(repo: &Repo, code: &str) {
    let state = repo.json(".agentxchain/state.json");
    let turn = state["active_turns"].as_object().unwrap().values().next();
    let turn = turn.unwrap();
    assert_eq!(turn["status"], "failed_acceptance");
    assert_eq!(turn["last_acceptance_failure"]["error_code"], code);
}

#[test]
fn settings_of_a_machine_and_remarks_are_no_change() {
    let repo = Repo::with_git();
    std::fs::remove_file(repo.root().join(".git/info/exclude")).ok();
    let (runs, turn) = turn_in(&repo);
    std::fs::create_dir_all(repo.root().join(".git/info")).unwrap();
    repo.write(".git/info/exclude", "# patterns, one a line\n\n");
    accept(&runs, turn.turn.id()).unwrap();
}

#[test]
fn git_that_is_gone_broken_or_another_is_refused_and_recorded() {
    let elsewhere = Repo::empty();
    let elsewhere = elsewhere.root().display().to_string();
    let ways: [Blind<'_>; 6] = [
        &|repo| std::fs::remove_dir_all(repo.root().join(".git")).unwrap(),
        &|repo| repo.write(".git/HEAD", "zz"),
        &|repo| drop(repo.git(&["config", "core.worktree", &elsewhere])),
        &|repo| drop(repo.git(&["config", "core.bare", "true"])),
        &|repo| {
            std::fs::remove_dir_all(repo.root().join(".git")).unwrap();
            repo.git(&["init", "--quiet"]);
            repo.commit_all("another history");
        },
        &|repo| {
            repo.git(&["checkout", "--quiet", "--orphan", "other"]);
            repo.commit_all("another history");
            repo.git(&["branch", "--quiet", "-D", "main"]);
            repo.git(&["reflog", "expire", "--expire=now", "--all"]);
            repo.git(&["gc", "--quiet", "--prune=now"]);
        },
    ];
    for (index, blind) in ways.into_iter().enumerate() {
        let repo = Repo::with_git();
        let (runs, turn) = turn_in(&repo);
        repo.write("base.txt", "evil\n");
        blind(&repo);
        let answer = accept(&runs, turn.turn.id());
        let failure = answer.map(drop).expect_err(&index.to_string());
        assert_eq!(failure.code, Code::XchainVersionControlChanged, "{index}: {failure:?}");
        recorded(&repo, "version_control_changed");
    }
}

#[test]
fn what_decides_what_git_shows_may_not_change_within_a_turn() {
    let ways: [(&str, Blind<'_>); 3] = [
        ("info/exclude", &|repo| {
            repo.write("hidden.txt", "evil");
            repo.write(".git/info/exclude", "hidden.txt\n");
        }),
        ("core.filemode", &|repo| {
            let place = repo.root().join("base.txt");
            std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o755)).unwrap();
            repo.git(&["config", "core.fileMode", "false"]);
        }),
        ("filter.same.clean", &|repo| {
            repo.write("base.txt", "evil\n");
            repo.write(".git/info/attributes", "base.txt filter=same\n");
            repo.git(&["config", "filter.same.clean", "echo base"]);
        }),
    ];
    for (name, blind) in ways {
        let repo = Repo::with_git();
        let (runs, turn) = turn_in(&repo);
        blind(&repo);
        let failure = refused(accept(&runs, turn.turn.id()), Code::XchainVersionControlChanged);
        assert!(failure.message.contains(name), "{failure}");
        recorded(&repo, "version_control_changed");
    }
    // Other settings are nobody's concern.
    let repo = Repo::with_git();
    let (runs, turn) = turn_in(&repo);
    repo.git(&["config", "core.hooksPath", ".husky"]);
    accept(&runs, turn.turn.id()).unwrap();
}

#[test]
fn files_that_git_is_set_to_skip_are_checked() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let repo = Repo::with_git();
        let (runs, turn) = turn_in(&repo);
        repo.git(&["update-index", flag, "base.txt"]);
        repo.write("base.txt", "evil\n");
        let failure = refused(accept(&runs, turn.turn.id()), Code::XchainArtifactDirtyTreeMismatch);
        assert!(failure.message.contains("base.txt"), "{failure}");
        repo.write("base.txt", "base\n");
        accept(&runs, turn.turn.id()).unwrap();
    }
}

#[test]
fn what_a_person_had_hidden_before_the_turn_stays_theirs() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let repo = Repo::with_git();
        repo.write("local.toml", "shared\n");
        repo.commit_all("settings");
        repo.git(&["update-index", flag, "local.toml"]);
        repo.write("local.toml", "mine\n");
        let (runs, turn) = turn_in(&repo);
        repo.write("local.toml", "the agent's\n");
        let failure = accept(&runs, turn.turn.id()).unwrap_err();
        assert!(failure.message.contains("local.toml"), "{failure}");
        repo.write("local.toml", "mine\n");
        let accepted = accept(&runs, turn.turn.id()).unwrap().accepted;
        let seen = &accepted.history_entry["observed_artifact"]["files_changed"];
        assert_eq!(seen.as_array().unwrap().len(), PLANNING.len());
    }
}

#[test]
fn objects_that_stand_in_for_others_hide_nothing() {
    let repo = Repo::with_git();
    let (runs, turn) = turn_in(&repo);
    let base = repo.git(&["rev-parse", "HEAD"]);
    repo.write("base.txt", "evil\n");
    repo.commit_all("an agent commits by itself");
    repo.git(&["replace", base.trim(), "HEAD"]);
    let failure = refused(accept(&runs, turn.turn.id()), Code::XchainArtifactMismatch);
    assert!(failure.message.contains("base.txt"), "{failure}");
}
