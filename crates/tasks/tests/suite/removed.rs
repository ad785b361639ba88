//! Files that somebody removed or damaged, and folders that vanished.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use accord_tasks_core::operations::{
    DependencyRequest, InitRequest, LintQuery, ListQuery, ShowQuery, UndeleteRequest,
};
use accord_tasks_core::{Status, TaskId};

use crate::support::{Case, World, human};

fn undelete(world: &World, id: TaskId) -> Vec<String> {
    let request = UndeleteRequest::default();
    world.tree().undelete(&id.to_string(), &request, &human()).unwrap().changed
}

#[test]
fn a_removed_task_is_named_as_removed() {
    let world = World::new();
    let (id, other) = (world.ready("Ship it"), world.ready("Other"));
    fs::remove_file(world.file(Status::Ready, id)).unwrap();
    world.look();
    for text in [id.to_string(), "001".to_owned(), "1".to_owned()] {
        let refused = world.tree().show(&text, &ShowQuery::default(), &human()).unwrap_err();
        assert_eq!(refused.code.as_str(), "task_not_found");
        assert_eq!(refused.message, format!("{id} was removed"));
        let suggestion = refused.suggestion.unwrap();
        assert!(suggestion.contains(&format!("accord task undelete {id}")), "{suggestion}");
    }
    let on = DependencyRequest { blocker: "001".to_owned() };
    let refused = world.tree().add_dependency(&other.to_string(), &on, &human()).unwrap_err();
    assert_eq!(refused.code.as_str(), "dependency_not_found");
    assert!(refused.message.ends_with("was removed"), "{refused:?}");
    // One that never was is not removed.
    let refused = world.tree().show("077", &ShowQuery::default(), &human()).unwrap_err();
    assert!(refused.message.contains("there is no task 077"), "{refused:?}");
    assert_eq!(undelete(&world, id), ["file"]);
    assert_eq!(undelete(&world, id), Vec::<String>::new());
    assert_eq!(world.copies(id), [Status::Ready]);
    assert_eq!(world.lint(), Vec::<String>::new());
}

#[test]
fn a_damaged_file_comes_back_with_its_last_good_text() {
    let world = World::new();
    let id = world.ready("Ship it");
    let path = world.file(Status::Ready, id);
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, "oops\n").unwrap();
    world.poll();
    let lint = world.tree().lint(&LintQuery::default(), &human()).unwrap();
    let found = lint.findings.iter().find(|found| found.code == "broken_file").unwrap();
    let command = format!("accord task undelete {id}");
    assert!(found.suggestion.as_ref().unwrap().contains(&command), "{found:?}");
    assert_eq!(undelete(&world, id), ["file"]);
    let same = |text: &str| text.replace("updatedAt", "");
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(same(&text).lines().count(), same(&good).lines().count());
    assert!(text.contains("title: Ship it"), "{text}");
    let kept = fs::read_dir(world.root().join("state/accord/refused")).unwrap().flatten();
    let kept: Vec<String> = kept.filter_map(|it| fs::read_to_string(it.path()).ok()).collect();
    assert_eq!(kept, ["oops\n"]);
    assert_eq!(world.lint(), Vec::<String>::new());
    world.claim(id, "a");
}

/// A tree with tasks, and a copy of their files elsewhere.
fn filled() -> (World, Vec<TaskId>, tempfile::TempDir) {
    let world = World::new();
    let mut tasks: Vec<TaskId> = (0..20).map(|it| world.ready(&format!("Task {it}"))).collect();
    world.claim(tasks[0], "a");
    tasks.remove(0);
    let backup = tempfile::tempdir().unwrap();
    carry(&world.root().join("tasks"), backup.path());
    (world, tasks, backup)
}

fn carry(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        if entry.path().is_dir() {
            carry(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn tasks_whose_folders_are_gone_are_not_deleted() {
    let (world, _, backup) = filled();
    let events = world.events().len();
    for all in [false, true] {
        let gone = Status::ALL.iter().filter(|status| all || **status == Status::Ready);
        for status in gone {
            fs::remove_dir_all(world.root().join(format!("tasks/{status}"))).unwrap();
        }
        let list = world.tree().list(&ListQuery::default(), &human()).unwrap_err();
        assert!(list.message.contains("the folder is gone"), "{list:?}");
        assert!(list.message.contains("Nothing was changed"), "{list:?}");
        world.tree().poll(&Default::default(), &human()).unwrap_err();
        assert_eq!(world.lint(), ["missing_folder"]);
        carry(backup.path(), &world.root().join("tasks"));
        assert_eq!(world.events().len(), events);
        assert_eq!(world.lint(), Vec::<String>::new());
        world.poll();
    }
    // A person who means it says so.
    fs::remove_dir_all(world.root().join("tasks/ready")).unwrap();
    world.tree().init(&InitRequest::default(), &human()).unwrap();
    world.look();
    assert_eq!(world.events_of("task.deleted").len(), 19);
}

#[test]
fn a_process_that_watches_waits_until_the_folder_is_gone() {
    let (world, tasks, backup) = filled();
    let saved = world.root().join("saved");
    carry(backup.path(), &saved);
    let watching = world.tree().watch().unwrap();
    fs::remove_dir_all(world.root().join("tasks")).unwrap();
    world.tree().list(&ListQuery::default(), &human()).unwrap_err();
    fs::rename(&saved, world.root().join("tasks")).unwrap();
    // What comes later is noticed.
    let last = tasks[5];
    fs::rename(world.file(Status::Ready, last), world.file(Status::Backlog, last)).unwrap();
    let began = Instant::now();
    while world.events_of("task.transitioned").len() < 2 {
        let events = || world.events().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(began.elapsed() < Duration::from_secs(30), "no move in {:#?}", events());
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(watching);
    assert_eq!(world.events_of("task.deleted"), Vec::<serde_json::Value>::new());
}

#[test]
fn what_people_said_about_a_task_reaches_the_next_agent() {
    let case = Case::new();
    let first = case.reviewed();
    let said = accord_tasks_core::operations::CommentRequest { text: "Mind the BOM".to_owned() };
    case.tree.comment(&first.to_string(), &said, &human()).unwrap();
    let note = accord_tasks_core::operations::ApproveRequest {
        note: Some("TOML is fine".to_owned()),
        ..Default::default()
    };
    case.tree.approve(&first.to_string(), &note, &human()).unwrap();
    let mut next = crate::support::ready("Next");
    next.depends_on = Some(vec![first.to_string()]);
    let next = case.tree.create(&next, &human()).unwrap().task.id;
    let briefing = case.tree.briefing(&next.to_string(), &human()).unwrap();
    let text = briefing.text(accord_tasks_core::briefing::Audience::Worker, None, 4_000);
    for part in ["Approved by human:reviewer: TOML is fine", "human:reviewer said: Mind the BOM"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
