//! Opens and configures connections.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use accord_store::{Result, StoreError, StoreErrorKind};
use rusqlite::config::DbConfig;
use rusqlite::types::FromSql;
use rusqlite::{Connection, OpenFlags};

use crate::Options;
use crate::error::IntoStoreError as _;

/// Marks a file as a store of Accord.
pub(crate) const APPLICATION: i32 = 0x4163_6364;

/// How many pages the write-ahead log may have before a checkpoint.
const LOG_PAGES: i32 = 8_000;

/// How long to wait for a lock of another connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many prepared statements a connection caches.
const STATEMENTS: usize = 128;

/// Where each term occurs, and the terms. Views of each connection: no format of the database
/// depends on them.
const VIEWS: &str = "CREATE VIRTUAL TABLE temp.package_occurrence
    USING fts5vocab(main, package_terms, instance);
    CREATE VIRTUAL TABLE temp.package_vocabulary
    USING fts5vocab(main, package_terms, row);";

pub(crate) fn writer(path: &Path, options: &Options) -> Result<Connection> {
    // A new file is readable only by its owner; the log gets the same mode.
    (OpenOptions::new().append(true).create(true).mode(0o600)).open(path).store_error()?;
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let application: i32 = query(&connection, "PRAGMA application_id")?;
    let format: u32 = query(&connection, "PRAGMA user_version")?;
    let tables: u32 = query(&connection, "SELECT count(*) FROM sqlite_schema")?;
    // Before the first PRAGMA that writes: the file of another program stays as it is. One without
    // tables and format is new, or left by a crash before it was marked.
    if application != APPLICATION && (format, tables) != (0, 0) {
        return Err(StoreError::new(StoreErrorKind::NoStore, "the database is not Accord's"));
    }
    let mode: String = query(&connection, "PRAGMA journal_mode = WAL")?;
    // SQLite reports the old mode instead of an error when it cannot use a write-ahead log.
    if mode != "wal" {
        let detail = "the file system does not support a write-ahead log";
        return Err(StoreError::new(StoreErrorKind::Unavailable, detail));
    }
    // NORMAL would sync the log only at checkpoints: a power loss could undo acknowledged commits.
    let setup = format!(
        "PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA cache_size = -8000;
         PRAGMA wal_autocheckpoint = {LOG_PAGES};
         PRAGMA journal_size_limit = 67108864;"
    );
    connection.execute_batch(&setup).store_error()?;
    connection.execute_batch(VIEWS).store_error()?;
    if application != APPLICATION {
        connection.pragma_update(None, "application_id", APPLICATION).store_error()?;
    }
    if let Some(bytes) = options.max_bytes {
        let page: u32 = query(&connection, "PRAGMA page_size")?;
        let pages = bytes / u64::from(page);
        query::<i64>(&connection, &format!("PRAGMA max_page_count = {pages}"))?;
    }
    Ok(connection)
}

/// A connection that reads a database which a writer has open.
pub(crate) fn reader(path: &Path) -> Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.execute_batch(VIEWS).store_error()?;
    // Small, because every commit of the writer invalidates the cache.
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -1000;").store_error()?;
    Ok(connection)
}

/// A connection to an existing database, which must be a store of a known format.
pub(crate) fn existing(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let connection = open(path, flags)?;
    // A file that is no database is reported like a damaged one. Without a mark it is no store.
    let application: Result<i32> = query(&connection, "PRAGMA application_id");
    let application = application.map_err(|error| match error.kind() {
        StoreErrorKind::Corrupt => StoreError::new(StoreErrorKind::NoStore, error.detail()),
        _ => error,
    })?;
    if application != APPLICATION {
        return Err(StoreError::new(StoreErrorKind::NoStore, "the database is not Accord's"));
    }
    crate::migrate::refuse_later(query(&connection, "PRAGMA user_version")?)?;
    Ok(connection)
}

/// The first value that a query gives.
pub(crate) fn query<T: FromSql>(connection: &Connection, sql: &str) -> Result<T> {
    connection.query_row(sql, (), |row| row.get(0)).store_error()
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection> {
    // Each connection is used by one thread at a time, which the pool and the writer guarantee.
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).store_error()?;
    connection.busy_timeout(PATIENCE).store_error()?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Otherwise SQLite prepares a statement again whenever other values are bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).store_error()?;
    connection.execute_batch("PRAGMA temp_store = MEMORY;").store_error()?;
    Ok(connection)
}
