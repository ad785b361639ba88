//! A new repository: what is committed, what is no obstacle, and what survives a stash.

use accord_contract::Code;
use accord_runs::answers::{CommandNames, init_answer, next_answer};
use accord_runs::git::Git;
use accord_runs::operations::{InitOptions, Initialized, LoopOptions, LoopStop, Start, Step, init};
use accord_runs::{CycleOptions, Environment, Notice, Runs};
use serde_json::json;

use crate::gates::waiting;
use crate::support::{PLANNING, Repo, accept, dispatched, plan, refused, result, stage};
use crate::workers::PLANS;

/// A git repository without a commit.
fn fresh() -> Repo {
    let repo = Repo::empty();
    repo.git(&["init", "--quiet", "--initial-branch=main"]);
    repo
}

fn known(repo: &Repo) {
    for (name, value) in [("user.name", "T"), ("user.email", "t@example.org")] {
        repo.git(&["config", name, value]);
    }
}

fn governed(repo: &Repo, commit: bool) -> Initialized {
    let options = InitOptions { commit, ..InitOptions::default() };
    init(&repo.root(), &options, &Environment::system()).unwrap()
}

/// The planner is this script; nothing is committed.
fn with_planner(repo: &Repo, script: &str) {
    let mut config = repo.json("agentxchain.json");
    config["roles"]["pm"]["runtime"] = json!("agent");
    config["runtimes"]["agent"] =
        json!({"type": "local_cli", "command": ["/bin/sh", "-c", script]});
    repo.write("agentxchain.json", &config.to_string());
}

#[test]
fn init_commits_its_own_files_and_no_others() {
    let repo = fresh();
    known(&repo);
    repo.write("mine.txt", "mine");
    repo.write("other.txt", "other");
    repo.git(&["add", "mine.txt"]);
    let made = governed(&repo, true);
    assert_eq!(made.commit.unwrap(), repo.git(&["rev-parse", "HEAD"]).trim());
    let files = repo.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    assert!(files.contains("agentxchain.json") && files.contains(".gitignore"), "{files}");
    assert!(!files.contains("mine.txt") && !files.contains("other.txt"), "{files}");
    let status = repo.git(&["status", "--porcelain"]);
    assert_eq!(status, "A  mine.txt\n?? other.txt\n");
}

#[test]
fn init_prints_the_commands_that_commit() {
    let repo = fresh();
    known(&repo);
    repo.write("mine.txt", "mine");
    repo.git(&["add", "mine.txt"]);
    let made = governed(&repo, false);
    let answer = init_answer(&made, &CommandNames::default());
    let command = answer.commit_command.unwrap();
    let names = ".agentxchain .gitignore .planning TALK.md agentxchain.json";
    assert_eq!(
        command,
        format!(
            "git add -- {names} && git commit -m 'Govern the repository with Accord' -- {names}"
        )
    );
    let typed = std::process::Command::new("sh")
        .args(["-c", &command])
        .current_dir(repo.root())
        .output()
        .unwrap();
    assert!(typed.status.success(), "{typed:?}");
    assert_eq!(repo.git(&["status", "--porcelain"]), "A  mine.txt\n");
}

#[test]
fn a_commit_that_is_not_possible_is_refused_before_anything_is_written() {
    let repo = Repo::empty();
    let options = InitOptions { commit: true, ..InitOptions::default() };
    let failure =
        refused(init(&repo.root(), &options, &Environment::system()), Code::XchainGitFailed);
    assert!(failure.suggestion.unwrap().starts_with("git init"));
    assert!(!repo.has("agentxchain.json"));
    repo.git(&["init", "--quiet"]);
    // As on a machine without a git identity.
    repo.git(&["config", "user.useConfigOnly", "true"]);
    repo.git(&["config", "user.name", ""]);
    repo.git(&["config", "user.email", ""]);
    let failure =
        refused(init(&repo.root(), &options, &Environment::system()), Code::XchainGitFailed);
    assert!(failure.suggestion.unwrap().contains("git config user.name"));
    assert!(!repo.has("agentxchain.json"));
}

/// The sandbox of Codex makes such a folder while it works.
#[test]
fn an_empty_git_folder_is_no_repository() {
    let repo = Repo::plain();
    std::fs::create_dir(repo.root().join(".git")).unwrap();
    // A turn is accepted as without git.
    waiting(&repo);
    let repo = Repo::empty();
    std::fs::create_dir(repo.root().join(".git")).unwrap();
    let options = InitOptions { commit: true, ..InitOptions::default() };
    let made = init(&repo.root(), &options, &Environment::system());
    let failure = refused(made, Code::XchainGitFailed);
    assert!(failure.suggestion.unwrap().starts_with("git init"));
    // A repository above it is the one that counts.
    let repo = Repo::with_git();
    let inner = repo.root().join("inner");
    std::fs::create_dir_all(inner.join(".git")).unwrap();
    let found = Git::find(&inner, None).unwrap().unwrap();
    assert_eq!(found.prefix(), "inner/");
    // A repository that has lost its HEAD is an error.
    let repo = Repo::plain();
    repo.write(".git/config", "");
    refused(repo.started().assign(Some("pm")), Code::XchainGitFailed);
}

#[test]
fn files_of_the_scaffold_are_no_obstacle_before_their_first_commit() {
    for (first_commit, add) in [(false, false), (true, false), (false, true)] {
        let repo = fresh();
        known(&repo);
        if first_commit {
            repo.write(".gitignore", "target\n");
            repo.commit_all("begin");
        }
        governed(&repo, false);
        with_planner(&repo, PLANS);
        if add {
            repo.git(&["add", "--all"]);
        }
        let environment = Environment::system().with_listener(|notice| {
            // They did not change since the assignment.
            assert!(!matches!(notice, Notice::ChangesExcluded { .. }), "{notice:?}");
        });
        let runs = Runs::open(&repo.root(), environment).unwrap();
        runs.start(&Start { goal: Some("sell shoes".to_owned()), ..Start::default() }).unwrap();
        // The loop goes to the first gate, and the plan is committed.
        let cycle = CycleOptions { checkpoint: true, ..CycleOptions::default() };
        let looped = runs.run_loop(&LoopOptions { cycle, ..LoopOptions::default() }).unwrap();
        assert!(matches!(looped.stop, LoopStop::GateHeld(_)), "{looped:?}");
        let files = repo.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
        assert!(files.contains(".planning/ROADMAP.md"), "{files}");
        assert!(!files.contains("agentxchain.json"), "{files}");
    }
}

#[test]
fn other_files_are_still_in_the_way() {
    let repo = fresh();
    known(&repo);
    repo.write(".gitignore", "target\n");
    repo.commit_all("begin");
    governed(&repo, false);
    let runs = repo.started();
    repo.write("mine.txt", "mine");
    let failure = refused(runs.assign(Some("dev")), Code::XchainBaselineDirty);
    assert_eq!(failure.details.unwrap()["files"], json!(["mine.txt"]));
    std::fs::remove_file(repo.root().join("mine.txt")).unwrap();
    // A line of a person in a file that is committed.
    let ignored = repo.read(".gitignore");
    repo.write(".gitignore", &format!("{ignored}secret\n"));
    refused(runs.assign(Some("dev")), Code::XchainBaselineDirty);
    repo.write(".gitignore", &ignored);
    runs.assign(Some("dev")).unwrap();
}

#[test]
fn a_turn_that_changed_the_scaffold_must_be_committed() {
    let repo = fresh();
    known(&repo);
    governed(&repo, false);
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    stage(&repo, &turn, &result(&turn, &PLANNING, |_| {}));
    accept(&runs, turn.turn.id()).unwrap();
    refused(runs.assign(Some("dev")), Code::XchainCheckpointRequired);
    runs.checkpoint(None).unwrap();
    runs.assign(Some("dev")).unwrap();
}

#[test]
fn the_goal_of_a_run_reaches_its_workers() {
    let repo = Repo::with_git();
    let runs = repo.runs();
    runs.start(&Start { goal: Some("sell shoes".to_owned()), ..Start::default() }).unwrap();
    let turn = dispatched(&runs, "pm");
    assert!(turn.context.contains("## Goal of this run\n\nsell shoes\n"), "{}", turn.context);
    let provenance = runs.state().unwrap().member("provenance");
    assert_eq!(provenance["trigger_reason"], "sell shoes");
}

#[test]
fn a_roadmap_begins_with_the_phases() {
    let repo = Repo::plain();
    let roadmap = repo.read(".planning/ROADMAP.md");
    assert!(roadmap.contains("\n## Phases\n"), "{roadmap}");
    for phase in repo.runs().config().unwrap().phases() {
        assert!(roadmap.contains(&format!("\n| {phase} | ")), "{roadmap}");
    }
}

#[test]
fn a_session_names_the_commit_after_a_checkpoint() {
    let repo = Repo::with_git();
    let runs = repo.started();
    let about = || repo.json(".agentxchain/session.json")["baseline_ref"].clone();
    let head = || repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let turn = dispatched(&runs, "pm");
    let now = json!({"git_head": head(), "git_branch": "main", "workspace_dirty": true});
    assert_eq!(about(), now);
    plan(&repo);
    stage(&repo, &turn, &result(&turn, &PLANNING, |_| {}));
    accept(&runs, turn.turn.id()).unwrap();
    let before = head();
    runs.checkpoint(None).unwrap();
    assert_ne!(head(), before);
    assert_eq!(about()["git_head"], head());
    let session = repo.json(".agentxchain/session.json");
    assert_eq!(session["last_role"], "pm");
    assert_eq!(session["last_turn_id"], turn.turn.id().as_str());
}

#[test]
fn a_session_of_ignored_records_says_whether_the_rest_is_clean() {
    let repo = Repo::with_git();
    repo.git(&["rm", "-r", "--quiet", "--cached", ".agentxchain"]);
    repo.write(".gitignore", ".agentxchain/\n");
    repo.commit_all("ignore the records");
    let runs = repo.started();
    dispatched(&runs, "pm");
    let dirty =
        || repo.json(".agentxchain/session.json")["baseline_ref"]["workspace_dirty"].clone();
    // TALK.md is only written by an acceptance.
    assert_eq!(dirty(), false);
    repo.write("mine.txt", "x");
    runs.escalate("stop").unwrap();
    assert_eq!(dirty(), true);
}

#[test]
fn a_run_that_was_stashed_is_missed_and_comes_back() {
    let repo = Repo::with_git();
    let runs = repo.started();
    runs.assign(None).unwrap();
    let run = runs.state().unwrap().run_id().unwrap().to_string();
    repo.git(&["stash", "-u", "--quiet"]);
    assert!(runs.state().unwrap().run_id().is_none(), "the records are stashed");
    let next = runs.status().unwrap().next;
    let answer = next_answer(&next[0], &CommandNames::default());
    assert_eq!(answer.command.as_deref(), Some("git stash pop"));
    assert!(answer.why.contains(&run), "{}", answer.why);
    refused(runs.start(&Start::default()), Code::XchainRecordsMissing);
    refused(runs.step(&Step::default()), Code::XchainRecordsMissing);
    repo.git(&["stash", "pop", "--quiet"]);
    assert_eq!(runs.state().unwrap().run_id().unwrap().as_str(), run);
    assert!(!matches!(
        runs.status().unwrap().next[0],
        accord_runs::operations::NextStep::Examine(_)
    ));
    // A person who does not want it back can begin anew.
    repo.git(&["stash", "-u", "--quiet"]);
    runs.start(&Start { restart: true, ..Start::default() }).unwrap();
    runs.status().unwrap();
    runs.assign(None).unwrap();
}

#[test]
fn a_project_that_was_stashed_as_a_whole_is_not_made_anew() {
    let repo = fresh();
    known(&repo);
    repo.write("mine.txt", "mine");
    repo.commit_all("begin");
    governed(&repo, false);
    repo.started();
    repo.git(&["stash", "-u", "--quiet"]);
    let again = init(&repo.root(), &InitOptions::default(), &Environment::system());
    let failure = refused(again, Code::XchainRecordsMissing);
    assert!(failure.suggestion.unwrap().starts_with("git stash pop"));
    refused(Runs::open(&repo.root(), Environment::system()), Code::XchainRecordsMissing);
    // Another branch is another matter.
    repo.git(&["switch", "--quiet", "--create", "other"]);
    refused(Runs::open(&repo.root(), Environment::system()), Code::XchainNotGoverned);
    repo.git(&["switch", "--quiet", "main"]);
    repo.git(&["stash", "pop", "--quiet"]);
    repo.runs().assign(None).unwrap();
}

#[test]
fn an_unknown_committer_is_reported_before_a_checkpoint_fails() {
    let repo = Repo::with_git();
    let runs = repo.started();
    assert_eq!(runs.status().unwrap().no_checkpoints, None);
    let turn = dispatched(&runs, "pm");
    plan(&repo);
    stage(&repo, &turn, &result(&turn, &PLANNING, |_| {}));
    accept(&runs, turn.turn.id()).unwrap();
    repo.git(&["config", "user.useConfigOnly", "true"]);
    repo.git(&["config", "user.name", ""]);
    repo.git(&["config", "user.email", ""]);
    let status = runs.status().unwrap();
    let failure = status.no_checkpoints.unwrap();
    assert!(failure.suggestion.unwrap().contains("git config user.name"));
    let answer = next_answer(&status.next[0], &CommandNames::default());
    assert_eq!(answer.command.as_deref(), Some("accord run doctor"), "{}", answer.why);
    let cycle = CycleOptions { checkpoint: true, ..CycleOptions::default() };
    refused(runs.run_loop(&LoopOptions { cycle, ..LoopOptions::default() }), Code::XchainGitFailed);
}
