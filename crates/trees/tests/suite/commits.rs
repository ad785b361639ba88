//! A commit of any protocol happens in full or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use accord_trees::testing::{Crash, SimDisk};
use accord_trees::{Disk as _, Root, TreeError, record};

use crate::counter::{count, lock};

const STEPS: usize = 3;

fn data(disk: &SimDisk) -> BTreeMap<String, Vec<u8>> {
    let mut files = disk.files();
    files.retain(|path, _| !path.starts_with("own/lock") && !path.starts_with("own/takeover"));
    files
}

#[test]
fn every_crash_leaves_the_state_before_or_after_a_commit() {
    let disk = Arc::new(SimDisk::new());
    let tree = lock(&disk).unwrap();
    let began = disk.operations();
    let mut states = vec![data(&disk)];
    for _ in 0..STEPS {
        count(&tree).unwrap();
        states.push(data(&disk));
    }
    let operations = disk.operations() - began;
    assert!(operations > 40, "{operations} operations are too few");
    for cut in 0..operations {
        let disk = Arc::new(SimDisk::new());
        let tree = lock(&disk).unwrap();
        disk.stop_after(cut);
        let acknowledged = (0..STEPS).take_while(|_| count(&tree).is_ok()).count();
        drop(tree);
        for crash in [Crash::Process, Crash::Power(cut), Crash::Power(cut + 1000)] {
            let survivor = Arc::new(disk.after(crash));
            drop(lock(&survivor).unwrap());
            let after = states.iter().position(|state| *state == data(&survivor));
            assert!(
                after == Some(acknowledged) || after == Some(acknowledged + 1),
                "cut {cut}, {crash:?}: {acknowledged} acknowledged, found {after:?}"
            );
        }
    }
}

#[test]
fn a_commit_is_applied_once_and_its_lock_is_exclusive() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(Root::open(folder.path()).unwrap());
    let tree = lock(&disk).unwrap();
    count(&tree).unwrap();
    count(&tree).unwrap();
    let refused = lock(&disk).err();
    assert!(matches!(refused, Some(TreeError::Locked { owner: Some(owner), .. })
        if owner.pid == u64::from(std::process::id())));
    assert_eq!(record::last_lines(disk.as_ref(), "data/log.jsonl", 9).unwrap().len(), 4);
    drop(tree);
    assert_eq!(disk.list("own/journal").unwrap(), Some(Vec::new()));
    assert_eq!(lock(&disk).unwrap().recovered().len(), 0);
}

#[test]
fn a_journal_that_cannot_be_read_stops_writers_and_stays() {
    let disk = Arc::new(SimDisk::new());
    drop(lock(&disk).unwrap());
    disk.make_folder("own/journal").unwrap();
    for damaged in ["{", "[]", "{}"] {
        disk.remove_file("own/journal/7.json").unwrap();
        disk.create("own/journal/7.json", damaged.as_bytes()).unwrap();
        let refused = lock(&disk).err();
        assert!(matches!(refused, Some(TreeError::Damaged { .. })), "{damaged}");
        assert_eq!(disk.files()["own/journal/7.json"], damaged.as_bytes());
    }
}
