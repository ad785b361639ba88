//! Two clones of one repository with tasks, used by two people.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::accord::{Ran, run};
use crate::memory::bare;

/// A repository without a work tree, and clones of it.
pub(crate) struct Clones {
    pub(crate) folder: TempDir,
}

/// A work tree with tasks, and the person who uses it.
pub(crate) struct Clone {
    pub(crate) path: PathBuf,
    pub(crate) person: &'static str,
}

impl Clones {
    /// Two clones of a repository with some ready tasks.
    pub(crate) fn with(titles: &[&str]) -> (Self, Clone, Clone) {
        let clones = Self { folder: tempfile::tempdir().expect("a folder") };
        git(clones.folder.path(), &["init", "-q", "--bare", "-b", "main", "hub.git"]);
        let one = clones.another("one", "human:ann");
        one.yes("init --root . --project shop");
        for title in titles {
            one.yes(&format!("create '{title}' --ready"));
        }
        one.git("add -A");
        one.git("commit -qm begin");
        one.git("push -q origin HEAD:main");
        let two = clones.another("two", "human:bob");
        (clones, one, two)
    }

    /// Two clones of a repository with some ready tasks, which trust each other.
    pub(crate) fn trusting(titles: &[&str]) -> (TempDir, Clone, Clone) {
        let (clones, one, two) = Self::with(titles);
        // Each makes a key, and confirms that of the other one.
        one.yes("create 'Of nobody'");
        one.push();
        two.git("pull -q origin main");
        two.yes("create Seed");
        two.push();
        one.git("pull -q origin main");
        one.confirms(&two);
        two.confirms(&one);
        for clone in [&one, &two] {
            clone.commit();
            clone.pull();
            clone.git("push -q origin HEAD:main");
        }
        one.git("pull -q origin main");
        (clones.folder, one, two)
    }

    pub(crate) fn another(&self, name: &str, person: &'static str) -> Clone {
        git(self.folder.path(), &["clone", "-q", "hub.git", name]);
        let clone = Clone { path: self.folder.path().join(name), person };
        clone.git("config user.name tester");
        clone.git("config user.email tester@example.org");
        clone.git("checkout -qB main");
        clone
    }
}

impl Clone {
    pub(crate) fn command(&self, words: &str) -> Command {
        let words = shell_words::split(&format!("task {words}")).expect("words");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = bare(&words);
        command.current_dir(&self.path).env("ACCORD_ACTOR", self.person);
        command
    }

    #[track_caller]
    pub(crate) fn ran(&self, words: &str) -> Ran {
        run(self.command(words), "")
    }

    #[track_caller]
    pub(crate) fn yes(&self, words: &str) -> String {
        let ran = self.ran(words);
        assert_eq!(ran.code, 0, "{}: task {words}: {ran:?}", self.path.display());
        ran.stdout
    }

    #[track_caller]
    pub(crate) fn json(&self, words: &str) -> Value {
        let ran = self.ran(&format!("{words} --json"));
        let mut document: Value = serde_json::from_str(&ran.stdout).expect("a document");
        document["result"].take()
    }

    #[track_caller]
    pub(crate) fn create(&self, words: &str) -> String {
        self.yes(&format!("create {words} --id-only")).trim().to_owned()
    }

    #[track_caller]
    pub(crate) fn status(&self, id: &str) -> String {
        self.json(&format!("show {id}"))["task"]["status"].as_str().expect("a status").to_owned()
    }

    /// The ids of tasks by their titles.
    #[track_caller]
    pub(crate) fn id(&self, title: &str) -> String {
        let list = self.json("list --all --limit 500");
        let tasks = list["tasks"].as_array().expect("tasks");
        let mut found = tasks.iter().filter(|task| task["title"] == title);
        let id = found.next().unwrap_or_else(|| panic!("{title} is not in {list}"))["id"].clone();
        assert!(found.next().is_none(), "{title} is twice in {list}");
        id.as_str().expect("an id").to_owned()
    }

    #[track_caller]
    pub(crate) fn lints_clean(&self) {
        let ran = self.ran("lint");
        assert_eq!(ran.code, 0, "{}: {ran:?}", self.path.display());
    }

    #[track_caller]
    pub(crate) fn git(&self, words: &str) -> String {
        let words = shell_words::split(words).expect("words");
        git(&self.path, &words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Commits everything, brings in what the others pushed, decides conflicts and pushes.
    #[track_caller]
    pub(crate) fn sync(&self) {
        self.git("add -A");
        let _ = try_git(&self.path, &["commit", "-qm", "work"]);
        if try_git(&self.path, &["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]).code
            != 0
        {
            self.yes("merge");
            self.git("add -A");
            self.git("commit -qm merged");
        } else if self.yes("merge") != "nothing to merge\n" {
            self.git("add -A");
            self.git("commit -qm merged");
        }
        self.git("push -q origin HEAD:main");
    }

    /// The id of the writer that this clone is.
    #[track_caller]
    pub(crate) fn writer(&self) -> String {
        let text = fs::read_to_string(self.path.join("state/accord/writer.json")).expect("a file");
        let writer: Value = serde_json::from_str(&text).expect("a document");
        let ids = writer["ids"].as_array().expect("ids");
        ids.last().and_then(Value::as_str).expect("an id").to_owned()
    }

    /// The person of this clone confirms another one.
    #[track_caller]
    pub(crate) fn confirms(&self, other: &Self) {
        self.yes(&format!("adopt --writer {} --yes", other.writer()));
    }

    /// Brings in what the other one pushed, and confirms it.
    #[track_caller]
    pub(crate) fn confirms_after_pull(&self, other: &Self) {
        let args = ["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"];
        let _ = try_git(&self.path, &args);
        self.confirms(other);
    }

    pub(crate) fn commit(&self) {
        self.git("add -A");
        let _ = try_git(&self.path, &["commit", "-qm", "work"]);
    }

    #[track_caller]
    pub(crate) fn push(&self) {
        self.commit();
        self.git("push -q origin HEAD:main");
    }

    /// Whether git needed nobody.
    pub(crate) fn pull(&self) -> bool {
        let args = ["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"];
        try_git(&self.path, &args).code == 0
    }

    /// Commits, brings in what the other one pushed, and merges. Answers what the merge says.
    #[track_caller]
    pub(crate) fn merge(&self) -> String {
        self.commit();
        self.pull();
        let said = self.yes("merge");
        assert_eq!(self.yes("merge"), "nothing to merge\n");
        self.push();
        said
    }

    /// An agent claims a task, writes an output, and reports that it is done.
    #[track_caller]
    pub(crate) fn works(&self, id: &str, agent: &str) {
        self.yes(&format!("claim {id} --as {agent}"));
        let output = self.path.join(format!("tasks/in-progress/{id}/outputs/{agent}.txt"));
        fs::write(output, agent).expect("an output");
        let report = self.path.join(format!("tasks/in-progress/{id}/outputs/report.json"));
        fs::write(report, format!("{{\"by\": \"{agent}\"}}\n")).expect("an output");
        let message = json!({
            "protocol": "aof", "version": 1, "type": "completion.report", "taskId": id,
            "fromAgent": agent, "toAgent": "dispatcher", "sentAt": "2999-01-01T00:00:00Z",
            "payload": {"outcome": "done", "summaryRef": "s", "notes": format!("by {agent}"),
                "tests": {"total": 0, "passed": 0, "failed": 0}},
        });
        let ran = run(self.command("message"), message.to_string());
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    /// The paths of the outputs of a task.
    #[track_caller]
    pub(crate) fn outputs(&self, id: &str) -> Vec<String> {
        let shown = self.task(id);
        let outputs = shown["outputs"].as_array().expect("outputs").iter();
        outputs.map(|it| it["path"].as_str().expect("a path").to_owned()).collect()
    }

    #[track_caller]
    pub(crate) fn task(&self, id: &str) -> Value {
        self.json(&format!("show {id}"))
    }

    /// A new ready task.
    #[track_caller]
    pub(crate) fn ready(&self, words: &str) -> String {
        self.create(&format!("{words} --ready"))
    }

    /// What git has to say about the work tree.
    #[track_caller]
    pub(crate) fn dirty(&self) -> String {
        self.git("status --porcelain --untracked-files=all")
    }
}

pub(crate) fn try_git(folder: &Path, args: &[&str]) -> Ran {
    let mut git = Command::new("git");
    git.args(args).current_dir(folder).env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1");
    run(git, "")
}

#[track_caller]
pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let ran = try_git(folder, args);
    assert_eq!(ran.code, 0, "git {args:?}: {ran:?}");
    ran.stdout
}
