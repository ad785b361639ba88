//! A governed repository of a test's own, worked on by the real command.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::accord::{Ran, command, run};
use crate::wait::output_of;

/// A repository to type commands in.
pub(crate) struct Place {
    folder: TempDir,
    /// The state directory of the user, with the copies that judge turns.
    pub(crate) state: TempDir,
}

impl Place {
    /// A folder.
    pub(crate) fn new() -> Self {
        let folder = || tempfile::tempdir().expect("a folder");
        Self { folder: folder(), state: folder() }
    }

    /// A governed repository under git, with a run that has begun.
    pub(crate) fn begun() -> Self {
        Self::begun_with(|_| {})
    }

    /// The same, with a configuration of its own.
    pub(crate) fn begun_with(change: impl FnOnce(&mut Value)) -> Self {
        let place = Self::new();
        place.run("init --name Shop").yes();
        place.configure(change);
        place.git(&["init", "--quiet"]);
        place.git(&["config", "user.name", "T"]);
        place.git(&["config", "user.email", "t@example.org"]);
        place.commit();
        place.run("start").yes();
        place
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The state directory of the user.
    pub(crate) fn state(&self) -> &Path {
        self.state.path()
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Types `accord run …` in the folder.
    pub(crate) fn run(&self, words: &str) -> Ran {
        output_of(self.begin(words), format_args!("accord run {words}")).into()
    }

    /// The same, still under way.
    pub(crate) fn begin(&self, words: &str) -> Child {
        self.command(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("accord starts")
    }

    /// The same, not begun yet.
    pub(crate) fn command(&self, words: &str) -> Command {
        let words = shell_words::split(words).expect("words");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = command(&[&["run"], words.as_slice()].concat());
        command
            .current_dir(self.folder.path())
            .env("XDG_STATE_HOME", self.state.path())
            // A decision without a terminal needs the name of a person.
            .env("ACCORD_ACTOR", "human:lead");
        command
    }

    /// What a command answers to programs.
    pub(crate) fn json(&self, words: &str) -> Value {
        let said = self.run(&format!("{words} --json")).yes();
        serde_json::from_str(&said).expect("one JSON document")
    }

    pub(crate) fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.args(args).current_dir(self.folder.path());
        let ran = run(git, "");
        assert_eq!(ran.code, 0, "git {args:?}: {ran:?}");
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", "more"]);
    }

    pub(crate) fn configure(&self, change: impl FnOnce(&mut Value)) {
        self.change("agentxchain.json", change);
    }

    /// Changes a document.
    pub(crate) fn change(&self, path: &str, change: impl FnOnce(&mut Value)) {
        let mut document: Value = serde_json::from_str(&self.read(path)).expect("JSON");
        change(&mut document);
        self.write(path, &document.to_string());
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let place = self.at(path);
        std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        std::fs::write(place, text).expect("a file");
    }

    /// What a file says; nothing where there is none.
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap_or_default()
    }

    /// The lines of a record.
    pub(crate) fn lines(&self, path: &str) -> Vec<Value> {
        let text = self.read(path);
        let line = |line| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{path}: {error}: {line}"))
        };
        text.lines().map(line).collect()
    }

    /// What a killed command must not leave: journals, temporary files, the lock. Those in a turn's
    /// own folders go with them; one beside the lock may belong to a process that waits for it, and
    /// stays a minute.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let home = self.at(".agentxchain");
        let mut folders = vec![home.clone()];
        let mut left = Vec::new();
        while let Some(folder) = folders.pop() {
            let below = folder.strip_prefix(&home).expect("it is below");
            let passing =
                ["locks", "staging", "dispatch/turns"].iter().any(|own| below.starts_with(own));
            let holds_journals =
                below.ends_with("transactions/accept") || below.ends_with("transactions/accord");
            for entry in std::fs::read_dir(&folder).expect("a folder") {
                let entry = entry.expect("an entry");
                let name = entry.file_name().to_string_lossy().into_owned();
                let is_temporary = name.starts_with(".tmp-") && !passing;
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else if holds_journals || is_temporary || name == "accept-turn.lock" {
                    left.push(entry.path().display().to_string());
                }
            }
        }
        left
    }

    /// Gives a role its turn and hands it out; gives the answer.
    pub(crate) fn hand_out(&self, role: &str) -> Value {
        self.run(&format!("assign {role}")).yes();
        self.json("dispatch")
    }

    /// Gives the role its turn and stages a result, as its worker would.
    pub(crate) fn work(
        &self,
        role: &str,
        files: &[&str],
        change: impl FnOnce(&mut Value),
    ) -> String {
        let handed = self.hand_out(role);
        let turn = handed["turn"]["turn_id"].as_str().expect("an id").to_owned();
        let mut result = result(&handed["turn"], &handed["runtime_id"], files);
        change(&mut result);
        let staging = handed["staging"].as_str().expect("a path");
        self.write(staging, &result.to_string());
        turn
    }
}

/// A sound result of a turn.
pub(crate) fn result(turn: &Value, runtime: &Value, files: &[&str]) -> Value {
    json!({
        "schema_version": "1.0", "run_id": turn["run_id"], "turn_id": turn["turn_id"],
        "role": turn["assigned_role"], "runtime_id": runtime, "status": "completed",
        "summary": "planned", "decisions": [], "objections": [], "files_changed": files,
        "verification": {"status": "pass", "evidence_summary": "read"},
        "artifact": {"type": "workspace"}, "proposed_next_role": "human",
    })
}

/// The documents that the gate behind planning asks for.
pub(crate) const PLAN: [(&str, &str); 3] = [
    (".planning/PM_SIGNOFF.md", "Approved: YES\n"),
    (".planning/ROADMAP.md", "| Req # | What |\n|---|---|\n| 1 | it |\n"),
    (
        ".planning/SYSTEM_SPEC.md",
        "## Purpose\n\nx\n\n## Interface\n\nx\n\n## Acceptance Tests\n\n- x\n",
    ),
];

/// Writes them, and says where.
pub(crate) fn plan(place: &Place) -> Vec<&'static str> {
    for (path, text) in PLAN {
        place.write(path, text);
    }
    PLAN.iter().map(|(path, _)| *path).collect()
}

/// Kills a command; what it said, and whether it was still at work.
pub(crate) fn kill(mut child: Child) -> (Output, bool) {
    // That it ends by itself in between is no matter.
    let _ = child.kill();
    let output = output_of(child, "a killed command");
    let was_killed = output.status.code().is_none();
    (output, was_killed)
}

#[track_caller]
pub(crate) fn all_different<T: Ord + Clone + Debug>(found: Vec<T>, reported: &str) -> BTreeSet<T> {
    let different: BTreeSet<T> = found.iter().cloned().collect();
    assert_eq!(different.len(), found.len(), "{reported}: something is there twice: {found:?}");
    different
}

/// A member that is a text.
#[track_caller]
pub(crate) fn text<'a>(document: &'a Value, name: &str) -> &'a str {
    document[name].as_str().unwrap_or_else(|| panic!("no {name}: {document}"))
}
