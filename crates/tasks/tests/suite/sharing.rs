//! Several processes use one tree at the same time.

use std::collections::BTreeSet;
use std::path::Path;

use accord_tasks_core::TaskId;

use crate::processes::{Worker, say};
use crate::support::{beat, claim, create_ready, event_numbers, find_file, is_clean, open};

const PROCESSES: usize = 32;
const EACH: usize = 4;

/// Lets processes work at the same time, and answers their lines.
fn run(folder: &Path, work: &str, processes: usize) -> Vec<String> {
    let start = |number| Worker::start(folder, work, number);
    let mut workers: Vec<Worker> = (0..processes).map(start).collect();
    workers.iter_mut().for_each(Worker::go);
    workers.into_iter().flat_map(Worker::finish).collect()
}

/// The work of a process: new tasks.
pub(crate) fn create(folder: &Path, number: usize) {
    let tree = open(folder);
    for task in 0..EACH {
        let id = create_ready(&tree, &format!("{number}-{task}"));
        say(&format!("{id} {number}-{task}"));
    }
}

#[test]
fn thirty_two_processes_that_create_at_once_lose_no_task() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path());
    let lines = run(folder.path(), "create", PROCESSES);
    assert_eq!(lines.len(), PROCESSES * EACH);
    let ids: BTreeSet<&str> = lines.iter().map(|line| line.split_once(' ').unwrap().0).collect();
    assert_eq!(ids.len(), PROCESSES * EACH, "an id was given out twice");
    for line in &lines {
        let (id, title) = line.split_once(' ').unwrap();
        let file = find_file(folder.path(), TaskId::parse(id).unwrap());
        assert_eq!(file.task().title, title);
    }
    // Each task has one event, and the numbers of events have no gap. A process that comes later
    // continues with the next number.
    create_ready(&open(folder.path()), "later");
    let expected: Vec<u64> = (1..=lines.len() as u64 + 1).collect();
    assert_eq!(event_numbers(folder.path()), expected);
    is_clean(&open(folder.path()));
}

/// The work of a process: one heartbeat after another on the same task.
pub(crate) fn change(folder: &Path, _: usize) {
    let tree = open(folder);
    let shared = std::fs::read_to_string(folder.join("shared")).unwrap();
    let (id, run) = shared.split_once(' ').unwrap();
    let id = TaskId::parse(id).unwrap();
    for _ in 0..EACH {
        beat(&tree, id, "dev", run);
        say("beat");
    }
}

#[test]
fn updates_of_several_processes_are_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let tree = open(folder.path());
    let id = create_ready(&tree, "shared");
    let run = claim(&tree, id, "dev");
    std::fs::write(folder.path().join("shared"), format!("{id} {run}")).unwrap();
    let beats = self::run(folder.path(), "change", 4).len();
    assert_eq!(beats, 4 * EACH);
    let lease = find_file(folder.path(), id).task().lease.value().unwrap().clone();
    assert_eq!(lease.renew_count, Some(beats as u64));
    is_clean(&tree);
}
