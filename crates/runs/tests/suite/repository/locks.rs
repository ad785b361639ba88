//! One writer at a time, and a lock that says who it is.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use accord_contract::{Code, Failure, Time};
use accord_runs::repository::{Repository, RepositoryError};
use accord_trees::TreeError;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{acceptance, assign, begun, files, lock, path, stage};

const LOCK: &str = ".agentxchain/locks/accept-turn.lock";

fn empty() -> (TempDir, Repository) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".agentxchain/locks")).unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    (folder, repository)
}

fn instant() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Time::from_unix_millis(since.as_millis() as i64)
}

/// A lock as other runners write it.
fn foreign(folder: &TempDir, pid: u32, at: Time) {
    let text = json!({"owner_pid": pid, "acquired_at": at.to_string()}).to_string();
    fs::write(folder.path().join(LOCK), text).unwrap();
}

fn refusal(repository: &Repository) -> Failure {
    let refused = repository.lock(Duration::from_millis(30)).err();
    let error = refused.expect("the lock is held");
    let locked = matches!(error, RepositoryError::Tree(TreeError::Locked { .. }));
    assert!(locked, "{error:?}");
    error.into()
}

#[test]
fn the_second_process_learns_who_holds_the_lock() {
    let (folder, repository) = empty();
    let held = lock(&repository);
    let document: Value =
        serde_json::from_slice(&fs::read(folder.path().join(LOCK)).unwrap()).unwrap();
    assert_eq!(document["owner_pid"], std::process::id());
    let holder = repository.lock_holder().unwrap().unwrap();
    assert!(holder.alive);
    assert_eq!(holder.lock.owner_pid, u64::from(std::process::id()));
    let failure = refusal(&repository);
    assert_eq!(failure.code, Code::XchainLockTimeout);
    let details = failure.details.unwrap();
    assert_eq!(details["owner_pid"], std::process::id());
    assert_eq!(details["acquired_at"], document["acquired_at"]);
    drop(held);
    assert!(!folder.path().join(LOCK).exists());
    assert_eq!(repository.lock_holder().unwrap(), None);
    drop(lock(&repository));
}

#[test]
fn what_the_dead_left_is_removed_and_what_others_write_now_is_not() {
    let (folder, repository) = empty();
    let mut child = Command::new("true").spawn().unwrap();
    let gone = child.id();
    child.wait().unwrap();
    foreign(&folder, gone, instant());
    fs::create_dir_all(folder.path().join(".agentxchain/dispatch/rejected")).unwrap();
    let left =
        |place: &str| folder.path().join(format!(".agentxchain/{place}.tmp-0123456789ab.json"));
    for place in ["", "dispatch/", "dispatch/rejected/", "locks/"] {
        fs::write(left(place), "{").unwrap();
    }
    drop(lock(&repository));
    for place in ["", "dispatch/", "dispatch/rejected/"] {
        assert!(!left(place).exists(), "{place}");
    }
    // Another process may be about to rename it to the lock.
    assert!(left("locks/").exists());
}

#[test]
fn a_living_holder_is_never_robbed_and_a_dead_one_is_replaced() {
    let (folder, repository) = empty();
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    foreign(&folder, child.id(), instant());
    assert_eq!(refusal(&repository).code, Code::XchainLockTimeout);
    assert!(repository.lock_holder().unwrap().unwrap().alive);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!repository.lock_holder().unwrap().unwrap().alive);
    drop(lock(&repository));
    assert!(!folder.path().join(LOCK).exists());
}

#[test]
fn a_lock_of_ours_is_held_by_its_process_whatever_its_age() {
    let (folder, repository) = empty();
    let held = lock(&repository);
    let text = fs::read_to_string(folder.path().join(LOCK)).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    document["acquired_at"] = "2020-01-01T00:00:00.000Z".into();
    fs::write(folder.path().join(LOCK), document.to_string()).unwrap();
    assert_eq!(refusal(&repository).code, Code::XchainLockTimeout);
    // One that was left by a holder of this process that is gone is in nobody's way.
    drop(held);
    fs::write(folder.path().join(LOCK), document.to_string()).unwrap();
    drop(lock(&repository));
}

#[test]
fn a_lock_that_cannot_be_read_is_given_its_time() {
    let (folder, repository) = empty();
    fs::write(folder.path().join(LOCK), "{\"owner_pid\":").unwrap();
    assert_eq!(refusal(&repository).code, Code::XchainLockTimeout);
    let file = fs::File::options().write(true).open(folder.path().join(LOCK)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(31)).unwrap();
    drop(lock(&repository));
}

#[test]
fn a_process_that_lost_the_lock_writes_nothing() {
    let (folder, repository) = begun();
    let held = lock(&repository);
    let turn = assign(&held, 2).unwrap();
    stage(&held, &turn).unwrap();
    let commit = acceptance(&held, &turn, 3).unwrap();
    foreign(&folder, 1, instant());
    let before = files(folder.path());
    let refused = held.commit(&commit).err().unwrap();
    assert_eq!(refused.code(), Code::XchainLockLost);
    assert_eq!(files(folder.path()), before);
    // Their lock is not ours to remove.
    drop(held);
    assert!(folder.path().join(LOCK).exists());
}

#[test]
fn one_of_many_has_the_lock() {
    let (folder, repository) = empty();
    // What everybody fights over, left by a process that is gone.
    foreign(&folder, u32::MAX, instant());
    let counter = path("counter");
    let work = |_| {
        let repository = Repository::open(folder.path()).unwrap();
        let counter = counter.clone();
        thread::spawn(move || {
            for _ in 0..20 {
                let held = repository.lock(Duration::from_secs(60)).unwrap();
                let found = held.read(&counter, 100).unwrap().unwrap_or_default();
                let count: u64 = String::from_utf8(found).unwrap().parse().unwrap_or(0);
                held.write(&counter, (count + 1).to_string().as_bytes()).unwrap();
            }
        })
    };
    let workers: Vec<_> = (0..4).map(work).collect();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(repository.read(&counter, 100).unwrap().unwrap(), b"80");
}
