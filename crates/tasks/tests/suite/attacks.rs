//! What an agent with its user's rights edits, and what becomes of it.
//!
//! Each attack changes files between two operations. The next operation, of the same process or of
//! another one, must see what Accord committed. `docs/reference/task-trust.md` lists what is not
//! stopped.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use accord_contract::Value;
use accord_tasks::Tree;
use accord_tasks_core::operations::{AdoptRequest, HeartbeatRequest, PollRequest, PromoteRequest};
use accord_tasks_core::{Status, TaskId};

use crate::support::{World, agent, human};

/// A world with a leased task, and another one that the first depends on.
fn leased() -> (World, TaskId) {
    let world = World::new();
    let id = world.ready("Ship it");
    world.claim(id, "swe-backend");
    (world, id)
}

/// Undoes nothing by itself: what holds is read by a process that was open, and by a new one.
fn held(world: &World, id: TaskId) {
    world.look();
    let file = world.file(Status::InProgress, id);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("status: in-progress"), "{text}");
    assert!(text.contains("agent: swe-backend"), "{text}");
    assert!(!text.contains("reviewRequired"), "{text}");
    assert_eq!(world.copies(id), [Status::InProgress], "the task is at one place");
    assert_eq!(world.lint(), Vec::<String>::new());
    // The lease is that of the agent: its report goes to review, and no further.
    world.report(id, "swe-backend", "done").unwrap();
    assert_eq!(world.copies(id), [Status::Review]);
}

/// Runs an attack on a leased task, seen by the process that was open, and by a new one.
fn refused(attack: impl Fn(&World, TaskId)) {
    for is_new in [false, true] {
        let (mut world, id) = leased();
        attack(&world, id);
        if is_new {
            world.reopen();
        }
        world.look();
        let refusals = world.events_of("task.edit_refused");
        assert_eq!(refusals.len(), 1, "one event per refused edit: {refusals:?}");
        world.look();
        assert_eq!(world.events_of("task.edit_refused").len(), 1, "it is not reported again");
        held(&world, id);
    }
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from:?} is not in {text}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

fn file(world: &World, id: TaskId) -> PathBuf {
    world.file(Status::InProgress, id)
}

#[test]
fn status_done_in_the_front_matter() {
    refused(|world, id| edit(&file(world, id), "status: in-progress", "status: done"));
}

#[test]
fn the_file_moved_to_done() {
    refused(|world, id| fs::rename(file(world, id), world.file(Status::Done, id)).unwrap());
}

#[test]
fn the_file_moved_to_done_with_its_status() {
    refused(|world, id| {
        edit(&file(world, id), "status: in-progress", "status: done");
        fs::rename(file(world, id), world.file(Status::Done, id)).unwrap();
        fs::rename(world.folder(Status::InProgress, id), world.folder(Status::Done, id)).unwrap();
    });
}

#[test]
fn a_copy_in_done() {
    refused(|world, id| {
        let text = fs::read_to_string(file(world, id)).unwrap();
        let text = text.replace("status: in-progress", "status: done");
        fs::write(world.file(Status::Done, id), text).unwrap();
    });
}

#[test]
fn the_lease_of_another_agent() {
    refused(|world, id| edit(&file(world, id), "agent: swe-backend", "agent: intruder"));
}

#[test]
fn a_lease_without_an_end() {
    refused(|world, id| {
        let text = fs::read_to_string(file(world, id)).unwrap();
        let line = text.lines().find(|line| line.contains("expiresAt:")).unwrap();
        edit(&file(world, id), line, "  expiresAt: 2999-01-01T00:00:00.000Z");
    });
}

#[test]
fn no_lease() {
    refused(|world, id| {
        let text = fs::read_to_string(file(world, id)).unwrap();
        let (head, tail) = text.split_once("lease:\n").unwrap();
        let rest: String =
            tail.split_inclusive('\n').skip_while(|line| line.starts_with(' ')).collect();
        fs::write(file(world, id), format!("{head}{rest}")).unwrap();
    });
}

#[test]
fn no_review() {
    refused(|world, id| {
        edit(&file(world, id), "metadata: {}", "metadata:\n  reviewRequired: false");
    });
}

#[test]
fn a_reviewer_of_its_own() {
    refused(|world, id| {
        edit(&file(world, id), "metadata: {}", "metadata:\n  reviewBy: agent");
    });
}

#[test]
fn no_dependencies() {
    for is_new in [false, true] {
        let mut world = World::new();
        let first = world.ready("First");
        let second = world.waiting("Second", &[first]);
        world.finish(first);
        world.tree().poll(&PollRequest::default(), &human()).unwrap();
        let request = PromoteRequest::default();
        drop(world.tree().promote(&second.to_string(), &request, &human()));
        world.claim(second, "swe-backend");
        let path = world.file(Status::InProgress, second);
        let line = format!("- {first}");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(&line), "{text}");
        let text = text.replace(&format!("dependsOn:\n  {line}"), "dependsOn: []");
        fs::write(&path, text).unwrap();
        if is_new {
            world.reopen();
        }
        world.look();
        assert!(fs::read_to_string(&path).unwrap().contains(&line));
        assert_eq!(world.events_of("task.edit_refused").len(), 1);
    }
}

#[test]
fn another_routing_and_priority() {
    refused(|world, id| {
        edit(&file(world, id), "priority: normal", "priority: critical");
        edit(&file(world, id), "routing:", "routing:\n  agent: intruder");
    });
}

#[test]
fn a_broken_front_matter() {
    refused(|world, id| edit(&file(world, id), "status: in-progress", "status: [in-progress"));
}

#[test]
fn the_id_of_another_task() {
    refused(|world, id| {
        edit(&file(world, id), &format!("id: {id}"), "id: TASK-2026-02-09-777");
    });
}

#[test]
fn no_file() {
    refused(|world, id| fs::remove_file(file(world, id)).unwrap());
}

#[test]
fn a_link_instead_of_the_file() {
    refused(|world, id| {
        let other = world.root().join("elsewhere.md");
        let text = fs::read_to_string(file(world, id)).unwrap();
        fs::write(&other, text.replace("agent: swe-backend", "agent: intruder")).unwrap();
        fs::remove_file(file(world, id)).unwrap();
        symlink(&other, file(world, id)).unwrap();
    });
}

#[test]
fn a_link_instead_of_the_folder() {
    for is_new in [false, true] {
        let (mut world, id) = leased();
        let victim = world.root().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("kept"), "x").unwrap();
        let folder = world.folder(Status::InProgress, id);
        fs::remove_dir_all(&folder).unwrap();
        symlink(&victim, &folder).unwrap();
        if is_new {
            world.reopen();
        }
        world.notice(id);
        assert!(fs::symlink_metadata(&folder).unwrap().is_dir());
        assert!(folder.join("outputs").is_dir());
        assert!(victim.join("kept").exists() && !victim.join("outputs").exists());
        assert_eq!(world.events_of("task.edit_refused").len(), 1);
        held(&world, id);
    }
}

#[test]
fn the_run_of_another_agent() {
    refused(|world, id| {
        let path = world.root().join(format!("runs/{id}/run.json"));
        let text = fs::read_to_string(&path).unwrap();
        let run: Value = serde_json::from_str(&text).unwrap();
        let run = run["runId"].as_str().unwrap();
        fs::write(&path, text.replace(run, "run_forged")).unwrap();
    });
}

#[test]
fn a_link_instead_of_a_status_folder() {
    // The tasks in it are not gone: nothing is decided until the folder is back.
    for is_new in [false, true] {
        let (mut world, id) = leased();
        let (folder, away) = (world.root().join("tasks/in-progress"), world.root().join("away"));
        fs::rename(&folder, &away).unwrap();
        symlink("../tasks/ready", &folder).unwrap();
        if is_new {
            world.reopen();
            let refused = world.try_claim(id, "other").unwrap_err();
            assert_eq!(refused.code.as_str(), "task_tree_unavailable");
        }
        assert!(world.lint().contains(&"not_a_folder".to_owned()));
        fs::remove_file(&folder).unwrap();
        fs::rename(&away, &folder).unwrap();
        assert!(world.events_of("task.deleted").is_empty());
        held(&world, id);
    }
}

#[test]
fn an_edit_at_the_same_time_as_the_report() {
    // The report is decided on the committed state, even before the edit is noticed.
    let (world, id) = leased();
    edit(&file(&world, id), "metadata: {}", "metadata:\n  reviewRequired: false");
    world.report(id, "swe-backend", "done").unwrap();
    assert_eq!(world.copies(id), [Status::Review]);
    assert_eq!(world.events_of("task.edit_refused").len(), 1);
    assert_eq!(world.lint(), Vec::<String>::new());
}

#[test]
fn a_review_that_an_edit_ends() {
    for to in [Status::Done, Status::InProgress, Status::Cancelled, Status::Ready] {
        for is_new in [false, true] {
            let (mut world, id) = leased();
            world.report(id, "swe-backend", "done").unwrap();
            let path = world.file(Status::Review, id);
            edit(&path, "status: review", &format!("status: {to}"));
            fs::rename(&path, world.file(to, id)).unwrap();
            if is_new {
                world.reopen();
            }
            world.look();
            assert_eq!(world.copies(id), [Status::Review], "{to}");
            let refusals = world.events_of("task.edit_refused");
            assert_eq!(refusals.len(), 1);
            let change = &refusals[0]["payload"]["changes"]["status"];
            assert_eq!(change["accord"], "review");
            assert_eq!(change["file"], to.as_str());
            assert_eq!(world.lint(), Vec::<String>::new());
        }
    }
}

#[test]
fn a_review_that_a_lease_would_free() {
    // A lease in a file that is not in progress does not make the task another tool's.
    let (world, id) = leased();
    world.report(id, "swe-backend", "done").unwrap();
    let path = world.file(Status::Review, id);
    let lease = "lease:\n  agent: x\n  acquiredAt: 2026-02-09T21:00:00.000Z\n  \
                 expiresAt: 2026-02-09T22:00:00.000Z\n  renewCount: 0\n";
    edit(&path, "createdAt:", &format!("{lease}createdAt:"));
    world.look();
    edit(&path, "status: review", "status: done");
    world.look();
    assert_eq!(world.copies(id), [Status::Review]);
}

#[test]
fn a_deleted_review() {
    let (mut world, id) = leased();
    world.report(id, "swe-backend", "done").unwrap();
    fs::remove_file(world.file(Status::Review, id)).unwrap();
    world.reopen();
    world.look();
    assert_eq!(world.copies(id), [Status::Review]);
    assert_eq!(world.events_of("task.edit_refused").len(), 1);
}

#[test]
fn the_settings_of_the_tree() {
    for is_new in [false, true] {
        let (mut world, id) = leased();
        let manifest = world.root().join("project.yaml");
        let text = fs::read_to_string(&manifest).unwrap();
        let text: String = text
            .split_inclusive('\n')
            .filter(|line| !line.starts_with("review:") && !line.starts_with("apply:"))
            .collect();
        fs::write(&manifest, format!("{text}review: guide\napply: session-end\n")).unwrap();
        let settings = world.root().join("state/accord/settings.json");
        let forged = fs::read_to_string(&settings).unwrap().replace("human", "guide");
        fs::write(&settings, forged).unwrap();
        if is_new {
            world.reopen();
        }
        world.look();
        let refusals = world.events_of("task.edit_refused");
        assert_eq!(refusals.len(), 1);
        assert_eq!(refusals[0]["payload"]["changes"]["review"]["file"], "guide");
        assert!(fs::read_to_string(&manifest).unwrap().contains("review: human"));
        assert!(fs::read_to_string(&settings).unwrap().contains("human"));
        world.report(id, "swe-backend", "done").unwrap();
        assert_eq!(world.copies(id), [Status::Review]);
    }
}

#[test]
fn the_state_removed_while_a_process_has_it() {
    let (world, id) = leased();
    fs::remove_dir_all(world.root().join("state")).unwrap();
    edit(&file(&world, id), "metadata: {}", "metadata:\n  reviewRequired: false");
    world.look();
    assert_eq!(world.events_of("task.edit_refused").len(), 1);
    held(&world, id);
}

#[test]
fn the_state_removed_while_no_process_has_it() {
    let (mut world, id) = leased();
    world.close();
    fs::remove_dir_all(world.root().join("state")).unwrap();
    edit(&file(&world, id), "metadata: {}", "metadata:\n  reviewRequired: false");
    world.reopen();
    // The agent cannot go on: a person must look first.
    let refused = world.report(id, "swe-backend", "done").unwrap_err();
    assert_eq!(refused.code.as_str(), "task_needs_adopt");
    assert_eq!(world.lint(), ["committed_state_missing"]);
    assert_eq!(world.events_of("system.recovery").len(), 1);
    // Nor can an edit make the task another tool's, or end it.
    edit(&file(&world, id), "status: in-progress", "status: done");
    world.look();
    assert_eq!(world.copies(id), [Status::InProgress]);
    world.adopt(id);
    world.tree().adopt_settings(&AdoptRequest::default(), &human()).unwrap();
    assert_eq!(world.lint(), Vec::<String>::new());
    world.report(id, "swe-backend", "done").unwrap();
}

/// Removes the log while no process has the tree, then whatever else says that Accord gave out the
/// lease, except for one trace.
fn needs_a_person(forge: impl Fn(&World, TaskId)) {
    let (mut world, id) = leased();
    world.close();
    fs::remove_dir_all(world.root().join("state")).unwrap();
    forge(&world, id);
    edit(&file(&world, id), "metadata: {}", "metadata:\n  reviewRequired: false");
    world.reopen();
    assert!(world.lint().contains(&"committed_state_missing".to_owned()), "{:?}", world.lint());
    let refused = world.report(id, "swe-backend", "done").unwrap_err();
    assert_eq!(refused.code.as_str(), "task_needs_adopt");
    edit(&file(&world, id), "status: in-progress", "status: done");
    world.look();
    assert_eq!(world.copies(id), [Status::InProgress]);
}

/// Takes the ids of the run out of its artifacts.
fn without_run_ids(world: &World, id: TaskId) {
    for name in ["run.json", "run_heartbeat.json"] {
        let path = world.root().join(format!("runs/{id}/{name}"));
        let mut run: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        run.as_object_mut().unwrap().remove("runId").expect("Accord gives every run an id");
        fs::write(path, run.to_string()).unwrap();
    }
}

/// Keeps the lines of the event log that a test likes.
fn keep_events(world: &World, keep: impl Fn(&str) -> bool) {
    let log = crate::support::log_of(world.root(), "2026-02-09");
    let text = fs::read_to_string(&log).unwrap();
    let kept: String = text.split_inclusive('\n').filter(|line| keep(line)).collect();
    assert_ne!(kept, text);
    fs::write(log, kept).unwrap();
}

#[test]
fn a_lease_that_pretends_to_be_another_tools() {
    // The event of the lease is left.
    needs_a_person(without_run_ids);
    // The run is left.
    needs_a_person(|world, _| keep_events(world, |_| false));
    // The event is taken out from between the others.
    needs_a_person(|world, id| {
        without_run_ids(world, id);
        keep_events(world, |line| !line.contains("lease.acquired"));
        assert!(world.events().iter().any(|event| event["eventId"] == 1));
        let log = crate::support::log_of(world.root(), "2026-02-09");
        let text = fs::read_to_string(&log).unwrap();
        let later = "{\"eventId\":4,\"type\":\"task.updated\",\"timestamp\":\
                     \"2026-02-09T21:00:00.000Z\",\"actor\":\"x\",\"payload\":{},\
                     \"writer\":\"accord\"}\n";
        fs::write(log, format!("{text}{later}")).unwrap();
    });
}

#[test]
fn forged_event_lines() {
    let (mut world, id) = leased();
    let log = crate::support::log_of(world.root(), "2026-02-09");
    let mut text = fs::read_to_string(&log).unwrap();
    let before = text.lines().count();
    // The reference's lines count from 1 again, and one has no end.
    text.push_str("{\"eventId\":1,\"type\":\"task.updated\",\"actor\":\"x\",\"payload\":{}}\n");
    text.push_str("not json\n{\"eventId\":99,\"type\":\"x\",\"actor\":\"x\",\"payload\":{}}");
    fs::write(&log, text).unwrap();
    world.reopen();
    world.report(id, "swe-backend", "done").unwrap();
    let numbers = world.own_event_numbers();
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected);
    assert!(numbers.len() > before);
    // No line of others was lost, and a forged one of Accord's is found.
    assert!(fs::read_to_string(&log).unwrap().contains("not json\n{\"eventId\":99,"));
    assert_eq!(world.lint(), ["event_line_damaged"]);
    let forged = "{\"eventId\":3,\"type\":\"task.transitioned\",\"timestamp\":\"x\",\
                  \"actor\":\"x\",\"payload\":{},\"writer\":\"accord\"}\n";
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{text}{forged}")).unwrap();
    assert!(world.lint().contains(&"event_order".to_owned()));
    let last = world.own_event_numbers().len() - 1;
    world.ready("Another");
    assert_eq!(world.events().last().unwrap()["eventId"], (last + 1) as u64);
}

#[test]
fn a_forged_task_that_needs_no_review() {
    let world = World::new();
    let id = world.ready("Model");
    let text = fs::read_to_string(world.file(Status::Ready, id)).unwrap();
    let forged = TaskId::parse("TASK-2026-02-09-500").unwrap();
    let text = text.replace(&id.to_string(), &forged.to_string());
    let text = text.replace("metadata: {}", "metadata:\n  reviewRequired: false");
    fs::write(world.file(Status::Ready, forged), text).unwrap();
    world.notice(forged);
    let text = fs::read_to_string(world.file(Status::Ready, forged)).unwrap();
    assert!(!text.contains("reviewRequired"), "{text}");
    assert_eq!(world.events_of("task.edit_refused").len(), 1);
}

#[test]
fn the_body_belongs_to_the_agent() {
    let (world, id) = leased();
    let path = file(&world, id);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}\nNotes of the agent.\n")).unwrap();
    world.look();
    assert!(world.events_of("task.edit_refused").is_empty());
    // A refused front matter keeps the body.
    edit(&path, "status: in-progress", "status: done");
    world.look();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("Notes of the agent.") && text.contains("status: in-progress"));
}

/// A process that wrote a text before another process changed it must not take it for the present
/// one.
#[test]
fn an_older_text_is_not_taken_for_the_committed_one() {
    let (world, id) = leased();
    let path = file(&world, id);
    let old = fs::read_to_string(&path).unwrap();
    let other = Tree::open(world.root(), "shop", world.clock.environment()).unwrap();
    world.clock.add(60);
    other.heartbeat(&id.to_string(), &HeartbeatRequest::default(), &agent("swe-backend")).unwrap();
    let is_renewed = || fs::read_to_string(&path).unwrap().contains("renewCount: 1");
    assert!(is_renewed() && !old.contains("renewCount: 1"));
    fs::write(&path, &old).unwrap();
    world.look();
    assert!(is_renewed());
    assert_eq!(world.events_of("task.edit_refused").len(), 1);
    // So is one that only an operation notices.
    fs::write(&path, &old).unwrap();
    world.report(id, "swe-backend", "done").unwrap();
    assert_eq!(world.events_of("task.edit_refused").len(), 2);
}

#[test]
fn a_new_process_keeps_what_many_logs_ago_was_committed() {
    let (mut world, id) = leased();
    // Each process begins a new log after a restart of the machine.
    for boot in ["two", "three"] {
        world.reboot(boot);
        world.look();
    }
    edit(&file(&world, id), "metadata: {}", "metadata:\n  reviewRequired: false");
    world.reopen();
    world.look();
    held(&world, id);
}
