//! What is answered is on the disk, once.

use std::collections::BTreeSet;
use std::fs;

use accord_contract::{Code, Value};
use accord_tasks::Tree;
use accord_tasks_core::operations::{BlockRequest, ClaimRequest, HeartbeatRequest};
use accord_tasks_core::{Status, TaskId};

use crate::support::{AGENT, agent, events, human, id, kinds, ready, report, tree};

#[test]
fn a_task_lives_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(folder.path());
    let made = tree.create(&ready("Ship it"), &human()).unwrap();
    let id = id(&made);
    assert_eq!(id.to_string(), "TASK-2026-02-09-001");
    let file = |status: &str| folder.path().join(format!("tasks/{status}/{id}.md"));
    assert!(fs::read_to_string(file("ready")).unwrap().contains("title: Ship it"));
    for name in ["inputs", "work", "outputs", "subtasks"] {
        assert!(folder.path().join(format!("tasks/ready/{id}/{name}")).is_dir(), "{name}");
    }
    let text = id.to_string();
    let claimed = tree.claim(&text, &ClaimRequest::default(), &agent(AGENT)).unwrap();
    assert!(!file("ready").exists() && file("in-progress").exists());
    assert_eq!(claimed.task.lease.as_ref().unwrap().agent, AGENT);
    // What the agent leaves moves along.
    let outputs = folder.path().join(format!("tasks/in-progress/{id}/outputs"));
    fs::write(outputs.join("summary.md"), "Done.").unwrap();
    let beat = HeartbeatRequest { run_id: Some(claimed.run_id), ..HeartbeatRequest::default() };
    tree.heartbeat(&text, &beat, &agent(AGENT)).unwrap();
    let done = tree.message(&report(&text, AGENT, "done"), &agent(AGENT)).unwrap();
    assert_eq!((done.applied, done.status), (true, Some(Status::Review)));
    assert!(file("review").exists() && !file("in-progress").exists());
    assert!(folder.path().join(format!("tasks/review/{id}/outputs/summary.md")).exists());
    let result = fs::read_to_string(folder.path().join(format!("runs/{id}/run_result.json")));
    assert!(result.unwrap().contains("\"outcome\": \"done\""));
    let events = events(folder.path());
    let expected = [
        "task.created",
        "task.transitioned",
        "lease.acquired",
        "protocol.message.received",
        "task.completed",
        "task.transitioned",
    ];
    assert_eq!(kinds(&events), expected);
    let numbers: Vec<u64> = events.iter().map(|event| event["eventId"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_refused_message_leaves_its_event_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(folder.path());
    let id = id(&tree.create(&ready("Ship it"), &human()).unwrap());
    let before = fs::read(folder.path().join(format!("tasks/ready/{id}.md"))).unwrap();
    let stranger = tree.message(&report(&id.to_string(), "stranger", "done"), &agent("stranger"));
    assert_eq!(stranger.unwrap_err().code, Code::AofUnassignedTask);
    let broken = tree.message(&Value::from("AOF/1 {"), &agent("stranger"));
    assert_eq!(broken.unwrap_err().code, Code::AofInvalidJson);
    assert_eq!(fs::read(folder.path().join(format!("tasks/ready/{id}.md"))).unwrap(), before);
    let events = events(folder.path());
    assert_eq!(events.len(), 3);
    assert_eq!(events[1]["payload"]["reason"], "unassigned_task");
}

/// The reference gives many callers the same id and loses all tasks but one.
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
                    let create = |_| id(&tree.create(&ready("x"), &human()).unwrap());
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
    let id = made.first().unwrap().to_string();
    let winners = std::thread::scope(|scope| {
        let claims: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let (tree, id) = (trees[caller % 2].clone(), id.clone());
                let by = agent(&format!("agent-{caller}"));
                scope.spawn(move || tree.claim(&id, &ClaimRequest::default(), &by).is_ok())
            })
            .collect();
        claims.into_iter().map(|claim| claim.join().unwrap()).filter(|won| *won).count()
    });
    assert_eq!(winners, 1);
}

/// The reference leaves a copy in each of the folders.
#[test]
fn moves_at_the_same_time_leave_one_copy_and_one_event_each() {
    const ROUNDS: usize = 10;
    let folder = tempfile::tempdir().unwrap();
    let trees = &[tree(folder.path()), tree(folder.path())];
    let because = BlockRequest { reason: "no key".to_owned() };
    for _ in 0..ROUNDS {
        let id = id(&trees[0].create(&ready("x"), &human()).unwrap());
        let name = id.to_string();
        let claim = |tree: &Tree| tree.claim(&name, &Default::default(), &agent(AGENT)).is_ok();
        let block = |tree: &Tree| tree.block(&name, &because, &human()).is_ok();
        let cancel = |tree: &Tree| tree.cancel(&name, &Default::default(), &human()).is_ok();
        let close = |tree: &Tree| tree.close(&name, &Default::default(), &human()).is_ok();
        let moves: [&(dyn Fn(&Tree) -> bool + Sync); 4] = [&claim, &block, &cancel, &close];
        let moved = std::thread::scope(|scope| {
            let callers: Vec<_> = moves
                .iter()
                .enumerate()
                .map(|(caller, act)| scope.spawn(move || act(&trees[caller % 2])))
                .collect();
            callers.into_iter().map(|caller| caller.join().unwrap()).filter(|moved| *moved).count()
        });
        assert!(moved > 0, "{id} was not moved");
        for suffix in [".md", ""] {
            let path = |status| folder.path().join(format!("tasks/{status}/{id}{suffix}"));
            let copies = Status::ALL.iter().filter(|status| path(**status).exists());
            assert_eq!(copies.count(), 1, "{id}{suffix}");
        }
        // Closing takes a task through several statuses; each has its event, and each event begins
        // where the one before ended.
        let events = events(folder.path());
        let moves = events.iter().filter(|event| {
            event["type"] == "task.transitioned" && event["taskId"] == name.as_str()
        });
        let moves: Vec<_> = moves.map(|event| &event["payload"]).collect();
        assert!(moves.len() >= moved, "{moves:?}");
        for pair in moves.windows(2) {
            assert_eq!(pair[0]["to"], pair[1]["from"], "{moves:?}");
        }
    }
}
