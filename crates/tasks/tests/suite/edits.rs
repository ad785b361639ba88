//! Edits of a person or another tool: which count, and what becomes of the files.

use std::fs;
use std::path::Path;

use accord_contract::Value;
use accord_tasks::Tree;
use accord_tasks_core::operations::{LintQuery, ListQuery, PollRequest, ShowQuery};
use accord_tasks_core::{Status, TaskId};

use crate::support::{AGENT, Clock, World, create_ready, human, ready};

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from:?} is not in {text}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// A task of the backlog, read by the process that was open, and by a new one.
fn each(test: impl Fn(World, TaskId, &dyn Fn(&mut World))) {
    let same = |world: &mut World| world.look();
    let new = |world: &mut World| {
        world.reopen();
        world.look();
    };
    let looks: [&dyn Fn(&mut World); 2] = [&same, &new];
    for look in looks {
        let world = World::new();
        let id = world.ready("Ship it");
        test(world, id, look);
    }
}

#[test]
fn a_status_in_the_front_matter_moves_the_file() {
    each(|mut world, id, look| {
        edit(&world.file(Status::Ready, id), "status: ready", "status: backlog");
        look(&mut world);
        assert_eq!(world.copies(id), [Status::Backlog]);
        assert!(world.folder(Status::Backlog, id).is_dir());
        assert!(!world.folder(Status::Ready, id).exists());
        let moved = world.events_of("task.transitioned");
        assert_eq!(moved.len(), 1);
        assert_eq!(moved[0]["payload"]["reason"], "file_edited");
        assert_eq!(world.lint(), Vec::<String>::new());
    });
}

#[test]
fn a_file_in_another_folder_gets_its_status() {
    each(|mut world, id, look| {
        fs::rename(world.file(Status::Ready, id), world.file(Status::Blocked, id)).unwrap();
        look(&mut world);
        assert_eq!(world.copies(id), [Status::Blocked]);
        let text = fs::read_to_string(world.file(Status::Blocked, id)).unwrap();
        assert!(text.contains("status: blocked"), "{text}");
        assert!(world.folder(Status::Blocked, id).is_dir(), "the folder follows");
        assert_eq!(world.events_of("task.transitioned").len(), 1);
        assert_eq!(world.lint(), Vec::<String>::new());
    });
}

#[test]
fn a_whole_move_counts_as_it_is() {
    each(|mut world, id, look| {
        let path = world.file(Status::Ready, id);
        edit(&path, "status: ready", "status: cancelled");
        fs::rename(&path, world.file(Status::Cancelled, id)).unwrap();
        fs::rename(world.folder(Status::Ready, id), world.folder(Status::Cancelled, id)).unwrap();
        logged(&world, id, Status::Cancelled);
        look(&mut world);
        assert_eq!(world.copies(id), [Status::Cancelled]);
        assert_eq!(world.events_of("task.transitioned").len(), 2);
        look(&mut world);
        assert_eq!(world.events_of("task.transitioned").len(), 2, "it is reported once");
        assert_eq!(world.lint(), Vec::<String>::new());
    });
}

/// Another program logs that it moved a task.
fn logged(world: &World, id: TaskId, to: Status) {
    let line = serde_json::json!({
        "eventId": 1, "type": "task.transitioned", "timestamp": "2026-02-09T21:00:00.000Z",
        "actor": "system", "taskId": id.to_string(),
        "payload": {"from": "ready", "to": to.as_str()},
    });
    let path = world.root().join("events/2026-02-09.jsonl");
    fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|mut log| std::io::Write::write_all(&mut log, format!("{line}\n").as_bytes()))
        .unwrap();
}

#[test]
fn a_move_that_no_event_explains_waits_for_a_person() {
    for to in [Status::Ready, Status::InProgress, Status::Cancelled] {
        each(|mut world, ready, look| {
            let id = world.waiting("Next", &[ready]);
            let last = world.waiting("Last", &[id]);
            let (from, path) = (world.file(Status::Backlog, id), world.file(to, id));
            edit(&from, "status: backlog", &format!("status: {to}"));
            fs::rename(&from, &path).unwrap();
            let text = fs::read_to_string(&path).unwrap();
            let events = world.events().len();
            look(&mut world);
            // Its file stays, and nothing goes on.
            world.tree().poll(&PollRequest::default(), &human()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!((world.copies(id), world.copies(last)), (vec![to], vec![Status::Backlog]));
            assert_eq!(world.events().len(), events);
            assert!(world.lint().contains(&"move_not_adopted".to_owned()), "{to}");
            let refused = world.try_claim(id, "a").unwrap_err();
            assert_eq!(refused.code.as_str(), "task_needs_adopt");
            let list = world.tree().list(&ListQuery::default(), &human()).unwrap();
            let item = list.tasks.into_iter().find(|item| item.id == id).unwrap();
            assert_eq!(item.status, Status::Backlog);
            assert!(item.path.starts_with(&format!("tasks/{to}/")), "{}", item.path);
            assert_eq!(item.unadopted.unwrap().status, to);
            world.adopt(id);
            assert_eq!(world.copies(id), [to]);
            assert!(!world.lint().contains(&"move_not_adopted".to_owned()), "{to}");
            look(&mut world);
            assert_eq!(world.events_of("task.adopted").len(), 1);
            let shown = world.tree().show(&id.to_string(), &ShowQuery::default(), &human());
            assert_eq!(shown.unwrap().task.status, to);
        });
    }
}

#[test]
fn a_move_that_is_taken_back_waits_no_more() {
    each(|mut world, ready, look| {
        let id = world.waiting("Next", &[ready]);
        let (from, to) = (world.file(Status::Backlog, id), world.file(Status::Ready, id));
        fs::rename(&from, &to).unwrap();
        look(&mut world);
        assert_eq!(world.lint(), ["move_not_adopted"]);
        fs::rename(&to, &from).unwrap();
        look(&mut world);
        assert_eq!(world.lint(), Vec::<String>::new());
        world.finish(ready);
        world.tree().poll(&PollRequest::default(), &human()).unwrap();
        world.claim(id, "a");
    });
}

#[test]
fn a_second_copy_is_a_move_that_was_not_finished() {
    // As another tool leaves it, if it is killed between writing the new file and removing the
    // old one.
    each(|mut world, id, look| {
        let text = fs::read_to_string(world.file(Status::Ready, id)).unwrap();
        let text = text.replace("status: ready", "status: blocked");
        fs::write(world.file(Status::Blocked, id), text).unwrap();
        look(&mut world);
        assert_eq!(world.copies(id), [Status::Blocked]);
        assert!(world.folder(Status::Blocked, id).is_dir());
        assert_eq!(world.lint(), Vec::<String>::new());
        assert_eq!(world.events_of("task.transitioned").len(), 1);
    });
}

#[test]
fn a_deleted_task_is_gone() {
    each(|mut world, id, look| {
        fs::remove_file(world.file(Status::Ready, id)).unwrap();
        look(&mut world);
        assert_eq!(world.copies(id), []);
        assert_eq!(world.events_of("task.deleted").len(), 1);
        // Its folder is empty.
        assert_eq!(world.lint(), Vec::<String>::new());
        look(&mut world);
        assert_eq!(world.events_of("task.deleted").len(), 1);
        // Its number is not given out again.
        let next = world.ready("Another");
        assert_ne!(next, id);
    });
}

#[test]
fn the_number_of_a_deleted_task_is_not_given_out_again() {
    let mut world = World::new();
    let id = world.ready("Ship it");
    fs::remove_file(world.file(Status::Ready, id)).unwrap();
    fs::remove_dir_all(world.folder(Status::Ready, id)).unwrap();
    world.look();
    // Not by a new process.
    world.reopen();
    let second = world.ready("Another");
    assert_eq!(second.to_string(), "TASK-2026-02-09-002");
    // Not by one that takes the commits of others over.
    let other = Tree::open(world.root(), "shop", world.clock.environment()).unwrap();
    other.look_at(&[second]).unwrap();
    let third = world.ready("A third");
    fs::remove_file(world.file(Status::Ready, third)).unwrap();
    fs::remove_dir_all(world.folder(Status::Ready, third)).unwrap();
    world.look();
    assert_eq!(create_ready(&other, "A fourth").to_string(), "TASK-2026-02-09-004");
    // Not after the machine was started again, nor without the log: the events know it.
    let fourth = TaskId::parse("TASK-2026-02-09-004").unwrap();
    fs::remove_file(world.file(Status::Ready, fourth)).unwrap();
    fs::remove_dir_all(world.folder(Status::Ready, fourth)).unwrap();
    drop(other);
    world.reboot("two");
    world.notice(fourth);
    world.reboot("three");
    assert_eq!(world.ready("A fifth").to_string(), "TASK-2026-02-09-005");
    let fifth = TaskId::parse("TASK-2026-02-09-005").unwrap();
    fs::remove_file(world.file(Status::Ready, fifth)).unwrap();
    fs::remove_dir_all(world.folder(Status::Ready, fifth)).unwrap();
    world.close();
    fs::remove_dir_all(world.root().join("state")).unwrap();
    world.reopen();
    assert_eq!(world.ready("A sixth").to_string(), "TASK-2026-02-09-006");
}

#[test]
fn other_members_count_and_are_reported() {
    each(|mut world, id, look| {
        edit(&world.file(Status::Ready, id), "priority: normal", "priority: low  # mine");
        look(&mut world);
        assert_eq!(world.events_of("task.updated").len(), 1);
        look(&mut world);
        assert_eq!(world.events_of("task.updated").len(), 1);
        let text = fs::read_to_string(world.file(Status::Ready, id)).unwrap();
        assert!(text.contains("priority: low  # mine"), "{text}");
    });
}

#[test]
fn done_needs_a_person_at_a_door() {
    each(|mut world, id, look| {
        edit(&world.file(Status::Ready, id), "status: ready", "status: done");
        look(&mut world);
        assert_eq!(world.copies(id), [Status::Ready]);
        assert_eq!(world.events_of("task.edit_refused").len(), 1);
        // The refused text is kept.
        let kept = world.root().join(format!("state/accord/refused/{id}.md"));
        assert!(fs::read_to_string(kept).unwrap().contains("status: done"));
        assert_eq!(world.lint(), Vec::<String>::new());
    });
}

#[test]
fn only_what_is_refused_is_undone() {
    each(|mut world, id, look| {
        let path = world.file(Status::Ready, id);
        edit(&path, "metadata: {}", "metadata:\n  reviewRequired: false\n  mine: 1");
        edit(&path, "title: Ship it", "title: Ship it today");
        look(&mut world);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("reviewRequired"), "{text}");
        assert!(text.contains("mine: 1") && text.contains("title: Ship it today"), "{text}");
        assert_eq!(world.events_of("task.edit_refused").len(), 1);
    });
}

#[test]
fn a_finished_task_keeps_that_it_needed_no_review() {
    let world = World::new();
    let mut new = ready("Ship it");
    new.review_required = Some(false);
    let id = world.tree().create(&new, &human()).unwrap().task.id;
    world.claim(id, AGENT);
    world.report(id, AGENT, "done").unwrap();
    // A process that watches the tree looks at what Accord itself wrote.
    world.notice(id);
    assert_eq!(world.events_of("task.edit_refused"), Vec::<Value>::new());
    let text = fs::read_to_string(world.file(Status::Done, id)).unwrap();
    assert!(text.contains("reviewRequired: false"), "{text}");
    // A file that brings the task back does not bring that back.
    fs::rename(world.file(Status::Done, id), world.file(Status::Ready, id)).unwrap();
    world.notice(id);
    assert_eq!(world.events_of("task.edit_refused").len(), 1);
    let text = fs::read_to_string(world.file(Status::Ready, id)).unwrap();
    assert!(!text.contains("reviewRequired"), "{text}");
}

#[test]
fn a_task_that_another_tool_leased_follows_its_file() {
    each(|mut world, id, look| {
        let path = world.file(Status::Ready, id);
        let lease = "lease:\n  agent: other\n  acquiredAt: 2026-02-09T21:00:00.000Z\n  \
                     expiresAt: 2026-02-09T22:00:00.000Z\n  renewCount: 0\n";
        edit(&path, "createdAt:", &format!("{lease}createdAt:"));
        edit(&path, "status: ready", "status: in-progress");
        fs::rename(&path, world.file(Status::InProgress, id)).unwrap();
        look(&mut world);
        assert_eq!(world.lint(), ["move_not_adopted"]);
        logged(&world, id, Status::InProgress);
        look(&mut world);
        assert_eq!(world.copies(id), [Status::InProgress]);
        // The other tool keeps the lease while it reviews, and finishes by itself.
        let path = world.file(Status::InProgress, id);
        edit(&path, "status: in-progress", "status: review");
        look(&mut world);
        let path = world.file(Status::Review, id);
        edit(&path, "status: review", "status: done");
        look(&mut world);
        assert_eq!(world.copies(id), [Status::Done]);
        assert!(world.events_of("task.edit_refused").is_empty());
        // With the line of the other tool.
        assert_eq!(world.events_of("task.transitioned").len(), 4);
    });
}

#[test]
fn a_tree_of_another_tool_is_followed_from_the_first_look() {
    let folder = tempfile::tempdir().unwrap();
    let id = TaskId::parse("TASK-2026-02-09-057").unwrap();
    let path = |status: &str| folder.path().join(format!("tasks/{status}/{id}.md"));
    let text = format!(
        "---\nschemaVersion: 1\nid: {id}\nproject: shop\ntitle: A task\nstatus: in-progress\n\
         priority: normal\nrouting:\n  agent: other\n  tags: []\nlease:\n  agent: other\n  \
         acquiredAt: 2026-02-09T20:55:00.000Z\n  expiresAt: 2026-02-09T22:00:00.000Z\n  \
         renewCount: 0\ncreatedAt: 2026-02-09T20:00:00.000Z\nupdatedAt: \
         2026-02-09T20:55:00.000Z\nlastTransitionAt: 2026-02-09T20:55:00.000Z\ncreatedBy: main\n\
         dependsOn: []\nmetadata: {{}}\n---\n\nDo it.\n"
    );
    fs::create_dir_all(folder.path().join(format!("runs/{id}"))).unwrap();
    fs::create_dir_all(folder.path().join("events")).unwrap();
    for status in Status::ALL {
        fs::create_dir_all(folder.path().join(format!("tasks/{status}"))).unwrap();
    }
    fs::write(path("in-progress"), &text).unwrap();
    let run = format!(
        "{{\"taskId\":\"{id}\",\"agentId\":\"other\",\"startedAt\":\
         \"2026-02-09T20:55:00.000Z\",\"status\":\"running\",\"artifactPaths\":{{\"inputs\":\
         \"inputs/\",\"work\":\"work/\",\"output\":\"output/\"}},\"metadata\":{{}}}}"
    );
    fs::write(folder.path().join(format!("runs/{id}/run.json")), run).unwrap();
    // The other tool counts its events from 1, too.
    let line = "{\"eventId\":1,\"type\":\"lease.acquired\",\"timestamp\":\
                \"2026-02-09T20:55:00.000Z\",\"actor\":\"other\",\"payload\":{}}\n";
    fs::write(crate::support::log_of(folder.path(), "2026-02-09"), line).unwrap();

    let clock = Clock::default();
    let open = || Tree::open(folder.path(), "shop", clock.environment()).unwrap();
    let lint = |tree: &Tree| -> Vec<String> {
        let lint = tree.lint(&LintQuery::default(), &human()).unwrap();
        lint.findings.into_iter().map(|finding| finding.code).collect()
    };
    assert!(!lint(&open()).contains(&"committed_state_missing".to_owned()));
    // It keeps the lease during its review, and finishes by itself.
    let moves = [("in-progress", "review"), ("review", "done")];
    for (from, to) in moves {
        let tree = open();
        tree.look_at(&[id]).unwrap();
        let text = text.replace("status: in-progress", &format!("status: {to}"));
        fs::write(path(to), text).unwrap();
        fs::remove_file(path(from)).unwrap();
        tree.look_at(&[id]).unwrap();
        assert!(path(to).exists() && !path(from).exists(), "{to}");
    }
    let events = fs::read_to_string(crate::support::log_of(folder.path(), "2026-02-09")).unwrap();
    assert!(!events.contains("system.recovery") && !events.contains("edit_refused"), "{events}");
    assert_eq!(events.matches("file_edited").count(), 2, "{events}");
}

#[test]
fn a_broken_file_is_reported_once_and_hides_nothing() {
    each(|mut world, id, look| {
        let waiting = world.waiting("Next", &[id]);
        let other = world.ready("Other");
        let path = world.file(Status::Ready, id);
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, whole.replace("status: ready", "status: [")).unwrap();
        fs::write(world.root().join("tasks/ready/notes.md"), "no task").unwrap();
        look(&mut world);
        look(&mut world);
        let reports = world.events_of("task.validation.failed");
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert!(world.lint().contains(&"broken_file".to_owned()));
        let refused = world.try_claim(id, "a").unwrap_err();
        assert_eq!(refused.code.as_str(), "task_file_invalid");
        // What depends on it is not given up, and others go on.
        world.tree().poll(&PollRequest::default(), &human()).unwrap();
        assert_eq!(world.copies(waiting), [Status::Backlog]);
        world.claim(other, "b");
        // Another content is reported again; a repaired file counts.
        fs::write(&path, whole.replace("status: ready", "status: {")).unwrap();
        look(&mut world);
        assert_eq!(world.events_of("task.validation.failed").len(), 2);
        fs::write(&path, &whole).unwrap();
        look(&mut world);
        world.claim(id, "a");
    });
}

#[test]
fn a_new_file_is_a_new_task() {
    each(|mut world, id, look| {
        let text = fs::read_to_string(world.file(Status::Ready, id)).unwrap();
        let new = TaskId::parse("TASK-2026-02-09-500").unwrap();
        let text = text.replace(&id.to_string(), &new.to_string());
        fs::write(world.file(Status::Ready, new), text).unwrap();
        world.notice(new);
        look(&mut world);
        assert_eq!(world.events_of("task.created").len(), 2);
        world.claim(new, "a");
        assert_eq!(world.ready("Another").to_string(), "TASK-2026-02-09-501");
        assert_eq!(world.lint(), Vec::<String>::new());
    });
}

#[test]
fn an_edit_between_decision_and_commit_is_merged() {
    // Two trees on one folder stand for two processes. One of them commits a move while a person
    // saves the file.
    let world = World::new();
    let id = world.ready("Ship it");
    let path = world.file(Status::Ready, id);
    edit(&path, "title: Ship it", "title: Ship it today");
    world.claim(id, "swe-backend");
    let text = fs::read_to_string(world.file(Status::InProgress, id)).unwrap();
    assert!(text.contains("title: Ship it today") && text.contains("status: in-progress"));
    assert_eq!(world.copies(id), [Status::InProgress]);
}

#[test]
fn a_file_with_mixed_line_ends_is_changed_without_a_refusal() {
    let world = World::new();
    let id = world.ready("Ship it");
    let path = world.file(Status::Ready, id);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}\none\r\ntwo\nthree\r\n")).unwrap();
    world.claim(id, AGENT);
    assert_eq!(world.copies(id), [Status::InProgress]);
    let text = fs::read_to_string(world.file(Status::InProgress, id)).unwrap();
    assert!(text.contains("three") && text.contains("status: in-progress"), "{text}");
    let moved = world.events_of("task.transitioned");
    assert_eq!((moved.len(), world.events_of("task.edit_refused").len()), (1, 0));
    assert_eq!(world.lint(), Vec::<String>::new());
}

#[test]
fn many_open_tasks_are_read_in_full() {
    const TASKS: usize = 700;
    let mut world = World::new();
    let id = world.ready("Ship it");
    let text = fs::read_to_string(world.file(Status::Ready, id)).unwrap();
    for number in 2..=TASKS {
        let new = id.to_string().replace("-001", &format!("-{number:03}"));
        let path = world.root().join(format!("tasks/ready/{new}.md"));
        fs::write(path, text.replace(&id.to_string(), &new)).unwrap();
    }
    // One cannot be read, and one is in a second folder too.
    let name = |number: usize| id.to_string().replace("-001", &format!("-{number:03}"));
    let path =
        |status: &str, number| world.root().join(format!("tasks/{status}/{}.md", name(number)));
    fs::write(path("ready", 300), "no task").unwrap();
    fs::copy(path("ready", 600), path("backlog", 600)).unwrap();
    world.reopen();
    let counts = world.poll().counts;
    assert_eq!(counts["ready"] + counts["backlog"], TASKS as u64, "{counts:?}");
    assert_eq!(world.events_of("task.validation.failed").len(), 1);
    assert_eq!(world.events_of("task.created").len(), TASKS - 1);
    assert_eq!(world.copies(TaskId::parse(&name(600)).unwrap()).len(), 1);
}
