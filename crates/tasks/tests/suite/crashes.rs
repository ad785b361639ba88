//! Whatever is cut off at any write, the tree is whole afterwards.

use std::sync::Arc;

use accord_contract::codes::Failure;
use accord_tasks::layout::RunLayout;
use accord_tasks::operations::NewTask;
use accord_tasks::{Environment, Tree};
use accord_tasks_core::lease::LeaseTimes;
use accord_tasks_core::route::Rules;
use accord_tasks_core::{Status, TaskId};
use accord_trees::testing::{Crash, SimDisk};

use crate::support::{Clock, report};

fn open(disk: &Arc<SimDisk>, boot: &str) -> Tree {
    let clock = Clock::default();
    let environment = Environment::new(move || clock.now(), || [7; 16], boot);
    Tree::on(disk.clone(), "shop", RunLayout::Guide, environment)
}

/// A step that is acknowledged or not.
type Step = Box<dyn Fn(&Tree) -> Result<(), Failure>>;

/// The steps of two tasks.
fn steps() -> Vec<Step> {
    let first = TaskId::parse("TASK-2026-02-09-001").unwrap();
    let create = |tree: &Tree| {
        let mut new = NewTask::new("Ship it", "human:reviewer");
        new.is_ready = true;
        tree.create(new).map(drop)
    };
    let times = LeaseTimes::default();
    vec![
        Box::new(create),
        Box::new(move |tree| tree.claim(first, "a", times).map(drop)),
        Box::new(create),
        Box::new(move |tree| tree.heartbeat(first, "a", None, times).map(drop)),
        Box::new(move |tree| {
            tree.receive(report(&first.to_string(), "a", "done"), Rules::default()).map(drop)
        }),
    ]
}

/// How far a tree got, by its first task.
fn progress(disk: &SimDisk) -> (usize, bool) {
    let files = disk.files();
    let has = |path: &str| files.contains_key(path);
    let status = Status::ALL
        .iter()
        .position(|status| has(&format!("tasks/{status}/TASK-2026-02-09-001.md")));
    (status.map_or(0, |status| status + 1), has("tasks/ready/TASK-2026-02-09-002.md"))
}

#[test]
fn a_crash_at_any_write_leaves_a_clean_tree_with_everything_acknowledged() {
    let disk = Arc::new(SimDisk::new());
    let tree = open(&disk, "one");
    tree.init().unwrap();
    let began = disk.operations();
    let mut states = vec![progress(&disk)];
    for step in steps() {
        step(&tree).unwrap();
        states.push(progress(&disk));
    }
    assert_eq!(tree.lint().unwrap(), []);
    let operations = disk.operations() - began;
    assert!(operations > 40, "{operations} operations are too few");
    for cut in 0..operations {
        let disk = Arc::new(SimDisk::new());
        let tree = open(&disk, "one");
        tree.init().unwrap();
        disk.stop_after(cut);
        let acknowledged = steps().iter().take_while(|step| step(&tree).is_ok()).count();
        for seed in 0..4 {
            let (crash, boot) = match seed {
                0 => (Crash::Process, "one"),
                seed => (Crash::Power(cut * 10 + seed), "two"),
            };
            let survivor = Arc::new(disk.after(crash));
            let tree = open(&survivor, boot);
            tree.poll(&accord_tasks_core::board::Limits::default()).unwrap();
            let findings = tree.lint().unwrap();
            assert_eq!(findings, [], "cut {cut}, {crash:?}");
            let found = progress(&survivor);
            let possible = &states[acknowledged..states.len().min(acknowledged + 2)];
            assert!(possible.contains(&found), "cut {cut}, {crash:?}: {acknowledged} of {found:?}");
        }
    }
}
