//! Several copies of one tree, as git carries them, without git.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use accord_tasks::{Environment, Tree};
use accord_tasks_core::operations::{
    AdoptWriterRequest, ApproveRequest, ClaimRequest, InitRequest, LintQuery, MergeRequest,
    ShowQuery,
};
use accord_tasks_core::{Status, TaskId};

use crate::support::{AGENT, Clock, agent, human, ready, report};

/// What git carries of a tree.
const CARRIED: [&str; 4] = ["project.yaml", "tasks", "events", "runs"];

/// A copy of a tree, with a key of its own.
struct Copy {
    folder: tempfile::TempDir,
    tree: Tree,
}

/// The environment of a copy: its random bytes are those of no other one.
fn environment(clock: &Clock, copy: u8) -> Environment {
    let (clock, count) = (clock.clone(), AtomicU64::new(0));
    let random = move || {
        let mut bytes = [copy; 16];
        bytes[8..].copy_from_slice(&count.fetch_add(1, Ordering::AcqRel).to_be_bytes());
        bytes[8] = copy;
        bytes
    };
    Environment::new(move || clock.now(), random, "boot")
}

impl Copy {
    /// A new tree in a work tree of git.
    fn new(clock: &Clock, number: u8) -> Self {
        let copy = Self::empty(clock, number);
        copy.tree.init(&InitRequest::default(), &human()).unwrap();
        copy
    }

    fn empty(clock: &Clock, number: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        let tree = Tree::open(folder.path(), "shop", environment(clock, number)).unwrap();
        Self { folder, tree }
    }

    /// A clone of a tree.
    fn of(other: &Self, clock: &Clock, number: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        for name in CARRIED {
            carry(&other.root().join(name), &folder.path().join(name));
        }
        let tree = Tree::open(folder.path(), "shop", environment(clock, number)).unwrap();
        Self { folder, tree }
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn status(&self, id: TaskId) -> Status {
        self.tree.show(&id.to_string(), &ShowQuery::default(), &human()).unwrap().task.status
    }

    fn ready(&self, title: &str) -> TaskId {
        self.tree.create(&ready(title), &human()).unwrap().task.id
    }

    /// A task in review.
    fn reviewed(&self) -> TaskId {
        let id = self.ready("Ship it");
        self.tree.claim(&id.to_string(), &ClaimRequest::default(), &agent(AGENT)).unwrap();
        self.tree.message(&report(&id.to_string(), AGENT, "done"), &agent(AGENT)).unwrap();
        id
    }

    /// Brings files of another copy, as git does.
    fn take(&self, other: &Self, paths: &[String]) {
        for path in paths.iter().map(String::as_str).chain(["events"]) {
            carry(&other.root().join(path), &self.root().join(path));
        }
    }

    /// The writer that this copy is.
    fn writer(&self) -> String {
        let text = fs::read_to_string(self.root().join("state/accord/writer.json")).unwrap();
        let writer: serde_json::Value = serde_json::from_str(&text).unwrap();
        writer["ids"][0].as_str().unwrap().to_owned()
    }

    /// The event logs, as one text.
    fn events(&self) -> String {
        let logs = fs::read_dir(self.root().join("events")).unwrap().flatten();
        logs.filter_map(|log| fs::read_to_string(log.path()).ok()).collect()
    }
}

/// Copies a file or a folder.
fn carry(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().flatten() {
            carry(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.exists() {
        fs::copy(from, to).unwrap();
    }
}

fn file(status: Status, id: TaskId) -> String {
    format!("tasks/{status}/{id}.md")
}

#[test]
fn a_merge_of_two_tasks_with_one_id_takes_over_no_decision_of_an_unconfirmed_copy() {
    // The task with the same id is the later or the earlier one of both.
    for is_earlier in [false, true] {
        let clock = Clock::default();
        let other = is_earlier.then(|| Copy::new(&clock, 3));
        let same = other.as_ref().map(|other| other.ready("Another"));
        clock.add(10);
        let copy = Copy::new(&clock, 1);
        let id = copy.reviewed();
        let forger = Copy::of(&copy, &clock, 2);
        clock.add(10);
        forger.tree.approve(&id.to_string(), &ApproveRequest::default(), &human()).unwrap();
        let other = other.unwrap_or_else(|| Copy::new(&clock, 3));
        assert_eq!(same.unwrap_or_else(|| other.ready("Another")), id);
        // Git brings both: the approval, and the task that has the same id.
        fs::remove_file(copy.root().join(file(Status::Review, id))).unwrap();
        copy.take(&forger, &[file(Status::Done, id)]);
        copy.take(&other, &[file(Status::Ready, id)]);
        let merge = || copy.tree.merge(&MergeRequest::default(), &human()).unwrap();
        let answer = merge();
        assert_eq!(answer.merged, [], "the approval of nobody counts");
        let problem = &answer.unmerged[0].problem;
        assert!(problem.contains(&format!("adopt --writer {}", forger.writer())), "{problem}");
        assert!(!copy.events().contains("task.merged"), "{}", copy.events());
        // Once a person confirms that copy, both tasks are there.
        let confirm = AdoptWriterRequest { writer: forger.writer(), ..Default::default() };
        copy.tree.adopt_writer(&confirm, &human()).unwrap();
        let answer = merge();
        let merged: Vec<_> =
            answer.merged.iter().map(|task| (task.title.as_str(), task.status)).collect();
        let mut expected = vec![("Ship it", Status::Done), ("Another", Status::Ready)];
        if is_earlier {
            expected.reverse();
        }
        assert_eq!(merged, expected);
        for task in &answer.merged {
            assert_eq!(copy.status(task.task_id), task.status);
        }
        let lint = copy.tree.lint(&LintQuery::default(), &human()).unwrap();
        assert_eq!(lint.findings, []);
    }
}
