//! A process that keeps a tree open notices changes by itself.

use std::fs;
use std::time::{Duration, Instant};

use accord_tasks_core::Status;

use crate::support::World;

/// Waits until something holds, at most for a while.
fn wait_until(what: &str, holds: impl Fn() -> bool) -> Duration {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
    began.elapsed()
}

#[test]
fn changes_are_noticed_without_an_operation() {
    let world = World::new();
    let id = world.ready("Ship it");
    let leased = world.ready("Leased");
    world.claim(leased, "swe-backend");
    let watching = world.tree().watch().unwrap();
    // A person moves a task.
    fs::rename(world.file(Status::Ready, id), world.file(Status::Backlog, id)).unwrap();
    wait_until("the move", || world.events_of("task.transitioned").len() == 2);
    // An agent edits what decides about it.
    let path = world.file(Status::InProgress, leased);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("status: in-progress", "status: done")).unwrap();
    wait_until("the refusal", || world.events_of("task.edit_refused").len() == 1);
    wait_until("the undoing", || {
        fs::read_to_string(&path).is_ok_and(|text| text.contains("status: in-progress"))
    });
    // Its run as well.
    let run = world.root().join(format!("runs/{leased}/run.json"));
    let text = fs::read_to_string(&run).unwrap();
    fs::write(&run, text.replace("run_", "forged_")).unwrap();
    wait_until("the second refusal", || world.events_of("task.edit_refused").len() == 2);
    drop(watching);
    // What the process itself writes is not reported.
    let events = world.events().len();
    let watching = world.tree().watch().unwrap();
    world.report(leased, "swe-backend", "done").unwrap();
    let own = world.events().len();
    assert!(own > events);
    fs::write(world.root().join("tasks/ready/x.md"), "x").unwrap();
    drop(watching);
    assert_eq!(world.events().len(), own);
}
