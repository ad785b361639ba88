//! What a process remembers of finished tasks.

use std::fs;

use crate::support::{open, poll};

/// The most bytes for a finished task.
const MOST: i64 = 200;

#[test]
fn a_finished_task_costs_little_memory() {
    const TASKS: i64 = 4_000;
    let folder = tempfile::tempdir().unwrap();
    open(folder.path());
    let text = "---\nschemaVersion: 1\n---\n";
    for number in 0..TASKS {
        let (day, serial) = (number / 200 + 1, number % 200 + 1);
        let name = format!("tasks/done/TASK-2026-01-{day:02}-{serial:03}.md");
        fs::write(folder.path().join(name), text).unwrap();
    }
    let mut tree = None;
    let used = allocation_counter::measure(|| {
        let open = open(folder.path());
        poll(&open);
        tree = Some(open);
    });
    let each = used.bytes_current / TASKS;
    assert!(tree.is_some() && each <= MOST, "{each} bytes for a finished task");
}
