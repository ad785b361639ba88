//! What lint finds: every fault by its code, and nothing in a tree without faults.

use std::fs;
use std::os::unix::fs::symlink;

use accord_contract::Code;
use accord_tasks::Tree;
use accord_tasks_core::operations::ShowQuery;
use accord_tasks_core::{Status, TaskId};

use crate::support::{AGENT, World, human};

/// Makes a fault, and checks that lint names it before anything judges it.
fn finds(code: &str, fault: impl Fn(&World, TaskId)) {
    let world = World::new();
    let id = world.ready("Ship it");
    world.finish(world.ready("Done"));
    assert_eq!(world.lint(), Vec::<String>::new());
    fault(&world, id);
    let found = world.lint();
    assert!(found.contains(&code.to_owned()), "{code} is not in {found:?}");
}

fn replace(world: &World, status: Status, id: TaskId, from: &str, to: &str) {
    let path = world.file(status, id);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from:?} is not in {text}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn files_of_tasks() {
    finds("broken_file", |world, id| fs::write(world.file(Status::Ready, id), "x").unwrap());
    finds("misnamed_file", |world, _| {
        fs::write(world.root().join("tasks/ready/notes.md"), "x").unwrap();
    });
    finds("wrong_id", |world, id| {
        replace(world, Status::Ready, id, &format!("id: {id}"), "id: TASK-2026-02-09-009");
    });
    finds("status_mismatch", |world, id| {
        replace(world, Status::Ready, id, "status: ready", "status: blocked");
    });
    finds("duplicate_task", |world, id| {
        fs::copy(world.file(Status::Ready, id), world.file(Status::Backlog, id)).unwrap();
    });
    finds("edit_not_judged", |world, id| {
        replace(world, Status::Ready, id, "priority: normal", "priority: low");
    });
    finds("same_task", |world, id| {
        // A merge of git that was taken back left a task with its new id.
        let new = TaskId::parse("TASK-2026-02-09-009").unwrap();
        let text = fs::read_to_string(world.file(Status::Ready, id)).unwrap();
        let text = text.replace(&format!("id: {id}"), &format!("id: {new}"));
        let former = format!("metadata:\n  formerIds:\n    - {id}");
        let text = text.replace("metadata: {}", &former);
        fs::write(world.file(Status::Ready, new), text).unwrap();
    });
    finds("missing_file", |world, id| fs::remove_file(world.file(Status::Ready, id)).unwrap());
    finds("not_a_file", |world, id| {
        let path = world.file(Status::Ready, id);
        let away = world.root().join("away.md");
        fs::rename(&path, &away).unwrap();
        symlink("../../away.md", &path).unwrap();
    });
}

#[test]
fn leases() {
    finds("lease_mismatch", |world, id| {
        replace(world, Status::Ready, id, "status: ready", "status: in-progress");
        fs::rename(world.file(Status::Ready, id), world.file(Status::InProgress, id)).unwrap();
    });
    finds("committed_state_missing", |world, id| {
        world.claim(id, AGENT);
        fs::remove_dir_all(world.root().join("state/accord")).unwrap();
    });
    finds("settings_not_committed", |world, _| {
        fs::remove_dir_all(world.root().join("state/accord")).unwrap();
        let path = world.root().join("project.yaml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace("review: human", "review: guide")).unwrap();
    });
}

#[test]
fn folders() {
    finds("orphan_folder", |world, id| {
        fs::write(world.folder(Status::Ready, id).join("work/notes.md"), "x").unwrap();
        fs::remove_file(world.file(Status::Ready, id)).unwrap();
    });
    finds("missing_folder", |world, id| {
        world.claim(id, AGENT);
        fs::remove_dir(world.folder(Status::InProgress, id).join("work")).unwrap();
    });
    finds("not_a_folder", |world, id| {
        let outputs = world.folder(Status::Ready, id).join("outputs");
        fs::remove_dir(&outputs).unwrap();
        symlink("/tmp", &outputs).unwrap();
    });
    finds("not_a_folder", |world, _| {
        fs::remove_dir_all(world.root().join("tasks/deadletter")).unwrap();
        symlink("ready", world.root().join("tasks/deadletter")).unwrap();
    });
}

#[test]
fn runs_and_settings() {
    finds("broken_artifact", |world, id| {
        world.claim(id, AGENT);
        let heartbeat = world.root().join(format!("runs/{id}/run_heartbeat.json"));
        fs::write(heartbeat, "{").unwrap();
    });
    finds("two_layouts", |world, id| {
        world.claim(id, AGENT);
        let other = world.root().join(format!("state/runs/{id}"));
        fs::create_dir_all(&other).unwrap();
        let run = world.root().join(format!("runs/{id}/run.json"));
        fs::copy(run, other.join("run.json")).unwrap();
    });
    finds("broken_settings", |world, _| {
        fs::write(world.root().join("project.yaml"), "id: [").unwrap();
    });
}

#[test]
fn dependencies() {
    finds("dangling_dependency", |world, id| {
        let needs = "dependsOn:\n  - TASK-2026-02-09-099";
        replace(world, Status::Ready, id, "dependsOn: []", needs);
    });
    finds("dependency_cycle", |world, id| {
        let next = world.waiting("Next", &[id]);
        replace(world, Status::Ready, id, "dependsOn: []", &format!("dependsOn:\n  - {next}"));
    });
}

#[test]
fn event_logs() {
    let log = |world: &World| crate::support::log_of(world.root(), "2026-02-09");
    let lines = |world: &World| -> Vec<String> {
        fs::read_to_string(log(world)).unwrap().lines().map(str::to_owned).collect()
    };
    finds("event_gap", |world, _| {
        let mut lines = lines(world);
        lines.remove(1);
        fs::write(log(world), lines.join("\n") + "\n").unwrap();
    });
    finds("event_gap", |world, _| {
        let mut lines = lines(world);
        lines.pop();
        fs::write(log(world), lines.join("\n") + "\n").unwrap();
    });
    finds("event_order", |world, _| {
        let mut lines = lines(world);
        lines.swap(0, 1);
        fs::write(log(world), lines.join("\n") + "\n").unwrap();
    });
    finds("event_changed", |world, _| {
        let text = fs::read_to_string(log(world)).unwrap();
        assert!(text.contains("Ship it"), "{text}");
        fs::write(log(world), text.replacen("Ship it", "Skip it", 1)).unwrap();
    });
    finds("event_changed", |world, _| {
        let text = fs::read_to_string(log(world)).unwrap();
        let forged = text.lines().last().unwrap();
        fs::write(log(world), format!("{text}{forged}\n")).unwrap();
    });
    finds("event_line_damaged", |world, _| {
        let mut lines = lines(world);
        lines.insert(0, "{".into());
        fs::write(log(world), lines.join("\n") + "\n").unwrap();
    });
    finds("event_line_torn", |world, _| {
        let text = fs::read_to_string(log(world)).unwrap();
        fs::write(log(world), text + "{\"eventId\"").unwrap();
    });
}

/// The log of what Accord committed, with one byte of its first record changed.
fn scratched(world: &World) -> Vec<u8> {
    let folder = world.root().join("state/accord");
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let log = entries.filter(|path| path.to_string_lossy().contains("log-")).max().unwrap();
    let mut bytes = fs::read(&log).unwrap();
    let head = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    bytes[head + 40] ^= 1;
    fs::write(&log, &bytes).unwrap();
    bytes
}

#[test]
fn the_log_of_accord() {
    finds("log_damaged", |world, _| drop(scratched(world)));
    // Nothing is undone because of it: a process that has no state yet refuses to work.
    let world = World::new();
    let id = world.ready("Ship it");
    scratched(&world);
    let show = |tree: Tree| tree.show(&id.to_string(), &ShowQuery::default(), &human());
    let other = Tree::open(world.root(), "shop", world.clock.environment());
    let refused = other.and_then(show).unwrap_err();
    assert_eq!(refused.code, Code::AofTaskTreeUnavailable);
    assert!(refused.message.contains("was changed after it was written"), "{refused:?}");
    assert!(world.file(Status::Ready, id).exists());
}
