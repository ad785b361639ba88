//! A group that several threads apply leaves the same files as one that a single thread applies.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use accord_contract::Object;
use accord_trees::wal::{Op, Record, Wal, digest};
use accord_trees::{Disk, Root};

/// The files of a folder, with a number of lanes.
struct Lanes {
    disk: Root,
    lanes: usize,
}

impl Disk for Lanes {
    accord_trees::forward! { disk: root_path, stat, list, open, make_folder, create, append,
    truncate, rename, move_to, move_if_free, publish, remove_file, remove_tree, sync, sync_folder,
    sync_tree, guard, try_guard, keep_folders }

    fn lanes(&self) -> usize {
        self.lanes
    }
}

fn put(path: String, text: String, was: Option<&str>) -> Op {
    Op::Put { path, text, was: was.map(|was| digest(was.as_bytes())) }
}

/// Tasks that are made, and moved with the folders beside them; every third one twice. If
/// `is_chained`, a file leaves each folder first, so that the order of the moves matters.
fn groups(is_chained: bool) -> Vec<Vec<Record>> {
    let mut made = Vec::new();
    let mut moved = Vec::new();
    for n in 0..60 {
        made.push(vec![
            put(format!("ready/{n}.md"), format!("ready {n}"), None),
            Op::Folder { path: format!("ready/{n}/inputs") },
            Op::Folder { path: format!("ready/{n}/outputs") },
            put(format!("ready/{n}/inputs/note"), format!("note {n}"), None),
        ]);
        let ready = format!("ready {n}");
        let mut ops = Vec::new();
        if is_chained {
            let from = format!("ready/{n}/inputs/note");
            ops.push(Op::Move { from, to: format!("aside/{n}") });
        }
        ops.extend([
            Op::Move { from: format!("ready/{n}.md"), to: format!("busy/{n}.md") },
            Op::Move { from: format!("ready/{n}"), to: format!("busy/{n}") },
            put(format!("busy/{n}.md"), format!("busy {n}"), Some(&ready)),
            put(format!("busy/{n}/inputs/run"), format!("run {n}"), None),
            put(format!("runs/{n}/run.json"), "{}".to_owned(), None),
        ]);
        if n % 3 == 0 {
            let busy = format!("busy {n}");
            ops.push(Op::Move { from: format!("busy/{n}.md"), to: format!("done/{n}.md") });
            ops.push(Op::Move { from: format!("busy/{n}"), to: format!("done/{n}") });
            ops.push(put(format!("done/{n}.md"), format!("done {n}"), Some(&busy)));
        }
        moved.push(ops);
    }
    let records = |list: Vec<Vec<Op>>| {
        list.into_iter().map(|ops| Record { ops, detail: Object::new() }).collect()
    };
    vec![records(made), records(moved)]
}

/// Every path below a folder, with the content of files.
fn files(folder: &Path, at: &str, found: &mut BTreeMap<String, Option<String>>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let path = format!("{at}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().expect("a type").is_dir() {
            found.insert(path.clone(), None);
            files(&entry.path(), &path, found);
        } else {
            let text = std::fs::read_to_string(entry.path()).expect("a text");
            // The log says when the files followed it, which is another time in each run.
            let lines = text.split_inclusive('\n').filter(|line| !line.contains("\"followed\""));
            found.insert(path, Some(lines.collect()));
        }
    }
}

fn tree_after(lanes: usize, groups: &[Vec<Record>]) -> BTreeMap<String, Option<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = Lanes { disk: Root::open(folder.path()).expect("a tree"), lanes };
    let mut wal: Wal = Wal::new(Arc::new(disk), ".log", "boot");
    for group in groups {
        let mut locked = wal.lock().expect("the lock");
        group.iter().for_each(|record| locked.stage(record.clone()));
        assert!(locked.commit().expect("a commit").is_empty(), "nobody else changed a file");
    }
    let mut found = BTreeMap::new();
    files(folder.path(), "", &mut found);
    found
}

#[test]
fn several_lanes_leave_the_files_that_one_leaves() {
    for is_chained in [false, true] {
        let groups = groups(is_chained);
        let expected = tree_after(1, &groups);
        assert_eq!(expected.get("/done/3.md"), Some(&Some("done 3".to_owned())));
        let note = if is_chained { "/aside/4" } else { "/busy/4/inputs/note" };
        assert_eq!(expected.get(note), Some(&Some("note 4".to_owned())));
        for lanes in [2, 3, 4, 16] {
            let found = tree_after(lanes, &groups);
            let paths = expected.keys().chain(found.keys());
            let other: Vec<_> =
                paths.filter(|path| found.get(*path) != expected.get(*path)).collect();
            assert!(other.is_empty(), "{lanes} lanes: {other:?}");
        }
    }
}
