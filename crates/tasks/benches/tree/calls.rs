//! The operations that are measured.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use accord_base::{By, Door};
use accord_contract::Time;
use accord_tasks::{Environment, Tree};
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::{ClaimRequest, CreateRequest, InitRequest, PollRequest};
use accord_trees::Disk;
use serde_json::json;

fn by(actor: &str) -> By {
    By::parse(actor, Door::Cli).expect("an actor")
}

/// A tree under limits that let a poll look at every ready task.
fn init(tree: &Tree) {
    let request = InitRequest { max_running: Some(100_000), ..InitRequest::default() };
    tree.init(&request, &by("human:reviewer")).expect("a tree");
}

/// The tree in a folder.
pub(crate) fn tree(folder: &Path) -> Tree {
    let tree = Tree::open(folder, "shop", Environment::system()).expect("a tree");
    init(&tree);
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
    let tree = Tree::on(disk, "shop", environment).expect("a tree");
    init(&tree);
    tree
}

pub(crate) fn create(tree: &Tree, title: &str) -> TaskId {
    let mut new = CreateRequest::default();
    title.clone_into(&mut new.title);
    new.ready = Some(true);
    tree.create(&new, &by("human:reviewer")).expect("a task").task.id
}

/// Claims a task, and answers the id of the run.
pub(crate) fn claim(tree: &Tree, id: TaskId, agent: &str) -> String {
    let claim = ClaimRequest::default();
    tree.claim(&id.to_string(), &claim, &by(agent)).expect("a lease").run_id
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
    tree.message(&message, &by(agent)).expect("an answer");
}

pub(crate) fn poll(tree: &Tree) {
    tree.poll(&PollRequest::default(), &by("human:reviewer")).expect("a poll");
}
