//! A repository of a test's own.

use std::path::{Path, PathBuf};
use std::process::Command;

use accord_contract::{Code, Failure};
use accord_runs::operations::{Accept, AcceptResult, Dispatched, InitOptions, Start, init};
use accord_runs::{Environment, Runs};
use accord_runs_core::TurnId;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct Repo {
    folder: TempDir,
    /// The state directory of the user, with the copies that judge turns.
    state: TempDir,
}

impl Repo {
    /// A governed repository without version control.
    pub(crate) fn plain() -> Self {
        let repo = Self::empty();
        init(&repo.root(), &InitOptions::default(), &repo.environment()).unwrap();
        repo
    }

    /// A governed repository under git, with everything committed.
    pub(crate) fn with_git() -> Self {
        let repo = Self::plain();
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo.commit_all("begin");
        repo
    }

    /// A folder.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() }
    }

    /// The environment of the system, with a state directory of the test's own.
    pub(crate) fn environment(&self) -> Environment {
        Environment::system().with_state_folder(self.state.path())
    }

    /// The state directory of the user.
    pub(crate) fn state_folder(&self) -> PathBuf {
        self.state.path().canonicalize().unwrap()
    }

    /// The same again, as it is now.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::empty();
        copy_tree(&self.root(), &copy.root());
        copy
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn runs(&self) -> Runs {
        Runs::open(self.folder.path(), self.environment()).unwrap()
    }

    /// The services in a run that has begun.
    pub(crate) fn started(&self) -> Runs {
        let runs = self.runs();
        runs.start(&Start::default()).unwrap();
        runs
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
            .args(args)
            .current_dir(self.folder.path())
            .output()
            .expect("git is there");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {args:?}: {words}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn commit_all(&self, message: &str) {
        for (name, value) in [("user.name", "T"), ("user.email", "t@example.org")] {
            self.git(&["config", name, value]);
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let place = self.folder.path().join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.folder.path().join(path).exists()
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    pub(crate) fn lines(&self, path: &str) -> Vec<Value> {
        match std::fs::read_to_string(self.folder.path().join(path)) {
            Ok(text) => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Changes the configuration; git, where there is any, is left clean.
    pub(crate) fn configure(&self, change: impl FnOnce(&mut Value)) {
        let mut config = self.json("agentxchain.json");
        change(&mut config);
        self.write("agentxchain.json", &format!("{config:#}\n"));
        if self.has(".git") {
            self.commit_all("configure");
        }
    }

    /// Declares a hook that is a line for `/bin/sh`.
    pub(crate) fn hook(&self, phase: &str, name: &str, mode: &str, timeout_ms: u64, line: &str) {
        self.configure(|config| {
            let hook = json!({
                "name": name, "type": "process", "command": ["/bin/sh", "-c", line],
                "timeout_ms": timeout_ms, "mode": mode,
            });
            match config["hooks"][phase].as_array_mut() {
                Some(hooks) => hooks.push(hook),
                None => config["hooks"][phase] = json!([hook]),
            }
        });
    }

    /// Everything below the folder of the run, by path.
    pub(crate) fn home(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        collect(self.folder.path(), &self.folder.path().join(".agentxchain"), &mut files);
        files.sort();
        files
    }
}

/// Copies what is in a folder into another, as it is.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    let everything = format!("{}/.", from.display());
    let copied = Command::new("cp").args(["-a", &everything]).arg(to).status();
    assert!(copied.unwrap().success());
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            files.push((name, std::fs::read(&path).unwrap()));
        }
    }
}

/// Gives a role its turn and hands it over.
pub(crate) fn dispatched(runs: &Runs, role: &str) -> Dispatched {
    let assigned = runs.assign(Some(role)).unwrap();
    runs.dispatch(Some(assigned.turn.id())).unwrap()
}

/// A sound result of a turn; `change` may make another of it.
pub(crate) fn result(turn: &Dispatched, files: &[&str], change: impl FnOnce(&mut Value)) -> Value {
    let artifact = if files.is_empty() { "review" } else { "workspace" };
    let mut result = json!({
        "schema_version": "1.0",
        "run_id": turn.update.state.run_id().unwrap().as_str(),
        "turn_id": turn.turn.id().as_str(),
        "role": turn.turn.role(),
        "runtime_id": turn.runtime.id,
        "status": "completed",
        "summary": "did it",
        "decisions": [],
        "objections": [],
        "files_changed": files,
        "verification": {"status": "pass", "commands": ["true"], "evidence_summary": "seen",
            "machine_evidence": [{"command": "true", "exit_code": 0}]},
        "artifact": {"type": artifact},
        "proposed_next_role": "human",
    });
    change(&mut result);
    result
}

pub(crate) fn stage(repo: &Repo, turn: &Dispatched, result: &Value) {
    repo.write(&turn.staging, &result.to_string());
}

pub(crate) fn accept(runs: &Runs, turn: &TurnId) -> Result<AcceptResult, Failure> {
    runs.accept(&Accept { turn: Some(turn.clone()), ..Accept::default() })
}

/// The planning documents, filled in.
pub(crate) const PLANNING: [&str; 3] =
    [".planning/PM_SIGNOFF.md", ".planning/ROADMAP.md", ".planning/SYSTEM_SPEC.md"];

pub(crate) fn plan(repo: &Repo) {
    repo.write(PLANNING[0], "Approved: YES\n");
    repo.write(PLANNING[1], "| Req # | What |\n|---|---|\n| 1 | it works |\n");
    repo.write(
        PLANNING[2],
        "## Purpose\n\nTo work.\n\n## Interface\n\nA function.\n\n\
         ## Acceptance Tests\n\n- it runs\n",
    );
}

#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(answer: Result<T, Failure>, code: Code) -> Failure {
    let failure = answer.unwrap_err();
    assert_eq!(failure.code, code, "{failure:?}");
    failure
}
