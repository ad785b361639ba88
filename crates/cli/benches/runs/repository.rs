//! A governed repository with a history.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_contract::Code;
use accord_runs::operations::{Accept, InitOptions, Start, init};
use accord_runs::repository::Repository;
use accord_runs::{Environment, Reading, Runs};
use accord_trees::Root;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::floor::{DiskOperation, RecordingDisk};

const STATE: &str = ".agentxchain/state.json";
const HISTORY: &str = ".agentxchain/history.jsonl";
const LEDGER: &str = ".agentxchain/decision-ledger.jsonl";
const EVENTS: &str = ".agentxchain/events.jsonl";

/// Which files turns change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Files {
    /// One of so many, in turns.
    Same(usize),
    /// Each one of its own.
    New,
}

pub(crate) struct Governed {
    folder: TempDir,
    files: Files,
    git: bool,
    summary: String,
    /// How many turns were accepted.
    turns: usize,
}

impl Governed {
    /// A repository in whose run so many turns were accepted.
    pub(crate) fn new(turns: usize, files: Files, git: bool) -> Self {
        let summary = "What was to be done in this turn is done, and it was looked at.";
        Self::with_summary(turns, files, git, summary.to_owned())
    }

    /// The same, where every turn has this summary.
    pub(crate) fn with_summary(turns: usize, files: Files, git: bool, summary: String) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        init(folder.path(), &InitOptions::default(), &Environment::system()).expect("it begins");
        let mut governed = Self { folder, files, git, summary, turns: 0 };
        if git {
            for words in ["init --quiet", "config user.name T", "config user.email t@example.org"] {
                governed.git(words);
            }
            governed.git("add --all");
            governed.commit();
        }
        governed.runs().start(&Start::default()).expect("it starts");
        governed.accept();
        governed.write_history(turns);
        governed
    }

    /// Accepts a turn; how long that took.
    pub(crate) fn accept(&mut self) -> Duration {
        self.stage();
        self.accept_staged()
    }

    /// Accepts a turn when nothing is kept of what the history says, so that all of it is read.
    pub(crate) fn accept_unread(&mut self) -> Duration {
        self.stage();
        // It may not be there: a short history is read each time.
        let _ = std::fs::remove_file(self.at(".agentxchain/transactions/index/run.json"));
        self.accept_staged()
    }

    /// Accepts a turn whose file stays uncommitted.
    pub(crate) fn leave_uncommitted(&mut self) {
        self.stage();
        self.runs().accept(&Accept::default()).expect("it is accepted");
        self.turns += 1;
    }

    /// Assigns a turn, which is refused until the last one is committed; how long that took.
    pub(crate) fn assign_refused(&self) -> Duration {
        let began = Instant::now();
        let refused = self.runs().assign(Some("pm")).expect_err("a checkpoint comes first");
        let took = began.elapsed();
        assert_eq!(refused.code, Code::XchainCheckpointRequired);
        took
    }

    /// Reads the status; how long that took.
    pub(crate) fn status(&self) -> Duration {
        let began = Instant::now();
        self.runs().status().expect("it is read");
        began.elapsed()
    }

    /// Commits the last turn; how long that took.
    pub(crate) fn checkpoint(&self) -> Duration {
        let began = Instant::now();
        let made = self.runs().checkpoint(None).expect("there is something to commit");
        let took = began.elapsed();
        assert_eq!(made.turns.len(), 1);
        took
    }

    /// How long git alone takes to find the changes.
    pub(crate) fn git_status(&self) -> Duration {
        let began = Instant::now();
        let status = ["status", "--porcelain=v2", "--untracked-files=all", "--", "src"];
        let done = Command::new("git").args(status).current_dir(self.folder.path()).output();
        assert!(done.expect("git is there").status.success());
        began.elapsed()
    }

    fn accept_staged(&mut self) -> Duration {
        let began = Instant::now();
        let runs = self.runs();
        runs.accept(&Accept::default()).expect("it is accepted");
        let took = began.elapsed();
        self.over();
        took
    }

    /// Accepts a turn, and notes what was written.
    pub(crate) fn record(&mut self) -> Vec<DiskOperation> {
        self.stage();
        let root = Root::open(self.folder.path()).expect("a folder");
        let (disk, operations) = RecordingDisk::new(root);
        let repository = Repository::on(Arc::new(disk));
        let runs = Runs::on(repository, Environment::system(), Reading::Full);
        runs.accept(&Accept::default()).expect("it is accepted");
        self.over();
        std::mem::take(&mut *operations.lock().expect("no panic"))
    }

    /// Gives out a turn, does its work and stages its result.
    fn stage(&self) {
        let runs = self.runs();
        runs.assign(Some("pm")).expect("it is assigned");
        let turn = runs.dispatch(None).expect("it is handed out");
        let file = self.file(self.turns);
        self.write(&file, &format!("turn {}\n", self.turns));
        let result = json!({
            "schema_version": "1.0",
            "run_id": turn.update.state.run_id().expect("a run").as_str(),
            "turn_id": turn.turn.id().as_str(),
            "role": "pm",
            "runtime_id": turn.runtime.id,
            "status": "completed",
            "summary": self.summary,
            "decisions": [{"id": format!("DEC-{:03}", self.turns + 1), "category": "scope",
                "statement": "This turn does what the plan says and nothing beside.",
                "rationale": "It is enough."}],
            "objections": [],
            "files_changed": [file],
            "verification": {"status": "pass", "commands": ["true"],
                "evidence_summary": "It was seen.",
                "machine_evidence": [{"command": "true", "exit_code": 0}]},
            "artifact": {"type": "workspace"},
            "proposed_next_role": "pm",
        });
        self.write(&turn.staging, &result.to_string());
    }

    fn over(&mut self) {
        self.turns += 1;
        if self.git {
            self.git("add src");
            self.commit();
        }
    }

    /// Writes the records of further turns like the first, until there are so many.
    fn write_history(&mut self, turns: usize) {
        let entry = self.first(HISTORY, "turn_id");
        let decision = self.first(LEDGER, "id");
        let event = self.first(EVENTS, "turn");
        let (mut history, mut ledger, mut events) = (String::new(), String::new(), String::new());
        for turn in 1..turns {
            let id = format!("turn_{turn:016x}");
            let mut entry = entry.clone();
            entry["turn_id"] = id.as_str().into();
            entry["accepted_sequence"] = (2 * turn + 2).into();
            entry["files_changed"] = json!([self.file(turn)]);
            if self.git {
                let observed = &mut entry["observed_artifact"];
                observed["files_changed"] = json!([self.file(turn)]);
                observed["file_markers"] = json!({self.file(turn): "sha256:00"});
            }
            entry["decisions"][0]["id"] = format!("DEC-{:03}", turn + 1).into();
            let mut decision = decision.clone();
            decision["id"] = entry["decisions"][0]["id"].clone();
            decision["turn_id"] = id.as_str().into();
            let mut event = event.clone();
            event["event_id"] = format!("evt_{turn:016x}").into();
            event["turn"]["turn_id"] = id.as_str().into();
            for (record, line) in
                [(&mut history, entry), (&mut ledger, decision), (&mut events, event)]
            {
                writeln!(record, "{line}").expect("a text takes everything");
            }
        }
        for (path, more) in [(HISTORY, history), (LEDGER, ledger), (EVENTS, events)] {
            self.append(path, &more);
        }
        let mut state: Value = serde_json::from_str(&self.read(STATE)).expect("a state");
        state["turn_sequence"] = (2 * turns).into();
        self.write(STATE, &format!("{state:#}\n"));
        self.turns = turns;
    }

    /// The first line of a record that has this member.
    fn first(&self, path: &str, member: &str) -> Value {
        let text = self.read(path);
        let mut lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let found =
            lines.find(|line: &Value| line.get(member).is_some_and(|member| !member.is_null()));
        found.expect("there is one")
    }

    fn file(&self, turn: usize) -> String {
        match self.files {
            Files::Same(many) => format!("src/module_{}.rs", turn % many),
            Files::New => format!("src/module_{turn}.rs"),
        }
    }

    fn runs(&self) -> Runs {
        Runs::open(self.folder.path(), Environment::system()).expect("it is governed")
    }

    /// Commits as a checkpoint does: what turns changed, and not the records of the run.
    fn commit(&self) {
        self.git("commit --quiet --allow-empty --message turn");
    }

    fn git(&self, words: &str) {
        let done =
            Command::new("git").args(words.split(' ')).current_dir(self.folder.path()).status();
        assert!(done.expect("git is there").success(), "git {words}");
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).expect("a file")
    }

    fn append(&self, path: &str, text: &str) {
        let file = OpenOptions::new().append(true).open(self.at(path));
        file.and_then(|mut file| file.write_all(text.as_bytes())).expect("a file");
    }

    fn write(&self, path: &str, text: &str) {
        let at = self.at(path);
        std::fs::create_dir_all(at.parent().unwrap_or(Path::new(""))).expect("a folder");
        std::fs::write(at, text).expect("a file");
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(path)
    }
}
