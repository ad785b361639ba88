//! The mark of a joined work tree, which a worker can change.

use std::path::{Path, PathBuf};

use crate::accord::{Ran, command, run};
use crate::edges::{Hub, join, send, typed};
use crate::run_place::Place;

fn mark(root: &Path) -> PathBuf {
    root.join(".git/accord/edge-runs")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a file")
}

/// Runs a command in a folder, as the user of a place.
fn at(place: &Place, folder: &Path, words: &[&str]) -> Ran {
    let mut typed = command(words);
    typed.current_dir(folder).env("XDG_STATE_HOME", place.state());
    run(typed, "")
}

fn copy(from: &Path, to: &Path) {
    let mut made = std::process::Command::new("cp");
    made.arg("-r").arg(from).arg(to);
    assert_eq!(run(made, "").code, 0);
}

/// The ids of the edges of the hub that did not leave.
fn edges(hub: &Hub) -> Vec<String> {
    let edges = hub.get("/edges")["edges"].as_array().expect("edges").clone();
    let joined = edges.iter().filter(|edge| !edge["left_at"].is_string());
    joined.map(|edge| edge["edge_id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_mark_that_is_missing_is_said_by_every_command() {
    let (hub, place) = (Hub::with(&[]), Place::begun());
    join(&place, &hub, &[]).yes();
    let before = read(&mark(place.root()));
    std::fs::remove_file(mark(place.root())).expect("removed");
    let refused = typed(&place, &["edge", "--once"]).refused("edge_mark_changed");
    assert!(refused.contains("accord join http"), "{refused}");
    typed(&place, &["edge", "status"]).refused("edge_mark_changed");
    let all = typed(&place, &["edge", "status", "--all"]).yes();
    assert!(all.contains("edge_mark_changed"), "{all}");
    let all = typed(&place, &["edge", "--once", "--all"]);
    assert!(all.stderr.contains("edge_mark_changed"), "{}", all.stderr);
    let ran = typed(&place, &["run", "status"]);
    assert!(ran.stderr.contains("edge_mark_changed"), "{}", ran.stderr);
    assert!(ran.stderr.contains("accord join http"), "{}", ran.stderr);
    let status = typed(&place, &["status"]).yes();
    assert!(status.contains("edge_mark_changed: nothing is sent; run accord edge"), "{status}");
    // A person joins it again, as the same edge.
    join(&place, &hub, &[]).yes();
    assert_eq!(read(&mark(place.root())), before);
    assert_eq!(edges(&hub).len(), 1);
    let ran = typed(&place, &["run", "status"]);
    assert!(!ran.stderr.contains("edge_mark_changed"), "{}", ran.stderr);
    send(&place);
    // Or ends the join.
    std::fs::write(mark(place.root()), "no id").expect("written");
    typed(&place, &["leave"]).yes();
    typed(&place, &["edge", "--once"]).refused("not_joined");
    assert!(edges(&hub).is_empty());
}

#[test]
fn a_mark_of_another_edge_sends_nothing_to_its_project() {
    let (hub, place) = (Hub::with(&[]), Place::begun());
    join(&place, &hub, &[]).yes();
    let own = edges(&hub).remove(0);
    let folder = tempfile::tempdir().expect("a folder");
    let [lost, other] = ["lost", "other"].map(|name| folder.path().join(name));
    copy(place.root(), &lost);
    let again = ["join", hub.url(), "--project", "shop"];
    at(&place, &lost, &[&again[..], &["--new"]].concat()).yes();
    let all = edges(&hub);
    let id = all.iter().find(|id| **id != own).expect("an edge").clone();
    let files = place.state().join("accord/edges").join(&id);
    let files = ["join.json", "outbox.jsonl"].map(|name| files.join(name));
    copy(&lost, &other);
    std::fs::remove_dir_all(&lost).expect("removed");
    let before = files.each_ref().map(|file| read(file));
    // A worker of a joined tree.
    std::fs::write(mark(place.root()), format!("{id}\n")).expect("written");
    let refused = typed(&place, &["edge", "--once"]).refused("edge_mark_changed");
    assert!(refused.contains(&own) && refused.contains(&id), "{refused}");
    // A worker of one that is not joined; the folder that was joined is gone.
    assert_eq!(read(&mark(&other)).trim(), id);
    at(&place, &other, &["edge", "--once"]).refused("edge_mark_changed");
    let refused = at(&place, &other, &again).refused("edge_mark_changed");
    assert!(refused.contains("--moved") && refused.contains("lost"), "{refused}");
    assert_eq!(files.each_ref().map(|file| read(file)), before);
    // The next folder in the same place is another one, too.
    copy(&other, &lost);
    at(&place, &lost, &["edge", "--once"]).refused("edge_mark_changed");
    std::fs::remove_dir_all(&lost).expect("removed");
    // A person says that it is the folder.
    at(&place, &other, &[&again[..], &["--moved"]].concat()).yes();
    at(&place, &other, &["edge", "--once"]).yes();
    assert_eq!(edges(&hub), all);
    assert!(read(&files[0]).contains("other"));
    // Or that it is another one.
    copy(&other, &lost);
    std::fs::remove_dir_all(&other).expect("removed");
    at(&place, &lost, &[&again[..], &["--new"]].concat()).yes();
    assert_eq!(edges(&hub).len(), 3);
}
