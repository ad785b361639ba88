//! The operations that are measured.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use accord_contract::time::Time;
use accord_tasks::layout::RunLayout;
use accord_tasks::operations::NewTask;
use accord_tasks::{Environment, Tree};
use accord_tasks_core::TaskId;
use accord_tasks_core::board::Limits;
use accord_tasks_core::lease::LeaseTimes;
use accord_tasks_core::message::detect;
use accord_tasks_core::route::Rules;
use accord_trees::Disk;
use serde_json::json;

/// The tree in a folder.
pub(crate) fn tree(folder: &Path) -> Tree {
    let tree = Tree::open(folder, "shop", Environment::system()).expect("a tree");
    tree.init().expect("a tree");
    tree
}

/// A new tree on a disk, whose clock goes on by a day with each number of readings: so ids are
/// spread over dates.
pub(crate) fn tree_on(disk: Arc<dyn Disk>, a_day: u64) -> Tree {
    let start = Time::parse_rfc3339("2026-02-09T09:00:00Z").expect("a time");
    let readings = AtomicU64::new(0);
    let clock = move || {
        let days = readings.fetch_add(1, Ordering::Relaxed) / a_day;
        start.add_seconds(86_400 * i64::try_from(days).expect("a day"))
    };
    let environment = Environment::new(clock, accord_system::random::<16>, "boot");
    let tree = Tree::on(disk, "shop", RunLayout::Guide, environment);
    tree.init().expect("a tree");
    tree
}

pub(crate) fn create(tree: &Tree, title: &str) -> TaskId {
    let mut new = NewTask::new(title, "human:reviewer");
    new.is_ready = true;
    tree.create(new).expect("a task").task().id
}

/// Claims a task, and answers the id of the run.
pub(crate) fn claim(tree: &Tree, id: TaskId, agent: &str) -> String {
    let claimed = tree.claim(id, agent, LeaseTimes::default()).expect("a lease");
    claimed.run.run_id.expect("a run")
}

pub(crate) fn report(tree: &Tree, id: TaskId, agent: &str, run: &str) {
    let message = json!({
        "protocol": "aof",
        "version": 1,
        "type": "completion.report",
        "projectId": "shop",
        "taskId": id.to_string(),
        "fromAgent": agent,
        "toAgent": "dispatcher",
        "sentAt": accord_system::now().to_string(),
        "runId": run,
        "payload": {
            "outcome": "done",
            "summaryRef": "outputs/summary.md",
            "tests": {"total": 3, "passed": 3, "failed": 0},
            "notes": "ok",
        },
    });
    tree.receive(detect(&message), Rules::default()).expect("an answer");
}

/// A poll under limits that let it look at every ready task.
pub(crate) fn poll(tree: &Tree) {
    let limits = Limits { running: usize::MAX, ..Limits::default() };
    tree.poll(&limits).expect("a poll");
}
