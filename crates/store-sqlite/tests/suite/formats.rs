//! Stores that earlier versions wrote.
//!
//! `fixtures/format-N.db` was written by the version that had format N, and `format-N.txt` is what
//! it held. Neither ever changes. The pair of the latest format is written with `ACCORD_BLESS=1`
//! where it is not there.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

use accord_store::testing::{COMMON, compare, everything};
use accord_store_sqlite::{DATABASE, FORMAT, Options, SqliteStore, compact};

#[test]
fn every_format_opens_and_holds_what_it_held() {
    write_missing();
    for format in 1..=FORMAT {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(fixture(format, "db"), folder.path().join(DATABASE)).unwrap();
        let store = SqliteStore::open(folder.path(), &options()).unwrap();
        let expected = fs::read_to_string(fixture(format, "txt")).unwrap();
        let expected: Vec<String> = expected.lines().map(renamed).collect();
        let found: Vec<String> = everything(&store).iter().map(|row| renamed(row)).collect();
        assert_eq!(found, expected, "format {format}");
        assert!(expected.len() > 50);
        store.check().unwrap();
    }
}

/// The text of a row without what depends on names in the code, which change: a time is told by the
/// text beside it.
fn renamed(row: &str) -> String {
    let mut row = row.replace("Kept { oldest", "EventRange { oldest");
    for (start, end) in [(", instant: Instant {", "}"), (", time: Time(", ")")] {
        while let Some(from) = row.find(start) {
            let length = row[from..].find(end).unwrap() + end.len();
            row.replace_range(from..from + length, "");
        }
    }
    row
}

/// A migration that was released never changes: if one does, old stores and new ones differ.
#[test]
fn an_old_store_has_the_shape_of_a_new_one() {
    write_missing();
    let new = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(new.path(), &options()).unwrap());
    for format in 1..=FORMAT {
        let old = tempfile::tempdir().unwrap();
        fs::copy(fixture(format, "db"), old.path().join(DATABASE)).unwrap();
        drop(SqliteStore::open(old.path(), &options()).unwrap());
        assert_eq!(shape(old.path()), shape(new.path()), "format {format}");
    }
}

/// The tables, the indexes and the settings of the index of terms.
fn shape(folder: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(folder.join(DATABASE)).unwrap();
    let sql = "SELECT name || ': ' || sql FROM sqlite_schema WHERE sql IS NOT NULL
        UNION ALL SELECT k || ' = ' || v FROM package_terms_config ORDER BY 1";
    let mut statement = connection.prepare(sql).unwrap();
    let lines = statement.query_map((), |row| row.get(0)).unwrap();
    lines.map(|line| line.unwrap()).collect()
}

/// Writes the pair of the latest format where it is to be written.
fn write_missing() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("ACCORD_BLESS").is_some() && !fixture(FORMAT, "db").exists() {
            write(FORMAT);
        }
    });
}

fn write(format: u32) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path(), &options()).unwrap();
    compare(&store, 3, 120);
    fs::write(fixture(format, "txt"), everything(&store).join("\n") + "\n").unwrap();
    drop(store);
    // Small pages make a small file.
    let connection = rusqlite::Connection::open(folder.path().join(DATABASE)).unwrap();
    let small = "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM;";
    connection.execute_batch(small).unwrap();
    drop(connection);
    compact(folder.path()).unwrap();
    fs::copy(folder.path().join(DATABASE), fixture(format, "db")).unwrap();
}

fn options() -> Options {
    let mut options = Options::default();
    options.common = COMMON;
    options
}

fn fixture(format: u32, kind: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fixtures.join(format!("format-{format}.{kind}"))
}
