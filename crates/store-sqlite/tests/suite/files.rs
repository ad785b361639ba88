//! Backup, restore, compaction, and opening again.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use accord_base::ProjectId;
use accord_contract::Code;
use accord_store::Engine as _;
use accord_store::testing::{COMMON, compare, everything};
use accord_store::{
    INCARNATION, INCARNATIONS_BEFORE, ModelStore, ReadUnit, Scope, StoreExt as _, WriteUnit,
};
use accord_store_sqlite::{DATABASE, Options, SqliteStore};

use crate::support::{deposit, event, open, whole_packages};

/// The length of a page of a database.
const PAGE: usize = 4096;

#[test]
fn opened_again_a_store_holds_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.common = COMMON;
    let store = SqliteStore::open(folder.path(), &options).unwrap();
    compare(&store, 77, 60);
    let before = everything(&store);
    drop(store);
    let store = SqliteStore::open(folder.path(), &options).unwrap();
    assert_eq!(everything(&store), before);
    assert_ne!(everything(&ModelStore::new()), before);
}

#[test]
fn a_backup_made_while_others_write_is_whole() {
    let (folder, backups) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(folder.path());
    for number in 0..50 {
        deposit(&store, "p", &format!("before {number}"), "words").unwrap();
    }
    let file = backups.path().join("backup.db");
    let done = AtomicBool::new(false);
    let mut steps = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0.. {
                deposit(&store, "p", &format!("meanwhile {number}"), "words").unwrap();
                if done.load(Ordering::SeqCst) {
                    return;
                }
            }
        });
        let made = store.backup(&file, &mut |progress| steps.push(progress));
        done.store(true, Ordering::SeqCst);
        made.unwrap();
    });
    assert!(steps.last().is_some_and(|last| last.done == last.total && last.total > 0));
    SqliteStore::check_backup(&file).unwrap();
    let again = store.backup(&file, &mut |_| {}).unwrap_err();
    assert_eq!(again.code(), Code::StoreOccupied);

    let restored = tempfile::tempdir().unwrap();
    SqliteStore::restore(&file, restored.path(), false).unwrap();
    let found = whole_packages(&open(restored.path()));
    assert!(found.len() >= 50);
    assert!(whole_packages(&store).starts_with(&found));
}

/// In a folder that others may read, too.
#[test]
fn what_a_store_writes_is_its_owners_alone() {
    let (folder, backups) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "one", "words").unwrap();
    let backup = backups.path().join("backup.db");
    store.backup(&backup, &mut |_| {}).unwrap();
    assert_private(folder.path());
    drop(store);
    SqliteStore::compact(folder.path()).unwrap();
    assert_private(folder.path());
    SqliteStore::restore(&backup, folder.path(), true).unwrap();
    assert_private(folder.path());
    assert_private(backups.path());
}

fn assert_private(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{:?} has mode {mode:o}", entry.file_name());
    }
}

/// A process that was killed has left its last commits in a log.
#[test]
fn a_log_is_no_obstacle_to_compaction_and_restore() {
    let (one, two, files) = three_folders();
    let store = open(one.path());
    deposit(&store, "p", "one", "words").unwrap();
    deposit(&store, "p", "two", "words").unwrap();
    for folder in [&two, &files] {
        for name in [DATABASE, "accord.db-wal"] {
            fs::copy(one.path().join(name), folder.path().join(name)).unwrap();
        }
    }
    assert!(fs::metadata(two.path().join("accord.db-wal")).unwrap().len() > 0);
    SqliteStore::compact(two.path()).unwrap();
    assert_eq!(whole_packages(&open(two.path())).len(), 2);
    deposit(&store, "p", "three", "words").unwrap();
    let backup = one.path().join("backup.db");
    store.backup(&backup, &mut |_| {}).unwrap();
    SqliteStore::restore(&backup, files.path(), true).unwrap();
    assert_eq!(whole_packages(&open(files.path())).len(), 3);
}

/// A log that cannot be brought into its database, because a later version wrote both.
#[test]
fn an_unreadable_log_does_not_get_into_what_is_restored() {
    let (one, two, files) = three_folders();
    let store = open(one.path());
    deposit(&store, "p", "one", "words").unwrap();
    let backup = files.path().join("backup.db");
    store.backup(&backup, &mut |_| {}).unwrap();
    deposit(&store, "q", "other", "words").unwrap();
    let later = rusqlite::Connection::open(one.path().join(DATABASE)).unwrap();
    later.execute_batch("PRAGMA user_version = 99").unwrap();
    for name in [DATABASE, "accord.db-wal"] {
        fs::copy(one.path().join(name), two.path().join(name)).unwrap();
    }
    SqliteStore::restore(&backup, two.path(), true).unwrap();
    let store = open(two.path());
    store.check().unwrap();
    assert_eq!(whole_packages(&store).len(), 1);
}

#[test]
fn a_restore_ends_the_incarnation_and_keeps_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let backup = folder.path().join("backup.db");
    let mut before = Vec::new();
    for name in ["inc_1", "inc_2"] {
        let store = open(folder.path());
        let put =
            |unit: &mut dyn WriteUnit| unit.put_setting(Scope::Store, INCARNATION, Some(name));
        store.write(put).unwrap();
        store.backup(&backup, &mut |_| {}).unwrap();
        drop(store);
        SqliteStore::restore(&backup, folder.path(), true).unwrap();
        fs::remove_file(&backup).unwrap();
        before.push(name);
        let store = open(folder.path());
        let known = |name: &'static str| {
            store.read(move |unit: &dyn ReadUnit| unit.setting(Scope::Store, name)).unwrap()
        };
        assert_eq!(known(INCARNATION), None);
        assert_eq!(known(INCARNATIONS_BEFORE), Some(before.join(" ")));
        drop(store);
    }
}

#[test]
fn a_restore_replaces_only_what_it_may() {
    let (one, two, files) = three_folders();
    let file = files.path().join("one.db");
    let store = open(one.path());
    deposit(&store, "p", "one", "").unwrap();
    store.backup(&file, &mut |_| {}).unwrap();
    let other = open(two.path());
    deposit(&other, "p", "two", "").unwrap();
    assert_eq!(
        SqliteStore::restore(&file, two.path(), true).unwrap_err().code(),
        Code::StoreLocked
    );
    drop(other);
    assert_eq!(
        SqliteStore::restore(&file, two.path(), false).unwrap_err().code(),
        Code::StoreOccupied
    );
    assert_eq!(whole_packages(&open(two.path()))[0].1, "two");
    SqliteStore::restore(&file, two.path(), true).unwrap();
    assert_eq!(whole_packages(&open(two.path()))[0].1, "one");
}

#[test]
fn what_is_no_sound_store_is_not_restored() {
    let (one, two, files) = three_folders();
    let store = open(one.path());
    deposit(&store, "p", "one", "words").unwrap();
    let file = files.path().join("one.db");
    store.backup(&file, &mut |_| {}).unwrap();
    let sound = fs::read(&file).unwrap();
    for page in 1..sound.len() / PAGE {
        let mut damaged = sound.clone();
        damaged[page * PAGE..(page + 1) * PAGE].fill(0x5a);
        fs::write(&file, damaged).unwrap();
        let refused = SqliteStore::restore(&file, two.path(), true).unwrap_err();
        assert_eq!(refused.code(), Code::StoreCorrupt, "page {page}");
    }
    for bytes in [b"a text".repeat(999), Vec::new()] {
        fs::write(&file, bytes).unwrap();
        let refused = SqliteStore::restore(&file, two.path(), true).unwrap_err();
        assert_eq!(refused.code(), Code::StoreMissing);
    }
    let nowhere = files.path().join("nowhere");
    assert!(SqliteStore::restore(&nowhere, two.path(), true).is_err());
    assert!(!two.path().join(DATABASE).exists());
}

#[test]
fn compaction_gives_room_back_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "one", "words").unwrap();
    let project = ProjectId::new("p").unwrap();
    let text = "long ".repeat(2_000);
    for _ in 0..20 {
        let (project, event) = (project.clone(), event(&text));
        store
            .write(move |unit| {
                for _ in 0..10 {
                    unit.append_event(&project, &event)?;
                }
                unit.trim_events(&project, u64::MAX)
            })
            .unwrap();
    }
    let before = everything(&store);
    assert_eq!(SqliteStore::compact(folder.path()).unwrap_err().code(), Code::StoreLocked);
    drop(store);
    let (was, is) = SqliteStore::compact(folder.path()).unwrap();
    assert!(is < was, "{was} bytes became {is}");
    let store = open(folder.path());
    assert_eq!(everything(&store), before);
    store.check().unwrap();
    // The stream goes on where it was.
    let seq = store.write(move |unit| unit.append_event(&project, &event("next")));
    assert_eq!(seq.unwrap(), 202);
    let nothing = tempfile::tempdir().unwrap();
    assert_eq!(SqliteStore::compact(nothing.path()).unwrap_err().code(), Code::StoreMissing);
}

fn three_folders() -> (tempfile::TempDir, tempfile::TempDir, tempfile::TempDir) {
    let folder = || tempfile::tempdir().unwrap();
    (folder(), folder(), folder())
}
