//! StoreErrorKind: each has its code, and none of it loses what was acknowledged.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use accord_contract::{Code, Failure};
use accord_store::Engine as _;
use accord_store::{StoreError, StoreErrorKind};
use accord_store_sqlite::{DATABASE, Options, SqliteStore};

use crate::support::{CHILD, deposit, given, in_namespace, open, refusal, whole_packages};

#[test]
fn a_store_has_one_owner_and_says_who() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let refused = refusal(folder.path());
    let pid = std::process::id();
    assert_eq!(refused.kind(), StoreErrorKind::Locked { pid: Some(pid) });
    assert_eq!(refused.code(), Code::StoreLocked);
    assert!(refused.to_string().contains(&pid.to_string()), "{refused}");
    drop(store);
    drop(open(folder.path()));
}

/// A process that is just being started has every open file of ours, for a moment.
#[test]
fn a_store_is_let_go_also_while_processes_are_started() {
    let folder = tempfile::tempdir().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                let started = Command::new("true").status();
                assert!(started.unwrap().success());
            }
        });
        for _ in 0..60 {
            let opened = SqliteStore::open(folder.path(), &Options::default());
            if opened.is_err() {
                done.store(true, Ordering::SeqCst);
            }
            opened.unwrap().close().unwrap();
        }
        done.store(true, Ordering::SeqCst);
    });
}

#[test]
fn a_later_format_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    sql(folder.path(), "PRAGMA user_version = 99");
    let file = folder.path().join(DATABASE);
    let before = fs::read(&file).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    for refused in [
        refusal(folder.path()),
        SqliteStore::check_backup(&file).unwrap_err(),
        SqliteStore::compact(folder.path()).unwrap_err(),
        SqliteStore::restore(&file, elsewhere.path(), false).unwrap_err(),
    ] {
        let known = accord_store_sqlite::FORMAT;
        assert_eq!(refused.kind(), StoreErrorKind::TooNew { found: 99, known });
        assert_eq!(refused.code(), Code::StoreTooNew);
    }
    assert_eq!(fs::read(&file).unwrap(), before);
    assert!(!elsewhere.path().join(DATABASE).exists());
}

#[test]
fn a_foreign_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    sql(folder.path(), "CREATE TABLE theirs (a)");
    let before = fs::read(folder.path().join(DATABASE)).unwrap();
    assert_eq!(refusal(folder.path()).code(), Code::StoreMissing);
    assert_eq!(fs::read(folder.path().join(DATABASE)).unwrap(), before);
}

#[test]
fn a_file_that_is_no_database_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(DATABASE), "not a database".repeat(1000)).unwrap();
    let refused = refusal(folder.path());
    assert_eq!(refused.code(), Code::StoreCorrupt);
    assert_tells_nothing(&refused, folder.path());
}

#[test]
fn damage_is_noticed_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for number in 0..200 {
        deposit(&store, "p", &format!("n{number}"), "words").unwrap();
    }
    store.check().unwrap();
    drop(store);
    let file = folder.path().join(DATABASE);
    let length = fs::metadata(&file).unwrap().len();
    let mut file = fs::OpenOptions::new().write(true).open(file).unwrap();
    for page in 2..length / 4096 {
        file.seek(SeekFrom::Start(page * 4096)).unwrap();
        file.write_all(&[0xa5; 512]).unwrap();
    }
    drop(file);
    let noticed = SqliteStore::open(folder.path(), &Options::default()).and_then(|store| {
        store.check()?;
        Ok(())
    });
    let noticed = noticed.unwrap_err();
    assert_eq!(noticed.code(), Code::StoreCorrupt);
    assert_tells_nothing(&noticed, folder.path());
    let read = SqliteStore::open(folder.path(), &Options::default())
        .and_then(|store| deposit(&store, "p", "more", "words"));
    assert_eq!(read.unwrap_err().code(), Code::StoreCorrupt);
}

#[test]
fn a_full_store_keeps_what_it_has_and_goes_on_with_more_room() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.max_bytes = Some(1 << 20);
    let store = SqliteStore::open(folder.path(), &options).unwrap();
    fill(&store);
    drop(store);
    let store = open(folder.path());
    deposit(&store, "p", "with more room", "").unwrap();
    store.check().unwrap();
}

#[test]
fn a_full_disk_loses_nothing() {
    if let Some(folder) = given() {
        let store = open(Path::new(&folder).join("store").as_path());
        fill(&store);
        store.check().unwrap();
        // What made it full goes away.
        fs::remove_file(Path::new(&folder).join("ballast")).unwrap();
        deposit(&store, "p", "with more room", "").unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=6m none \"$D\"; head -c 2000000 /dev/zero > \"$D/ballast\"";
    in_namespace("trouble::a_full_disk_loses_nothing", folder.path(), mount);
}

#[test]
fn a_limit_on_the_size_of_files_is_no_room() {
    if let Some(folder) = given() {
        let store = open(Path::new(&folder));
        fill(&store);
        store.check().unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let limited = "trap '' XFSZ; ulimit -f 6000; exec \"$0\" --exact \"$1\" --nocapture";
    let child = Command::new("sh")
        .args(["-c", limited])
        .arg(std::env::current_exe().unwrap())
        .arg("trouble::a_limit_on_the_size_of_files_is_no_room")
        .env(CHILD, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    let complained = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}{complained}");
    assert!(said.contains("1 passed"), "{said}");
    deposit(&open(folder.path()), "p", "with more room", "").unwrap();
}

#[test]
fn a_folder_that_cannot_be_written_says_so() {
    if let Some(folder) = given() {
        for name in ["store", "new"] {
            let folder = Path::new(&folder).join(name);
            let refused = refusal(&folder);
            assert_eq!(refused.code(), Code::StoreReadOnly, "{}", refused.detail());
            assert_tells_nothing(&refused, &folder);
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("store");
    deposit(&open(&place), "p", "one", "").unwrap();
    let mount = "mount --bind \"$D\" \"$D\"; mount -o remount,bind,ro \"$D\"";
    in_namespace("trouble::a_folder_that_cannot_be_written_says_so", folder.path(), mount);
    assert_eq!(whole_packages(&open(&place)).len(), 1);
}

#[test]
fn a_store_that_can_no_longer_be_written_can_still_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "one", "").unwrap();
    // Another program holds the lock of the database itself; Accord uses the lock of the
    // folder.
    let other = rusqlite::Connection::open(folder.path().join(DATABASE)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for number in 0..9 {
            let store = &store;
            scope.spawn(move || {
                let refused = deposit(store, "p", &format!("two {number}"), "").unwrap_err();
                assert_eq!(refused.code(), Code::StoreBusy);
            });
        }
    });
    // One waits for five seconds; then all of those that came meanwhile, together. One after the
    // other they would take 45 seconds.
    let waited = began.elapsed();
    assert!(waited < Duration::from_secs(40), "{waited:?}");
    assert_eq!(whole_packages(&store).len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    deposit(&store, "p", "two", "").unwrap();
}

/// Writes with many threads until there is no room; what was acknowledged is there, nothing else
/// is.
fn fill(store: &SqliteStore) {
    let body = "many different words ".repeat(40);
    let acknowledged: usize = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|thread| {
                let body = &body;
                scope.spawn(move || {
                    for number in 0.. {
                        let id = format!("{thread}.{number}");
                        match deposit(store, "p", &id, &format!("{body} {id}")) {
                            Ok(_) => {}
                            Err(error) => {
                                assert_eq!(error.code(), Code::StoreFull, "{}", error.detail());
                                return number;
                            }
                        }
                    }
                    unreachable!("there is an end to every room")
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert!(acknowledged > 0);
    assert_eq!(whole_packages(store).len(), acknowledged);
}

/// What callers see names no path and no engine.
fn assert_tells_nothing(error: &StoreError, folder: &Path) {
    let shown = Failure::from(error.clone()).to_string();
    assert!(!error.detail().is_empty(), "the operator learns the cause");
    assert!(!shown.contains(folder.to_str().unwrap()), "{shown}");
    assert!(!shown.to_lowercase().contains("sql"), "{shown}");
}

fn sql(folder: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(folder.join(DATABASE)).unwrap();
    connection.execute_batch(sql).unwrap();
}
