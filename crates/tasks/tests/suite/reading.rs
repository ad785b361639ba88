//! Readers see each task exactly once while it moves.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use accord_tasks::Tree;
use accord_tasks_core::Status;
use accord_tasks_core::operations::{BlockRequest, ListQuery, UnblockRequest};
use accord_tasks_core::task::TaskFile;

use crate::support::{World, human};

/// The most attempts of a reader of folders.
const ATTEMPTS: usize = 10_000;

#[test]
fn a_moving_task_is_seen_once() {
    const MOVES: usize = 60;
    let world = World::new();
    let ids: Vec<_> = (0..3).map(|_| world.ready("Ship it")).collect();
    let environment = world.clock.environment();
    let other = Tree::open(world.root(), "shop", environment).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Another process reads through the interface.
        let listed = scope.spawn(|| {
            let mut rounds = 0;
            while !is_over.load(Ordering::Acquire) || rounds == 0 {
                let list = other.list(&ListQuery::default(), &human()).unwrap();
                let mut found: Vec<_> = list.tasks.iter().map(|task| task.id).collect();
                found.sort_unstable();
                assert_eq!(found, ids, "each task once");
                assert!(list.damaged.is_empty(), "{:?}", list.damaged);
                rounds += 1;
            }
            rounds
        });
        // A program reads the folders. A listing of several folders is not one moment, so it reads
        // again if a task is missing or twice.
        let read = scope.spawn(|| {
            let mut rounds = 0;
            while !is_over.load(Ordering::Acquire) || rounds == 0 {
                let is_whole = (0..ATTEMPTS).any(|_| {
                    let found = listing(&world);
                    ids.iter().all(|id| found.get(&format!("{id}.md")) == Some(&1))
                });
                assert!(is_whole, "no listing had every task once");
                rounds += 1;
            }
            rounds
        });
        // A file that is opened is a whole task, wherever it is.
        let opened = scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                for status in [Status::Ready, Status::Blocked] {
                    if let Ok(text) = fs::read_to_string(world.file(status, ids[0])) {
                        TaskFile::read(&text).unwrap();
                    }
                }
            }
        });
        for _ in 0..MOVES {
            for id in &ids {
                let request = BlockRequest { reason: "wait".into() };
                let id = id.to_string();
                world.tree().block(&id, &request, &human()).unwrap();
                world.tree().unblock(&id, &UnblockRequest::default(), &human()).unwrap();
            }
        }
        is_over.store(true, Ordering::Release);
        assert!(listed.join().unwrap() > 0 && read.join().unwrap() > 0);
        opened.join().unwrap();
    });
    assert!(world.events_of("task.edit_refused").is_empty());
    let numbers = world.own_event_numbers();
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected);
}

/// How often each name is in the folders of statuses.
fn listing(world: &World) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for status in Status::ALL {
        let folder = world.root().join(format!("tasks/{status}"));
        for entry in fs::read_dir(folder).unwrap() {
            *found.entry(entry.unwrap().file_name().into_string().unwrap()).or_default() += 1;
        }
    }
    found
}
