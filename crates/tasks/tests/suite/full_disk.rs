//! A disk that runs full at any byte loses nothing that was acknowledged, and a refusal says
//! whether the change is recorded. A tree that cannot be written can be read.

use std::sync::Arc;

use accord_contract::{Code, Failure};
use accord_tasks::{Environment, Tree};
use accord_tasks_core::Status;
use accord_tasks_core::operations::{ClaimRequest, InitRequest, LintQuery, ListQuery, PollRequest};
use accord_trees::Disk;
use accord_trees::testing::{Crash, Limited, ReadOnly, SimDisk};

use crate::support::{Clock, agent, human, ready, report};

const FIRST: &str = "TASK-2026-02-09-001";

fn open(disk: Arc<dyn Disk>) -> Tree {
    let clock = Clock::default();
    let environment = Environment::new(move || clock.now(), || [7; 16], "one");
    Tree::on(disk, "shop", environment).unwrap()
}

/// Works until something is refused. Answers what was acknowledged, and the refusal.
fn work(tree: &Tree) -> (usize, Option<Failure>) {
    let steps: [&dyn Fn() -> Result<(), Failure>; 5] = [
        &|| tree.create(&ready("Ship it"), &human()).map(drop),
        &|| tree.claim(FIRST, &ClaimRequest::default(), &agent("a")).map(drop),
        &|| tree.create(&ready("Then this"), &human()).map(drop),
        &|| tree.message(&report(FIRST, "a", "done"), &agent("a")).map(drop),
        &|| tree.create(&ready("And this"), &human()).map(drop),
    ];
    for (done, step) in steps.iter().enumerate() {
        if let Err(failure) = step() {
            return (done, Some(failure));
        }
    }
    (steps.len(), None)
}

/// How many steps of the work a tree has.
fn done(tree: &Tree) -> usize {
    let asked = ListQuery { all: true, ..ListQuery::default() };
    let list = tree.list(&asked, &human()).unwrap();
    let first = list.tasks.iter().find(|task| task.id.to_string() == FIRST);
    let first = first.map_or(0, |task| match task.status {
        Status::Ready => 1,
        Status::InProgress => 2,
        _ => 3,
    });
    first + list.tasks.len().saturating_sub(1)
}

#[test]
fn a_disk_that_runs_full_at_any_byte_loses_nothing() {
    let unlimited = Arc::new(Limited::new(SimDisk::new(), u64::MAX));
    let tree = open(unlimited.clone());
    tree.init(&InitRequest::default(), &human()).unwrap();
    assert_eq!(work(&tree).0, 5);
    let bytes: usize = unlimited.disk().files().values().map(Vec::len).sum();
    let mut refusals = [0, 0];
    for space in (0..2 * bytes as u64).step_by(199) {
        let disk = Arc::new(Limited::new(SimDisk::new(), u64::MAX));
        let tree = open(disk.clone());
        tree.init(&InitRequest::default(), &human()).unwrap();
        disk.set_left(space);
        let (acknowledged, refusal) = work(&tree);
        let mut committed = acknowledged;
        if let Some(refusal) = refusal {
            let is_recorded = refusal.message.contains("do not send it again");
            let code = match is_recorded {
                true => Code::AofTaskChangeUnconfirmed,
                false => Code::AofTaskTreeUnavailable,
            };
            assert_eq!(refusal.code, code, "{space}: {refusal:?}");
            let is_undone =
                refusal.message.contains("The disk is full: free space, then try again");
            assert_ne!(is_recorded, is_undone, "{space}: {refusal:?}");
            assert_eq!(refusal.suggestion.is_some(), is_recorded, "{space}: {refusal:?}");
            committed += usize::from(is_recorded);
            refusals[usize::from(is_recorded)] += 1;
            // Reads have what is recorded, in this process and in others, and it is no fault.
            for tree in [&tree, &open(disk.clone())] {
                assert_eq!(done(tree), committed, "{space}: {refusal:?}");
                let findings = tree.lint(&LintQuery::default(), &human()).unwrap().findings;
                assert_eq!(findings, [], "{space}");
            }
            // A second change is refused, and not recorded.
            let again = tree.create(&ready("More"), &human()).unwrap_err();
            assert!(again.message.contains("free space, then try again"), "{space}: {again:?}");
        }
        disk.set_left(u64::MAX);
        // The same process goes on, or another one.
        let survivor = Arc::new(disk.disk().after(Crash::Process));
        for tree in [tree, open(survivor)] {
            tree.poll(&PollRequest::default(), &human()).unwrap();
            let found = done(&tree);
            assert_eq!(found, committed, "{space}: {acknowledged} were acknowledged");
            let findings = tree.lint(&LintQuery::default(), &human()).unwrap().findings;
            assert_eq!(findings, [], "{space}");
            tree.create(&ready("Afterwards"), &human()).unwrap();
        }
    }
    assert!(refusals.iter().all(|refusals| *refusals > 20), "{refusals:?} are too few");
}

#[test]
fn a_tree_that_cannot_be_written_can_be_read() {
    let disk = Arc::new(SimDisk::new());
    let tree = open(disk.clone());
    tree.init(&InitRequest::default(), &human()).unwrap();
    assert_eq!(work(&tree).0, 5);
    drop(tree);
    let files = disk.files();
    let tree = open(Arc::new(ReadOnly(disk.after(Crash::Process))));
    assert_eq!(done(&tree), 5);
    assert_eq!(tree.lint(&LintQuery::default(), &human()).unwrap().findings, []);
    let refused = tree.create(&ready("More"), &human()).unwrap_err();
    assert_eq!(refused.code, Code::AofTaskTreeUnavailable);
    assert!(refused.message.contains("read-only"), "{refused:?}");
    assert_eq!(disk.files(), files);
}
