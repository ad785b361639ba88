//! Backup, restore, compaction and checks.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Duration;

use accord_store::{Engine as _, Progress, Result, Store, StoreError, StoreErrorKind};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::connect::existing;
use crate::error::IntoStoreError as _;
use crate::folder::{DATABASE, Folder, create_private, has_database, sync_folder};
use crate::{Options, SqliteStore, migrate};

/// The folder in which a store is rewritten or repaired, beside the old one.
const REWRITTEN: &str = "rewritten.partial";

/// How many pages are copied between two reports.
const STEP: i32 = 1_000;

/// Copies one snapshot of a database into a file that must not exist yet. Reads and writes
/// continue.
pub(crate) fn backup(database: &Path, to: &Path, report: &mut dyn FnMut(Progress)) -> Result<()> {
    if to.exists() {
        let detail = to.display().to_string();
        return Err(StoreError::new(StoreErrorKind::Occupied, detail));
    }
    // A separate connection, so that the copy is one snapshot.
    let source = existing(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    // BEGIN alone takes no snapshot; the first read does. Otherwise a commit during the copy would
    // make SQLite start the copy again.
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

/// Checks a backup and restores it into a folder. A store in the folder is an error unless
/// `replace` is set.
pub(crate) fn restore(backup: &Path, folder: &Path, replace: bool) -> Result<()> {
    // Before anything in the folder is touched: a damaged backup must not replace a good store.
    check(backup)?;
    let folder_path = folder;
    let folder = Folder::take(folder)?;
    if has_database(folder_path) && !replace {
        let place = folder.database().display().to_string();
        return Err(StoreError::new(StoreErrorKind::Occupied, place));
    }
    // Checkpoints the old store first, so that an interruption leaves it complete without its
    // log. A damaged store may fail here, which is ignored because it is replaced.
    drop(fold_log(&folder.database()));
    let partial = beside(&folder.database());
    let source = existing(backup, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let copied = copy(&source, &partial, &mut |_| {}).and_then(|()| settle(&partial));
    copied.and_then(|()| swap_in(&folder, &partial)).inspect_err(|_| {
        drop(fs::remove_file(&partial));
    })
}

/// Rewrites the store of a folder without unused space. Returns its size before and after, in
/// bytes.
pub(crate) fn compact(folder: &Path) -> Result<(u64, u64)> {
    let folder = take_store(folder)?;
    let database = folder.database();
    // The log must be in the database first: `swap_in` deletes it.
    fold_log(&database)?;
    let before = fs::metadata(&database).store_error()?.len();
    let partial = beside(&database);
    let done = write_anew(&database, &partial)
        .and_then(|()| settle(&partial))
        // The copy is checked before it replaces the original, which is then gone.
        .and_then(|()| check(&partial))
        .and_then(|()| swap_in(&folder, &partial));
    if let Err(error) = done {
        drop(fs::remove_file(&partial));
        return Err(error);
    }
    Ok((before, fs::metadata(&database).store_error()?.len()))
}

/// Rewrites the store of a folder and lets `rebuild` change the new one, which then replaces the
/// old one.
pub(crate) fn repair(
    folder: &Path,
    rebuild: &mut dyn FnMut(&dyn Store) -> Result<()>,
) -> Result<()> {
    let folder = take_store(folder)?;
    let database = folder.database();
    fold_log(&database)?;
    let room = folder.file(REWRITTEN);
    // A repair that failed or was killed left a copy in an unknown state.
    clear(&room)?;
    let repaired = repair_copy(&database, &room, rebuild)
        .and_then(|()| swap_in(&folder, &room.join(DATABASE)));
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
    connection.execute("VACUUM INTO ?1", (target,)).store_error()?;
    Ok(())
}

fn clear(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).store_error(),
        _ => Ok(()),
    }
}

/// Checkpoints a database and truncates its log.
fn fold_log(database: &Path) -> Result<()> {
    let connection = existing(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let left: i64 = connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0))
        .store_error()?;
    // The first column is 1 when a reader blocked the checkpoint. Then the log still has commits
    // that the database does not have.
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
        let done = total.saturating_sub(left);
        report(Progress { done, total });
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
    let mode: String =
        connection.query_row("PRAGMA journal_mode = DELETE", (), |row| row.get(0)).store_error()?;
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
        match fs::remove_file(folder.file(log)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).store_error()?;
            }
            _ => {}
        }
    }
    // The removal must be durable before the rename. After a power loss in between, the old log
    // beside the new database would be replayed into it.
    folder.sync()?;
    fs::rename(partial, folder.database()).store_error()?;
    folder.sync()
}

fn integrity(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare("PRAGMA integrity_check(10)").store_error()?;
    let found: Vec<String> = statement
        .query_map((), |row| row.get(0))
        .store_error()?
        .collect::<rusqlite::Result<_>>()
        .store_error()?;
    if found != ["ok"] {
        return Err(StoreError::new(StoreErrorKind::Corrupt, found.join("; ")));
    }
    // `integrity_check` does not look at foreign keys.
    let mut statement = connection.prepare("PRAGMA foreign_key_check").store_error()?;
    if statement.exists(()).store_error()? {
        Err(StoreError::new(StoreErrorKind::Corrupt, "a row refers to a missing row"))
    } else {
        Ok(())
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
