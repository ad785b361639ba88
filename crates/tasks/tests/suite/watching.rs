//! A process that keeps a tree open notices changes by itself.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_tasks::Tree;
use accord_tasks_core::Status;
use accord_tasks_core::operations::InitRequest;
use accord_trees::Disk as _;
use accord_trees::testing::SimDisk;

use crate::support::{AGENT, Clock, World, human, ready};

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

#[test]
fn runs_that_begin_later_are_watched_until_they_end() {
    let world = World::new();
    let first = world.ready("First");
    let watching = world.tree().watch().unwrap();
    let second = world.ready("Second");
    let forge = |id| {
        let run = world.root().join(format!("runs/{id}/run.json"));
        let text = fs::read_to_string(&run).unwrap();
        fs::write(&run, text.replace("run_", "forged_")).unwrap();
    };
    for (refused, id) in [(1, first), (2, second)] {
        world.claim(id, AGENT);
        forge(id);
        wait_until("the refusal", || world.events_of("task.edit_refused").len() == refused);
    }
    // The folder of a run is replaced by another one.
    let folder = world.root().join(format!("runs/{first}"));
    fs::rename(&folder, world.root().join("away")).unwrap();
    wait_until("the folder", || folder.join("run.json").exists());
    forge(first);
    wait_until("the fourth refusal", || world.events_of("task.edit_refused").len() == 4);
    drop(watching);
}

#[test]
fn settings_and_heartbeats_are_noticed() {
    let world = World::new();
    let id = world.ready("Ship it");
    world.claim(id, AGENT);
    let watching = world.tree().watch().unwrap();
    let manifest = world.root().join("project.yaml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("review: human", "review: guide")).unwrap();
    wait_until("the settings", || world.events_of("task.edit_refused").len() == 1);
    // Another tool writes the heartbeat: the task is not taken back.
    let heartbeat = world.root().join(format!("runs/{id}/run_heartbeat.json"));
    let text = fs::read_to_string(&heartbeat).unwrap();
    fs::write(&heartbeat, text.replace("21:05:00", "23:05:00")).unwrap();
    let due = || world.poll().next_due.map(|due| due.to_string());
    wait_until("the heartbeat", || due().is_some_and(|due| *due > *"2026-02-09T21:30"));
    world.clock.add(600);
    assert!(world.poll().moves.is_empty());
    drop(watching);
}

#[test]
fn a_tree_that_the_system_cannot_watch_is_compared() {
    let disk = Arc::new(SimDisk::new());
    let tree = Tree::on(disk.clone(), "shop", Clock::default().environment()).unwrap();
    tree.init(&InitRequest::default(), &human()).unwrap();
    let id = tree.create(&ready("Ship it"), &human()).unwrap().task.id;
    let watching = tree.watch().unwrap();
    let path = format!("tasks/ready/{id}.md");
    let text = String::from_utf8(disk.files()[&path].clone()).unwrap();
    let text = text.replace("status: ready", "status: blocked");
    disk.remove_file(&path).unwrap();
    disk.create(&path, text.as_bytes()).unwrap();
    let moved = format!("tasks/blocked/{id}.md");
    wait_until("the move", || disk.files().contains_key(&moved));
    drop(watching);
}
