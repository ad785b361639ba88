//! What is answered is on the disk, once.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use accord_contract::codes::Code;
use accord_tasks::operations::{NewTask, Received};
use accord_tasks_core::lease::LeaseTimes;
use accord_tasks_core::message::detect_text;
use accord_tasks_core::route::Rules;
use accord_tasks_core::{Status, TaskId};
use serde_json::Value;

use crate::support::{report, tree};

/// The events of a tree, in order.
fn events(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("events/2026-02-09.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ready(title: &str) -> NewTask {
    let mut new = NewTask::new(title, "human:reviewer");
    new.is_ready = true;
    new
}

#[test]
fn a_task_lives_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(folder.path());
    let made = tree.create(ready("Ship it")).unwrap();
    let id = made.task().id;
    assert_eq!(id.to_string(), "TASK-2026-02-09-001");
    let file = |status: &str| folder.path().join(format!("tasks/{status}/{id}.md"));
    assert_eq!(fs::read_to_string(file("ready")).unwrap(), made.text());
    for name in ["inputs", "work", "outputs", "subtasks"] {
        assert!(folder.path().join(format!("tasks/ready/{id}/{name}")).is_dir(), "{name}");
    }
    let claimed = tree.claim(id, "swe-backend", LeaseTimes::default()).unwrap();
    assert!(!file("ready").exists() && file("in-progress").exists());
    assert_eq!(claimed.task.task().agent(), Some("swe-backend"));
    // What the agent leaves moves along.
    let outputs = folder.path().join(format!("tasks/in-progress/{id}/outputs"));
    fs::write(outputs.join("summary.md"), "Done.").unwrap();
    let run = claimed.run.run_id.clone();
    tree.heartbeat(id, "swe-backend", run.as_deref(), LeaseTimes::default()).unwrap();
    let done = tree.receive(report(&id.to_string(), "swe-backend", "done"), Rules::default());
    let Received::Done { status, .. } = done.unwrap() else { panic!("not a message") };
    assert_eq!(status, Status::Review);
    assert!(file("review").exists() && !file("in-progress").exists());
    assert!(folder.path().join(format!("tasks/review/{id}/outputs/summary.md")).exists());
    let result = fs::read_to_string(folder.path().join(format!("runs/{id}/run_result.json")));
    assert!(result.unwrap().contains("\"outcome\": \"done\""));
    let events = events(folder.path());
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let expected = [
        "task.created",
        "task.transitioned",
        "lease.acquired",
        "protocol.message.received",
        "task.completed",
        "task.transitioned",
    ];
    assert_eq!(kinds, expected);
    let numbers: Vec<u64> = events.iter().map(|event| event["eventId"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_refused_message_leaves_its_event_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(folder.path());
    let id = tree.create(ready("Ship it")).unwrap().task().id;
    let before = fs::read(folder.path().join(format!("tasks/ready/{id}.md"))).unwrap();
    let stranger = tree.receive(report(&id.to_string(), "stranger", "done"), Rules::default());
    assert_eq!(stranger.unwrap_err().code, Code::AofUnassignedTask);
    let broken = tree.receive(detect_text("AOF/1 {"), Rules::default());
    assert_eq!(broken.unwrap_err().code, Code::AofInvalidJson);
    assert_eq!(fs::read(folder.path().join(format!("tasks/ready/{id}.md"))).unwrap(), before);
    let events = events(folder.path());
    assert_eq!(events.len(), 3);
    assert_eq!(events[1]["payload"]["reason"], "unassigned_task");
}

#[test]
fn many_callers_and_trees_lose_nothing() {
    const CALLERS: usize = 8;
    const EACH: usize = 25;
    let folder = tempfile::tempdir().unwrap();
    // Two trees on one folder stand for two processes.
    let trees = [tree(folder.path()), tree(folder.path())];
    let made: BTreeSet<TaskId> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let tree = trees[caller % 2].clone();
                scope.spawn(move || {
                    let create = |_| tree.create(ready("x")).unwrap().task().id;
                    (0..EACH).map(create).collect::<Vec<_>>()
                })
            })
            .collect();
        callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    });
    assert_eq!(made.len(), CALLERS * EACH);
    let files = fs::read_dir(folder.path().join("tasks/ready")).unwrap();
    let files = files.filter(|file| {
        file.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "md")
    });
    assert_eq!(files.count(), CALLERS * EACH);
    let numbers: Vec<u64> =
        events(folder.path()).iter().map(|event| event["eventId"].as_u64().unwrap()).collect();
    let expected: Vec<u64> = (1..=(CALLERS * EACH) as u64).collect();
    assert_eq!(numbers, expected);
    // Only one of many claims the same task.
    let id = *made.first().unwrap();
    let winners = std::thread::scope(|scope| {
        let claims: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let tree = trees[caller % 2].clone();
                let agent = format!("agent-{caller}");
                scope.spawn(move || tree.claim(id, &agent, LeaseTimes::default()).is_ok())
            })
            .collect();
        claims.into_iter().map(|claim| claim.join().unwrap()).filter(|won| *won).count()
    });
    assert_eq!(winners, 1);
}
