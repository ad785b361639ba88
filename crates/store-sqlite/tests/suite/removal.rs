//! Removing a project leaves nothing of it behind.

use accord_contract::{Time, Timestamp};
use accord_live_core::session::{Ask, Head, Session};
use accord_live_core::{AppId, SessionId};
use accord_store::testing::{COMMON, compare, everything};
use accord_store::{
    Engine as _, EventRange, FrameEntry, LedgerEntry, LivePart, ModelStore, Store, StoreError,
    StoreErrorKind, StoreExt as _, WriteUnit,
};
use accord_store_sqlite::{DATABASE, Options, SqliteStore};
use rusqlite::Connection;

use crate::support::{deposit, open, project};

/// What stays: the ids and counters of projects and of live sessions, and what belongs to no
/// project.
const KEPT: &[&str] = &["project", "counter", "access_key", "person", "live_session"];

/// The parts of a full-text index that hold no row of their own.
const INTERNAL: &[&str] = &["_config", "_data", "_idx"];

/// Later tables are found here by their names: a change that adds one to the schema adds its
/// deletion.
#[test]
fn no_table_has_a_row_of_a_removed_project() {
    for seed in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let mut options = Options::default();
        options.common = COMMON;
        let store = SqliteStore::open(folder.path(), &options).unwrap();
        compare(&store, seed, 150);
        let projects = store.read(|unit| unit.project_ids()).unwrap();
        assert!(!projects.is_empty(), "seed {seed}");
        for project in projects {
            store.write(move |unit| unit.remove_project(&project, &at())).unwrap();
        }
        store.check().unwrap();
        everything(&store);
        drop(store);
        let connection = Connection::open(folder.path().join(DATABASE)).unwrap();
        connection.execute("DELETE FROM setting WHERE project = 0", ()).unwrap();
        for table in tables(&connection) {
            let rows = count(&connection, &table);
            assert_eq!(rows, 0, "seed {seed}: {table}");
        }
        let owned = "SELECT count(*) FROM live_session WHERE project IS NOT NULL OR is_ended = 0";
        let owned: i64 = connection.query_row(owned, (), |row| row.get(0)).unwrap();
        assert_eq!(owned, 0, "seed {seed}: a live session has a project that was removed");
    }
}

/// A session keeps its row when its project is removed. Nothing is written into it until it begins
/// again in a project.
#[test]
fn a_session_of_a_removed_project_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let engines: [&dyn Store; 2] = [&open(folder.path()), &ModelStore::new()];
    for store in engines {
        deposit(store, "shop", "a", "tiles and zoom").unwrap();
        let shop = project("shop").project_id;
        let began = Time::from_unix_millis(1_000);
        let session = Session {
            id: SessionId::new("s1").unwrap(),
            app_id: AppId::new("shop").unwrap(),
            head: Head::new(began, 60),
        };
        let removed = {
            let (shop, session) = (shop.clone(), session.clone());
            store.write(move |unit| {
                unit.put_live_session(&shop, &session)?;
                unit.put_live_content(&session.id, LivePart::Ui, "{}")?;
                unit.remove_project(&shop, &at())
            })
        };
        removed.unwrap();
        let entry = LedgerEntry {
            seq: 1,
            at: began,
            kind: "x-event".to_owned(),
            text: "{}".to_owned(),
            event_id: None,
            key: None,
        };
        let frame =
            FrameEntry { seq: 1, channel: "a".to_owned(), is_latest: false, text: "{}".to_owned() };
        let ask = Ask { asked_by: None, intent: "go on?".to_owned(), since: began };
        type Write = Box<dyn Fn(&mut dyn WriteUnit, &SessionId) -> Result<(), StoreError> + Send>;
        let writes: [Write; 4] = [
            Box::new(|unit, id| unit.put_live_content(id, LivePart::Ui, "{}")),
            Box::new(move |unit, id| unit.append_live_event(id, &entry)),
            Box::new(move |unit, id| unit.put_live_frame(id, &frame)),
            Box::new(move |unit, id| unit.put_live_ask(id, Some(&ask))),
        ];
        for write in writes {
            let id = session.id.clone();
            let refused = store.write(move |unit| write(unit, &id)).unwrap_err();
            assert_eq!(refused.kind(), StoreErrorKind::Conflict);
        }
        deposit(store, "shop", "a", "tiles and zoom").unwrap();
        let begun = store.write(move |unit| {
            unit.put_live_session(&shop, &session)?;
            unit.put_live_content(&session.id, LivePart::Ui, "{}")
        });
        begun.unwrap();
    }
}

/// Every table of rows must have had some, or the test above proves nothing about it.
#[test]
fn the_random_history_fills_every_table() {
    let mut empty: Option<Vec<String>> = None;
    for seed in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let mut options = Options::default();
        options.common = COMMON;
        let store = SqliteStore::open(folder.path(), &options).unwrap();
        compare(&store, seed, 150);
        drop(store);
        let connection = Connection::open(folder.path().join(DATABASE)).unwrap();
        let still = empty.take().unwrap_or_else(|| tables(&connection));
        let still = still.into_iter().filter(|table| count(&connection, table) == 0);
        empty = Some(still.collect());
    }
    assert_eq!(empty, Some(Vec::new()));
}

#[test]
fn numbers_go_on_when_a_project_comes_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for package in ["a", "b", "c"] {
        deposit(&store, "shop", package, "tiles and zoom").unwrap();
    }
    deposit(&store, "atlas", "a", "tiles and zoom").unwrap();
    let shop = project("shop").project_id;
    let removed = {
        let shop = shop.clone();
        store.write(move |unit| unit.remove_project(&shop, &at())).unwrap()
    };
    assert_eq!(removed, 4);
    let seen = |store: &SqliteStore| {
        let read = store.read(|unit| {
            let atlas = project("atlas").project_id;
            let removal = unit.removal(&shop)?.unwrap();
            assert_eq!((removal.event, removal.at), (4, at()));
            Ok::<_, StoreError>((
                unit.event_range(&shop)?,
                unit.project(&shop)?.is_some(),
                unit.newest_event_at(&shop)?,
                unit.contents(&shop)?.total(),
                unit.contents(&atlas)?.total(),
            ))
        });
        read.unwrap()
    };
    let gone = (EventRange { oldest: 5, newest: 4 }, false, Some(at()), 0, 1);
    assert_eq!(seen(&store), gone);
    // The counter survives the process.
    drop(store);
    let store = open(folder.path());
    assert_eq!(seen(&store), gone);
    deposit(&store, "shop", "a", "other").unwrap();
    let (range, exists, _, contents, _) = seen(&store);
    assert_eq!((range, exists, contents), (EventRange { oldest: 5, newest: 5 }, true, 1));
    let again = store.write({
        let shop = project("shop").project_id;
        move |unit| unit.remove_project(&shop, &at())
    });
    assert_eq!(again.unwrap(), 6);
    store.check().unwrap();
}

#[test]
fn a_removal_that_is_rolled_back_removes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "shop", "a", "tiles and zoom").unwrap();
    let before = everything(&store);
    let shop = project("shop").project_id;
    let outcome = store.write(move |unit| {
        unit.remove_project(&shop, &at())?;
        Err::<(), _>(StoreError::conflict("it", "changed its mind"))
    });
    assert!(outcome.is_err());
    assert_eq!(everything(&store), before);
}

fn at() -> Timestamp {
    Timestamp::parse("2026-11-15T12:00:00Z").unwrap()
}

/// The tables that may hold rows of a project.
fn tables(connection: &Connection) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let mut statement = connection.prepare(sql).unwrap();
    let names = statement.query_map((), |row| row.get(0)).unwrap();
    let names = names.map(|name: Result<String, _>| name.unwrap());
    let kept = |name: &String| {
        !KEPT.contains(&name.as_str())
            && !name.starts_with("sqlite_")
            && !INTERNAL.iter().any(|end| name.ends_with(end))
    };
    names.filter(kept).collect()
}

fn count(connection: &Connection, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM \"{table}\"");
    connection.query_row(&sql, (), |row| row.get(0)).unwrap()
}
