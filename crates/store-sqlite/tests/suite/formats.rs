//! Stores that earlier versions wrote.
//!
//! `fixtures/format-N.db` was written by the version that had format N, and `format-N.txt` is what
//! it held. Neither ever changes. The pair of the latest format is written with `ACCORD_BLESS=1`
//! where it is not there.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use accord_base::ProjectId;
use accord_memory_core::{Package, PackageId};
use accord_store::testing::{COMMON, Random, compare, everything};
use accord_store::{
    Drafts, Engine as _, PackageIndex, QuestionQuery, Result, SearchQuery, SearchResults,
    StoreExt as _,
};
use accord_store_sqlite::{DATABASE, FORMAT, Options, SqliteStore};

use crate::format_1::write_format_1;
use crate::support::{deposit, given, log, open, package, start};

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

/// The text of a row without what depends on names in the code, which change: a time is recognised
/// by the text beside it.
fn renamed(row: &str) -> String {
    let mut row = row.replace("Kept { oldest", "EventRange { oldest");
    // Members that earlier formats did not have.
    for (start, end) in [(" outline: Outline {", "}, "), (" has_note:", ",")] {
        while let Some(from) = row.find(start) {
            let length = row[from..].find(end).unwrap() + end.len();
            row.replace_range(from..from + length, if end == "," { "" } else { " " });
        }
    }
    row = row.replace(", conformance: false, text: ", ", text: ");
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

/// Packages without a readable text keep their index: a store of format 1 finds at once what a new
/// store finds, also if the process that opens it first is killed.
#[test]
fn a_large_store_of_format_1_is_searched_at_once() {
    if let Some(folder) = given() {
        drop(SqliteStore::open(Path::new(&folder), &Options::default()).unwrap());
        return;
    }
    let new = tempfile::tempdir().unwrap();
    let store = open(new.path());
    fill(&store, 3_000);
    let old = tempfile::tempdir().unwrap();
    store.close().unwrap();
    drop(store);
    write_format_1(new.path(), old.path());
    let expected = answers(&open(new.path()));
    for round in 0..4_u64 {
        let copy = tempfile::tempdir().unwrap();
        fs::copy(old.path().join(DATABASE), copy.path().join(DATABASE)).unwrap();
        if round > 0 {
            let test = "formats::a_large_store_of_format_1_is_searched_at_once";
            let mut child = start(test, copy.path().to_str().unwrap());
            // The moment of the kill is not what decides: every one must leave a sound store.
            std::thread::sleep(Duration::from_millis(7 * round));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let store = open(copy.path());
        assert_eq!(answers(&store), expected, "round {round}");
        deposit(&store, "p", "new", "a new needle").unwrap();
        let found = answer(&store, "new needle");
        assert_eq!(found[0].0, "new");
        store.check().unwrap();
    }
}

fn fill(store: &SqliteStore, packages: usize) {
    deposit(store, "p", "first", "nothing").unwrap();
    let rows: Vec<_> = (0..packages).map(|number| package("p", &format!("n{number}"))).collect();
    let mut random = Random::new(1);
    let words = move |random: &mut Random| -> String {
        let words = (0..60).map(|_| format!("w{} ", random.below(40) * random.below(40)));
        words.collect()
    };
    let filled: Result<()> = store.write(move |unit| {
        for row in &rows {
            let (title, body) = (words(&mut random), words(&mut random));
            let index = PackageIndex::of_parts([&title, "", "", "", &body], &[]);
            unit.insert_package(row, &index, &log())?;
        }
        Ok(())
    });
    filled.unwrap();
}

fn answers(store: &SqliteStore) -> Vec<Vec<(String, f64)>> {
    let queries = ["w7", "w12 w35", "w1000 and w3", "w20.w30", "nothing"];
    queries.iter().map(|query| answer(store, query)).collect()
}

fn answer(store: &SqliteStore, text: &str) -> Vec<(String, f64)> {
    let query = SearchQuery { text, limit: 10, ..SearchQuery::default() };
    let project = ProjectId::new("p").unwrap();
    let found: Result<SearchResults> = store.read(|unit| unit.search(&project, &query));
    let hits = found.unwrap().hits.into_iter();
    hits.map(|hit| (hit.package.package_id.as_str().to_owned(), hit.score)).collect()
}

/// In format 1, `x-answers` and `x-supersedes` were members like any other.
#[test]
fn links_of_format_1_hold() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(DATABASE);
    fs::copy(fixture(1, "db"), &file).unwrap();
    let connection = rusqlite::Connection::open(file).unwrap();
    let asked = "SELECT q.text, a.package_id, q.ordinal, b.package_id, b.pk, j.project_id
        FROM question q JOIN package a ON a.pk = q.package JOIN project j ON j.pk = q.project
        JOIN package b ON b.project = q.project AND b.pk <> a.pk
        WHERE q.audience = '' AND b.quarantined_at IS NULL LIMIT 1";
    let (question, asking, index, answering, pk, project) = connection
        .query_row(asked, (), |row| {
            let texts = |at| row.get::<_, String>(at);
            let number = |at| row.get::<_, i64>(at);
            Ok((texts(0)?, texts(1)?, number(2)?, texts(3)?, number(4)?, texts(5)?))
        })
        .unwrap();
    let text = format!(
        r#"{{"package_id":"{answering}","project_id":"{project}","relay_version":"0.1","title":"T",
        "status":"complete","package_type":"standard","review_type":"none",
        "created_at":"2026-04-18T20:00:00Z","created_by":{{"id":"a","type":"human"}},
        "x-answers":[{{"package_id":"{asking}","index":{index}}}],"x-supersedes":["{asking}"]}}"#
    );
    let update = "UPDATE package SET text = ?2, status = 'complete', actor_type = 'human',
        created_at = '2026-04-18T20:00:00Z', created_key = '2026-04-18T20:00:00' WHERE pk = ?1";
    assert_eq!(connection.execute(update, (pk, text)).unwrap(), 1);
    drop(connection);
    let store = SqliteStore::open(folder.path(), &options()).unwrap();
    let (project, asking) = (ProjectId::new(project).unwrap(), PackageId::new(asking).unwrap());
    let query = QuestionQuery { limit: 99, drafts: Drafts::None, ..QuestionQuery::default() };
    let open = store.read(|unit| unit.questions(&project, &query)).unwrap();
    assert!(open.iter().all(|row| row.text != question), "{open:?}");
    let all = QuestionQuery { answered: true, ..query };
    let all = store.read(|unit| unit.questions(&project, &all)).unwrap();
    assert!(all.iter().any(|row| row.text == question && !row.open), "{all:?}");
    let marks = store.read(|unit| unit.superseded(&project, &mut [&asking].into_iter())).unwrap();
    assert_eq!(marks[&asking], [PackageId::new(answering).unwrap()]);
}

/// Before the last format, names were words without parts.
#[test]
fn packages_of_an_older_format_are_found_by_the_parts_of_names() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "unreadable", "needle").unwrap();
    let text = r#"{"package_id":"old","project_id":"p","relay_version":"0.1",
        "title":"Folded lines in parseHttpHeader","status":"complete",
        "package_type":"standard","review_type":"none","created_at":"2026-04-18T20:00:00Z",
        "created_by":{"id":"a","type":"human"}}"#;
    let stored = Package::parse(text.as_bytes()).unwrap();
    let mut row = package("p", "old");
    row.state.text = stored.text().to_owned();
    row.state.content_hash = *stored.content_hash();
    let before = PackageIndex::of_parts(["folded lines in parsehttpheader", "", "", "", ""], &[]);
    let inserted: Result<u64> = store.write(move |unit| unit.insert_package(&row, &before, &log()));
    inserted.unwrap();
    assert_eq!(answer(&store, "http"), []);
    store.close().unwrap();
    drop(store);
    let connection = rusqlite::Connection::open(folder.path().join(DATABASE)).unwrap();
    // What the formats after that one added is dropped.
    let back = "ALTER TABLE counter DROP COLUMN terms; DROP TABLE inbox_item;
        DROP TABLE inbox_mark; DROP TABLE edge; DROP TABLE edge_item; DROP TABLE edge_decision;
        DROP TABLE person; DROP TABLE notice; DROP INDEX live_ask_by;
        PRAGMA user_version = 5;";
    connection.execute_batch(back).unwrap();
    drop(connection);
    let store = open(folder.path());
    assert_eq!(answer(&store, "parse http header")[0].0, "old");
    assert_eq!(answer(&store, "needle")[0].0, "unreadable");
    let project = ProjectId::new("p").unwrap();
    let damage: Result<_> = store.read(|unit| unit.check_derived(Some(&project)));
    assert_eq!(damage.unwrap(), []);
    store.check().unwrap();
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
    // The last units of a seed may remove most of what there was.
    let mut filled = (3..).map(|seed| {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path(), &options()).unwrap();
        compare(&store, seed, 120);
        (folder, store)
    });
    let (folder, store) = filled.find(|(_, store)| everything(store).len() > 100).unwrap();
    fs::write(fixture(format, "txt"), everything(&store).join("\n") + "\n").unwrap();
    drop(store);
    // Small pages make a small file.
    let connection = rusqlite::Connection::open(folder.path().join(DATABASE)).unwrap();
    let small = "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM;";
    connection.execute_batch(small).unwrap();
    drop(connection);
    SqliteStore::compact(folder.path()).unwrap();
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
