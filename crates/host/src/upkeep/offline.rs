//! Maintenance of a data folder that no host serves: restore, compaction and repair.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use accord_contract::Failure;
use accord_memory::Repaired;
use accord_store::{Engine as _, StoreError, StoreErrorKind};

use super::backup::code_of;
use super::{create_folder, trees};
use crate::engine::{self, DATABASE, FolderEngine, LOCK};
use crate::http::BLOBS;
use crate::settings::CONFIG_FILE;

/// Verifies a backup and restores it into a data folder. The store and the task trees in the folder
/// are replaced only if `replace` is set. A settings file in the folder is kept, and so is a tree
/// that the backup does not have.
pub fn restore(backup: &Path, folder: &Path, replace: bool) -> Result<(), Failure> {
    let database = backup.join(DATABASE);
    if !database.is_file() {
        let missing = StoreError::new(StoreErrorKind::NoStore, String::new());
        return Err(explain(backup, &missing));
    }
    FolderEngine::check_backup(&database).map_err(|error| explain(backup, &error))?;
    must_be_free(folder)?;
    let has_data = folder.join(DATABASE).exists() || trees::are_in_the_way(backup, folder);
    if has_data && !replace {
        let occupied = StoreError::new(StoreErrorKind::Occupied, String::new());
        return Err(explain(folder, &occupied));
    }
    let copied = create_folder(folder).and_then(|()| {
        // Blobs first, so that rows never refer to a missing one.
        let blobs = backup.join(BLOBS);
        if blobs.is_dir() {
            add_folder(&blobs, &folder.join(BLOBS))?;
        }
        let (from, to) = (backup.join(CONFIG_FILE), folder.join(CONFIG_FILE));
        if from.is_file() && !to.exists() {
            add_file(&from, &to)?;
        }
        trees::bring(backup, folder)
    });
    let trees = copied.map_err(|error| unwritable(folder, &error))?;
    let restored = FolderEngine::restore(&database, folder, replace);
    restored.map_err(|error| explain(folder, &error))?;
    // After the store: a tree may be newer than what the store took over of it, and never older.
    trees.take_their_places().map_err(|error| unwritable(folder, &error))
}

/// Rewrites the store of a data folder without unused space, which needs room for a second copy.
/// Returns its size before and after, in bytes.
pub fn compact(folder: &Path) -> Result<(u64, u64), Failure> {
    FolderEngine::compact(folder).map_err(|error| explain(folder, &error))
}

/// Rebuilds the derived data of a data folder, on a copy of its store that then replaces the store.
/// `tell` gets the number of packages that are done, and of all packages. Fails when there is no
/// store, it is in use, the disk is too full for a second copy, or the damage is not limited to
/// single rows. The store is unchanged then.
pub fn repair(folder: &Path, tell: &mut dyn FnMut(u64, u64)) -> Result<Repaired, Failure> {
    engine::repair(folder, tell).map_err(|error| explain(folder, &error))
}

/// Refuses a folder that another process has open.
fn must_be_free(folder: &Path) -> Result<(), Failure> {
    let Ok(lock) = File::open(folder.join(LOCK)) else { return Ok(()) };
    // Only asks, for an early error. `Engine::restore` takes the lock itself. Blobs that are added
    // before that do no harm, because they are named by their content.
    match lock.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {
            let pid = fs::read_to_string(folder.join(LOCK)).unwrap_or_default().trim().parse().ok();
            let locked = StoreError::new(StoreErrorKind::Locked { pid }, String::new());
            Err(explain(folder, &locked))
        }
        _ => Ok(()),
    }
}

/// Adds the files of a folder to another. They are named by their content, so a file that exists
/// already is identical.
fn add_folder(from: &Path, to: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            add_folder(&entry.path(), &target)?;
        } else if kind.is_file() && !target.exists() {
            add_file(&entry.path(), &target)?;
        }
    }
    File::open(to)?.sync_all()
}

/// Adds a file, which gets its name once it is complete.
fn add_file(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().unwrap_or(Path::new("."));
    let mut written = tempfile::NamedTempFile::new_in(folder)?;
    io::copy(&mut File::open(from)?, &mut written)?;
    written.as_file().sync_all()?;
    written.persist(to)?;
    Ok(())
}

fn explain(folder: &Path, error: &StoreError) -> Failure {
    Failure::new(error.code(), format!("{}: {error}", folder.display()))
}

fn unwritable(folder: &Path, error: &io::Error) -> Failure {
    let message = format!("{} cannot be written: {error}", folder.display());
    Failure::new(code_of(error), message)
}
