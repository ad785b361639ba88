//! Tasks of a test's own, and where commands find them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::accord::{Ran, run};
use crate::memory::bare;
use crate::server::Server;

/// The tasks of the project `shop` in a data folder, used by the person `human:lead`.
pub(crate) struct Tasks {
    folder: TempDir,
    host: Option<Server>,
}

impl Tasks {
    /// No tasks yet, in a folder that is not served.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), host: None }
    }

    /// The same tasks, with a host that serves the folder.
    pub(crate) fn served(mut self) -> Self {
        self.host = Some(Server::start(&self.data(), &[]));
        self
    }

    /// The host.
    pub(crate) fn host(&self) -> &Server {
        self.host.as_ref().expect("a host serves the folder")
    }

    /// The folder that commands are run in.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// The tree.
    pub(crate) fn root(&self) -> PathBuf {
        self.data().join("projects/shop")
    }

    /// Writes a program of an agent, and returns its command.
    pub(crate) fn agent(&self, name: &str, script: &str) -> String {
        let path = self.folder().join(name);
        std::fs::write(&path, script).expect("a file");
        format!("sh {}", path.display())
    }

    /// A command, not yet started.
    pub(crate) fn command(&self, words: &str) -> Command {
        let words = shell_words::split(&format!("task {words}")).expect("words");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = bare(&words);
        command.current_dir(self.folder()).env("ACCORD_DATA", self.data());
        command.env("ACCORD_PROJECT", "shop").env("ACCORD_ACTOR", "human:lead");
        command
    }

    /// Runs a command.
    #[track_caller]
    pub(crate) fn ran(&self, words: &str) -> Ran {
        run(self.command(words), "")
    }

    /// Runs a command that succeeds, and returns what it prints.
    #[track_caller]
    pub(crate) fn yes(&self, words: &str) -> String {
        let ran = self.ran(words);
        assert_eq!(ran.code, 0, "task {words}: {ran:?}");
        ran.stdout
    }

    /// Runs a command with `--json`, and returns the answer of the operation.
    #[track_caller]
    pub(crate) fn json(&self, words: &str) -> Value {
        let printed = self.yes(&format!("{words} --json"));
        let mut document: Value = serde_json::from_str(&printed).expect("a document");
        assert_eq!(document["ok"], true, "{document}");
        document["result"].take()
    }

    /// Creates a task, and returns its id.
    #[track_caller]
    pub(crate) fn create(&self, words: &str) -> String {
        self.yes(&format!("create {words} --id-only")).trim().to_owned()
    }

    /// The status of a task.
    #[track_caller]
    pub(crate) fn status(&self, id: &str) -> String {
        let shown = self.json(&format!("show {id}"));
        shown["task"]["status"].as_str().expect("a status").to_owned()
    }
}

#[test]
fn without_a_host_the_store_is_not_opened() {
    let tasks = Tasks::new();
    let id = tasks.create("'First' --ready");
    tasks.yes("board");
    tasks.yes("lint");
    tasks.yes(&format!("block {id} 'no keys'"));
    assert_eq!(tasks.status(&id), "blocked");
    assert!(tasks.root().join(format!("tasks/blocked/{id}.md")).exists());
    assert!(!tasks.data().join("accord.db").exists(), "the store was opened");
}

#[test]
fn a_host_and_commands_share_the_tree() {
    let tasks = Tasks::new();
    let first = tasks.create("First --ready");
    let tasks = tasks.served();
    let second = tasks.create("Second --ready");
    let list = tasks.json("list");
    let ids: Vec<&str> = list["tasks"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["id"].as_str())
        .collect();
    assert_eq!(ids, [first.as_str(), second.as_str()]);
    // A client of the network sees the same.
    let path = "/accord/v1/projects/shop/tasks";
    let (status, document) = tasks.host().ask("GET", path, "");
    assert_eq!(status, 200, "{document}");
    assert_eq!(document["result"]["tasks"].as_array().expect("a list").len(), 2);
}

#[test]
fn a_tree_in_a_repository_is_found_from_below() {
    let tasks = Tasks::new();
    let repo = tasks.folder().join("repo");
    std::fs::create_dir_all(repo.join("src/deep")).expect("a folder");
    let at = |folder: &Path, words: &str| {
        let mut command = tasks.command(words);
        command.current_dir(folder).env_remove("ACCORD_DATA").env_remove("ACCORD_PROJECT");
        run(command, "")
    };
    // Without a project there is nothing to write into the manifest.
    assert_eq!(at(&repo, "init --root .").code, 2);
    let ran = at(&repo, "init --root . --project 'Map Service'");
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = at(&repo.join("src/deep"), "create First --ready --id-only");
    assert_eq!(ran.code, 0, "{ran:?}");
    let id = ran.stdout.trim().to_owned();
    assert!(repo.join(format!("tasks/ready/{id}.md")).exists());
    // From anywhere, by its name.
    let named = format!("show {id} --json --root {}", repo.display());
    let ran = at(tasks.folder(), &named);
    let shown: Value = serde_json::from_str(&ran.stdout).expect("a document");
    assert_eq!(shown["result"]["task"]["project_id"], "Map Service", "{ran:?}");
    let mut command = tasks.command("list");
    command.env_remove("ACCORD_DATA").env_remove("ACCORD_PROJECT").env("ACCORD_TASKS", &repo);
    assert!(run(command, "").stdout.contains(&id));
    // Another project is refused, and nothing else was made.
    let ran = at(&repo, "list --project shop");
    assert!(ran.stderr.contains("belong to the project Map Service"), "{ran:?}");
    assert!(!repo.join(".accord").exists() && !repo.join("accord.db").exists());
}

#[test]
fn a_worker_is_refused_where_the_files_are_not() {
    let tasks = Tasks::new();
    tasks.create("First --ready");
    let tasks = tasks.served();
    let url = tasks.host().url.clone();
    let mut command = tasks.command(&format!("work --agent true --as dev --once --url {url}"));
    command.env_remove("ACCORD_DATA");
    let said = run(command, "").refused("task_tree_elsewhere");
    assert!(said.contains(&url), "{said}");
    // The task was not claimed.
    assert_eq!(tasks.json("list --status ready")["tasks"].as_array().map(Vec::len), Some(1));
}
