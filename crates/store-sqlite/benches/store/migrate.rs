//! Migrations to formats 5 and 6. The floor is a copy of the database file, synced to the disk.

use std::fs::{self, File};
use std::path::Path;
use std::time::Instant;

use accord_store_sqlite::{DATABASE, Options, SqliteStore};

use crate::Gates;
use crate::stores::Stores;

/// Leads from format 6 back to 5, except that the index has the terms of format 6.
const TO_5: &str = "ALTER TABLE counter DROP COLUMN terms; PRAGMA user_version = 5;";

/// Leads from format 5 back to 4.
const TO_4: &str = "
    DROP INDEX package_rank; DROP INDEX package_decision; DROP INDEX package_note;
    DROP INDEX package_handed_over; DROP INDEX package_noted; DROP INDEX package_child;
    ALTER TABLE package DROP COLUMN rank; ALTER TABLE package DROP COLUMN hands_over;
    ALTER TABLE package DROP COLUMN parent_id; ALTER TABLE package DROP COLUMN has_note;
    CREATE INDEX package_work ON package (project, created_key)
        WHERE quarantined_at IS NULL
            AND (status = 'revision_requested' OR (status = 'complete' AND significance < 8
                AND (package_type <> 'auto_deposit' OR significance >= 5)));
    PRAGMA user_version = 4;";

pub(crate) fn run(gates: &mut Gates, stores: &Stores, packages: usize) {
    println!("\nmigrate: {packages} packages");
    let new = stores.folder(packages);
    let folder = tempfile::tempdir().expect("a folder");
    let began = Instant::now();
    copy(&new, folder.path());
    let copied = began.elapsed();
    let bytes = fs::metadata(folder.path().join(DATABASE)).expect("a file").len();
    let floor = copied.as_secs_f64();
    println!("  a copy of the file of {} MB, synced: {floor:.2} s (floor)", bytes >> 20);
    go_back(folder.path(), TO_5);
    let to_6 = opened(folder.path());
    println!("  format 5 to 6: {to_6:.2} s, {:.1} of the floor", to_6 / floor);
    drop(folder);
    let folder = tempfile::tempdir().expect("a folder");
    copy(&new, folder.path());
    go_back(folder.path(), TO_5);
    go_back(folder.path(), TO_4);
    let both = opened(folder.path());
    println!("  format 4 to 6: {both:.2} s, {:.1} of the floor", both / floor);
    println!("  format 4 to 5 is the difference: {:.2} s", both - to_6);
    let millis = both * 1e6 / packages as f64;
    gates.at_most("microseconds for each package from format 4 to 6", millis, MOST);
}

/// The most microseconds that the migration of a package may take.
const MOST: f64 = 600.0;

fn copy(new: &Path, old: &Path) {
    let file = old.join(DATABASE);
    fs::copy(new.join(DATABASE), &file).expect("a copy");
    File::open(&file).and_then(|file| file.sync_all()).expect("a file on the disk");
}

fn go_back(folder: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(folder.join(DATABASE)).expect("a store");
    connection.execute_batch(sql).expect("an older format");
}

/// Opens a store, which is migrated. Returns how many seconds it took.
fn opened(folder: &Path) -> f64 {
    let began = Instant::now();
    let store = SqliteStore::open(folder, &Options::default()).expect("a store");
    let took = began.elapsed().as_secs_f64();
    drop(store);
    took
}
