//! Backup, restore, compaction and checks.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Duration;

use accord_store::{
    Engine as _, INCARNATION, INCARNATIONS_BEFORE, Progress, Result, Store, StoreError,
    StoreErrorKind,
};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::connect::{existing, query};
use crate::error::IntoStoreError as _;
use crate::folder::{DATABASE, Folder, create_private, has_database, sync_folder};
use crate::{Options, SqliteStore, migrate};

/// The folder in which a store is rewritten or repaired, beside the old one.
const REWRITTEN: &str = "rewritten.partial";

/// How many pages are copied between two reports.
const STEP: i32 = 1_000;

/// Copies one snapshot of a database, which stays in use, into a file that must not exist yet.
pub(crate) fn backup(database: &Path, to: &Path, report: &mut dyn FnMut(Progress)) -> Result<()> {
    if to.exists() {
        let detail = to.display().to_string();
        return Err(StoreError::new(StoreErrorKind::Occupied, detail));
    }
    // A separate connection, so that the copy is one snapshot.
    let source = existing(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    // BEGIN alone takes no snapshot. With none, a commit would make SQLite start the copy again.
    source.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;").store_error()?;
    let partial = beside(to);
    // Renamed only when it is complete and synced, so that a file with this name is a whole backup.
    let copied = copy(&source, &partial, report).and_then(|()| settle(&partial));
    let done = copied.and_then(|()| fs::rename(&partial, to).store_error());
    if done.is_err() {
        drop(fs::remove_file(&partial));
    }
    done.and_then(|()| sync_folder(parent(to)))
}

/// Checks a file, such as a backup, for damage.
pub(crate) fn check(file: &Path) -> Result<()> {
    integrity(&existing(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?)
}

/// Checks a backup and restores it into a folder, over a store only if `replace` is set.
pub(crate) fn restore(backup: &Path, folder: &Path, replace: bool) -> Result<()> {
    // Before anything in the folder is touched: a damaged backup must not replace a good store.
    check(backup)?;
    let database = folder.join(DATABASE);
    let locked = Folder::take(folder)?;
    if has_database(folder) && !replace {
        return Err(StoreError::new(StoreErrorKind::Occupied, database.display().to_string()));
    }
    // Checkpoints the old store first, so that an interruption leaves it complete without its
    // log. A damaged store may fail here, which is ignored because it is replaced.
    drop(fold_log(&database));
    let partial = beside(&database);
    let source = existing(backup, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let copied = copy(&source, &partial, &mut |_| {});
    let copied = copied.and_then(|()| begin_incarnation(&partial));
    let copied = copied.and_then(|()| settle(&partial));
    let restored = copied.and_then(|()| swap_in(&locked, &partial));
    restored.inspect_err(|_| drop(fs::remove_file(&partial)))
}

/// Ends the incarnation of the store in a file: the next host that opens it makes another, so that
/// edges learn that it may lack some of what they sent. Its name is kept among those before.
fn begin_incarnation(database: &Path) -> Result<()> {
    let connection = existing(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let keep = "INSERT INTO setting (project, name, value)
        SELECT 0, ?2, value FROM setting WHERE project = 0 AND name = ?1
        ON CONFLICT (project, name) DO UPDATE SET value = value || ' ' || excluded.value";
    connection.execute(keep, (INCARNATION, INCARNATIONS_BEFORE)).store_error()?;
    let end = "DELETE FROM setting WHERE project = 0 AND name = ?1";
    connection.execute(end, (INCARNATION,)).store_error()?;
    connection.close().map_err(|(_, error)| error).store_error()
}

/// Rewrites the store of a folder without unused space. Returns its size in bytes before and after.
pub(crate) fn compact(folder: &Path) -> Result<(u64, u64)> {
    let folder = take_store(folder)?;
    let database = folder.database();
    // The log must be in the database first: `swap_in` deletes it.
    fold_log(&database)?;
    let before = fs::metadata(&database).store_error()?.len();
    let partial = beside(&database);
    // The copy is checked before it replaces the original, which is then gone.
    let written = write_anew(&database, &partial).and_then(|()| settle(&partial));
    let done = written.and_then(|()| check(&partial)).and_then(|()| swap_in(&folder, &partial));
    done.inspect_err(|_| drop(fs::remove_file(&partial)))?;
    Ok((before, fs::metadata(&database).store_error()?.len()))
}

/// Rewrites the store of a folder, and lets `rebuild` change the copy before it replaces the store.
pub(crate) fn repair(path: &Path, rebuild: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
    let folder = take_store(path)?;
    let database = folder.database();
    fold_log(&database)?;
    let room = folder.file(REWRITTEN);
    // A repair that failed or was killed left a copy in an unknown state.
    clear(&room)?;
    let repaired = repair_copy(&database, &room, rebuild);
    let repaired = repaired.and_then(|()| swap_in(&folder, &room.join(DATABASE)));
    clear(&room)?;
    repaired
}

fn repair_copy(
    database: &Path,
    room: &Path,
    rebuild: &mut dyn FnMut(&dyn Store) -> Result<()>,
) -> Result<()> {
    DirBuilder::new().mode(0o700).create(room).store_error()?;
    let copy = room.join(DATABASE);
    write_anew(database, &copy)?;
    let store = SqliteStore::open(room, &Options::default())?;
    rebuild(&store)?;
    store.close()?;
    settle(&copy)?;
    check(&copy)
}

fn take_store(folder: &Path) -> Result<Folder> {
    if !has_database(folder) {
        return Err(StoreError::new(StoreErrorKind::NoStore, folder.display().to_string()));
    }
    Folder::take_existing(folder)
}

/// Writes a database into a new file, without unused space.
fn write_anew(database: &Path, to: &Path) -> Result<()> {
    let connection = existing(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    migrate::migrate(&connection)?;
    // SQLite would create the file with the default mode. It accepts an existing empty file.
    new_file(to)?;
    let target = to.to_string_lossy().into_owned();
    connection.execute("VACUUM INTO ?1", (target,)).map(drop).store_error()
}

fn clear(folder: &Path) -> Result<()> {
    unless_missing(fs::remove_dir_all(folder))
}

fn unless_missing(removed: std::io::Result<()>) -> Result<()> {
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).store_error(),
        _ => Ok(()),
    }
}

/// Checkpoints a database and truncates its log.
fn fold_log(database: &Path) -> Result<()> {
    let connection = existing(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // 1 when a reader blocked the checkpoint: the log still has commits that the database lacks.
    let left: i64 = query(&connection, "PRAGMA wal_checkpoint(TRUNCATE)")?;
    match left {
        0 => connection.close().map_err(|(_, error)| error).store_error(),
        _ => Err(StoreError::new(StoreErrorKind::Busy, "another process reads the database")),
    }
}

/// Creates an empty file. Removes what an earlier attempt left.
fn new_file(path: &Path) -> Result<()> {
    drop(fs::remove_file(path));
    create_private(path)
}

/// Copies a database page by page.
fn copy(source: &Connection, to: &Path, report: &mut dyn FnMut(Progress)) -> Result<()> {
    new_file(to)?;
    let mut target = Connection::open(to).store_error()?;
    let backup = Backup::new(source, &mut target).store_error()?;
    loop {
        let step = backup.step(STEP).store_error()?;
        let progress = backup.progress();
        let total = u64::try_from(progress.pagecount).unwrap_or_default();
        let left = u64::try_from(progress.remaining).unwrap_or_default();
        report(Progress { done: total.saturating_sub(left), total });
        match step {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            // Busy or locked: a writer has the database at this moment.
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Makes a new database durable as one file, without a log file.
fn settle(path: &Path) -> Result<()> {
    let connection = Connection::open(path).store_error()?;
    // In WAL mode the copy would have a log beside it, and renaming the file alone would lose it.
    let mode: String = query(&connection, "PRAGMA journal_mode = DELETE")?;
    if mode != "delete" {
        return Err(StoreError::new(StoreErrorKind::Unavailable, "the copy kept its log"));
    }
    connection.close().map_err(|(_, error)| error).store_error()?;
    fs::File::open(path).and_then(|file| file.sync_all()).store_error()
}

/// Replaces the old database by a new one.
fn swap_in(folder: &Folder, partial: &Path) -> Result<()> {
    // The log of the old database must not be applied to the new one.
    for log in ["accord.db-wal", "accord.db-shm"] {
        unless_missing(fs::remove_file(folder.file(log)))?;
    }
    // Durable before the rename: otherwise a power loss could leave the old log beside the new
    // database, which it would be replayed into.
    folder.sync()?;
    fs::rename(partial, folder.database()).store_error()?;
    folder.sync()
}

fn integrity(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare("PRAGMA integrity_check(10)").store_error()?;
    let found = statement.query_map((), |row| row.get(0)).store_error()?;
    let found: Vec<String> = found.collect::<rusqlite::Result<_>>().store_error()?;
    if found != ["ok"] {
        return Err(StoreError::new(StoreErrorKind::Corrupt, found.join("; ")));
    }
    // `integrity_check` does not look at foreign keys.
    let mut statement = connection.prepare("PRAGMA foreign_key_check").store_error()?;
    match statement.exists(()).store_error()? {
        true => Err(StoreError::new(StoreErrorKind::Corrupt, "a row refers to a missing row")),
        false => Ok(()),
    }
}

fn beside(path: &Path) -> std::path::PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    path.with_file_name(name)
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
