//! A workspace of a test's own, with repositories in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use accord_contract::Failure;
use accord_runs::coordinator::{Coordinator, StepOutcome, StepResult};
use accord_runs::operations::Accept;
use accord_runs::{Environment, Runs};
use accord_runs_core::TurnId;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::copy_tree;

pub(crate) struct Workspace {
    folder: TempDir,
}

/// Where a coordinator keeps its documents.
pub(crate) const HOME: &str = ".agentxchain/multirepo";

impl Workspace {
    /// A workspace with two repositories under git, `api` and `web`, and two phases.
    pub(crate) fn new() -> Self {
        let workspace = Self { folder: tempfile::tempdir().unwrap() };
        for repo in ["api", "web"] {
            workspace.govern(repo);
        }
        workspace.write("agentxchain-multi.json", &format!("{:#}\n", config()));
        workspace
    }

    /// The same again, as it is now.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self { folder: tempfile::tempdir().unwrap() };
        copy_tree(&self.root(), &copy.root());
        copy
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn coordinator(&self) -> Coordinator {
        Coordinator::open(self.folder.path(), Environment::system()).unwrap()
    }

    pub(crate) fn begun(&self) -> Coordinator {
        let coordinator = self.coordinator();
        coordinator.init().unwrap();
        coordinator
    }

    pub(crate) fn runs(&self, repo: &str) -> Runs {
        Runs::open(&self.root().join(repo), Environment::system()).unwrap()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let place = self.root().join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.root().join(path).exists()
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    pub(crate) fn change(&self, path: &str, change: impl FnOnce(&mut Value)) {
        let mut document = self.json(path);
        change(&mut document);
        self.write(path, &format!("{document:#}\n"));
    }

    pub(crate) fn lines(&self, path: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.root().join(path)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The lines of the coordinator's history of one type.
    pub(crate) fn said(&self, kind: &str) -> Vec<Value> {
        let mut lines = self.lines(&format!("{HOME}/history.jsonl"));
        lines.retain(|line| line["type"] == kind);
        lines
    }

    /// Everything that the coordinator keeps, by path.
    pub(crate) fn kept(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        collect(&self.root().join(HOME), &mut files);
        files.sort();
        files
    }

    /// Declares a hook of the coordinator that is a line for `/bin/sh`.
    pub(crate) fn hook(&self, phase: &str, mode: &str, line: &str) {
        self.change("agentxchain-multi.json", |config| {
            config["hooks"][phase] = json!([{
                "name": "h", "type": "process", "command": ["/bin/sh", "-c", line],
                "timeout_ms": 5000, "mode": mode,
            }]);
        });
    }

    pub(crate) fn git(&self, repo: &str, args: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(args)
            .current_dir(self.root().join(repo))
            .output()
            .expect("git is there");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {args:?}: {words}");
    }

    pub(crate) fn commit_all(&self, repo: &str) {
        self.git(repo, &["add", "--all"]);
        self.git(repo, &["commit", "--quiet", "--allow-empty", "-m", "change"]);
    }

    /// Does the work of a turn and has it accepted, and committed.
    pub(crate) fn carry_out(&self, repo: &str, turn: &str, change: impl FnOnce(&mut Value)) {
        let runs = self.runs(repo);
        let id = TurnId::parse(turn).unwrap();
        let state = runs.state().unwrap();
        let active = state.turn(&id).unwrap();
        let file = format!("src/{turn}.txt");
        self.write(&format!("{repo}/{file}"), "work\n");
        let mut result = json!({
            "schema_version": "1.0",
            "run_id": state.run_id().unwrap().as_str(),
            "turn_id": turn,
            "role": active.role(),
            "runtime_id": active.runtime_id(),
            "status": "completed",
            "summary": format!("built the part of {repo}"),
            "decisions": [], "objections": [],
            "files_changed": [file],
            "verification": {"status": "pass", "commands": ["true"], "evidence_summary": "seen",
                "machine_evidence": [{"command": "true", "exit_code": 0}]},
            "artifact": {"type": "workspace"},
            "proposed_next_role": "human",
        });
        change(&mut result);
        self.write(
            &format!("{repo}/.agentxchain/staging/{turn}/turn-result.json"),
            &result.to_string(),
        );
        runs.accept(&Accept { turn: Some(id), ..Accept::default() }).unwrap();
        self.commit_all(repo);
    }

    fn govern(&self, repo: &str) {
        let role = |authority: &str| {
            json!({"title": "R", "mandate": "Work.",
            "write_authority": authority, "runtime": "by-hand"})
        };
        let config = json!({
            "schema_version": "1.0",
            "project": {"id": repo, "name": repo},
            "roles": {"dev": role("authoritative"), "tester": role("authoritative")},
            "runtimes": {"by-hand": {"type": "manual"}},
            "routing": {
                "implementation": {"entry_role": "dev",
                    "allowed_next_roles": ["dev", "tester", "human"]},
                "qa": {"entry_role": "tester", "allowed_next_roles": ["dev", "tester", "human"]}
            },
            "workflow_kit": {}
        });
        self.write(&format!("{repo}/agentxchain.json"), &format!("{config:#}\n"));
        self.write(&format!("{repo}/.gitignore"), ".agentxchain/\nTALK.md\n");
        self.git(repo, &["init", "--quiet", "--initial-branch=main"]);
        self.git(repo, &["config", "user.name", "T"]);
        self.git(repo, &["config", "user.email", "t@example.org"]);
        self.commit_all(repo);
    }
}

/// The configuration of the workspace.
pub(crate) fn config() -> Value {
    json!({
        "schema_version": "0.1",
        "project": {"id": "all", "name": "All"},
        "repos": {"api": {"path": "./api"}, "web": {"path": "./web"}},
        "routing": {"implementation": {"entry_workstream": "core"}, "qa": {}},
        "workstreams": {
            "core": {"phase": "implementation", "repos": ["api", "web"], "entry_repo": "api",
                     "depends_on": [], "completion_barrier": "all_repos_accepted"},
            "proof": {"phase": "qa", "repos": ["api"], "entry_repo": "api", "depends_on": ["core"],
                      "completion_barrier": "all_repos_accepted"}
        }
    })
}

/// The turn that a step handed out, and to which repository.
#[track_caller]
pub(crate) fn handed_out(stepped: Result<StepResult, Failure>) -> (String, String) {
    match stepped.unwrap().outcome {
        StepOutcome::Dispatched { choice, dispatched, .. } => {
            (choice.repo, dispatched.turn.id().to_string())
        }
        other => panic!("nothing was handed out: {other:?}"),
    }
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
}
