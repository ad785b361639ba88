//! A process that is killed at any write leaves before or after, on a real disk.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use accord_runs::repository::Repository;
use accord_trees::Root;
use accord_trees::testing::AbortAfter;

use super::support::{STEPS, files, govern, lock, step};

/// Where the process that is going to be killed works, and at which write it ends.
const FOLDER: &str = "ACCORD_TEST_KILL_FOLDER";
const WRITES: &str = "ACCORD_TEST_KILL_WRITES";

#[test]
fn a_killed_process_leaves_before_or_after() {
    if let Some((folder, writes)) = std::env::var_os(FOLDER).zip(std::env::var(WRITES).ok()) {
        let root = Root::open(Path::new(&folder)).unwrap();
        let disk = AbortAfter::new(root, writes.parse().unwrap());
        let held = lock(&Repository::on(Arc::new(disk)));
        for number in 0..STEPS {
            step(number, &held).unwrap();
            println!("acknowledged");
        }
        return;
    }
    let mut seen = Vec::new();
    let (folder, repository) = governed();
    seen.push(files(folder.path()));
    let held = lock(&repository);
    for number in 0..STEPS {
        step(number, &held).unwrap();
        seen.push(files(folder.path()));
    }
    let mut writes = 0;
    loop {
        let (folder, repository) = governed();
        let acknowledged = killed_at(folder.path(), writes);
        let whole = acknowledged == STEPS;
        drop(lock(&repository));
        let after = files(folder.path());
        let found = seen.iter().position(|known| *known == after);
        assert!(
            found == Some(acknowledged) || found == Some(acknowledged + 1),
            "killed at {writes}, {acknowledged} acknowledged, found {found:?}: {:?}",
            after.keys()
        );
        if whole {
            break;
        }
        writes += 5;
    }
    assert!(writes > 60, "{writes} writes are too few to mean anything");
}

fn governed() -> (tempfile::TempDir, Repository) {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    govern(&lock(&repository));
    (folder, repository)
}

/// Runs the steps in a process that is killed, and says how many it acknowledged.
fn killed_at(folder: &Path, writes: u64) -> usize {
    let test = "repository::kills::a_killed_process_leaves_before_or_after";
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .env(WRITES, writes.to_string())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    said.lines().filter(|line| line.contains("acknowledged")).count()
}
