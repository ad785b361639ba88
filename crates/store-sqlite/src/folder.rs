//! The folder of a store, and its lock.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use accord_store::{Result, StoreError, StoreErrorKind};

use crate::error::IntoStoreError as _;

pub const DATABASE: &str = "accord.db";

/// The lock file. The process that has the folder open locks it and writes its process id into it.
pub const LOCK: &str = "accord.lock";

/// A folder that this process has locked.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Locked until it is dropped or the process ends.
    lock: File,
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Closing is not enough: a child process between fork and exec has the file open, too.
        drop(self.lock.unlock());
    }
}

impl Folder {
    pub(crate) fn take(path: &Path) -> Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path).store_error()?;
        Self::take_existing(path)
    }

    pub(crate) fn take_existing(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        // Not truncated: it may have the id of another process, which the error below names.
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut lock = options.open(path.join(LOCK)).store_error()?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                // The process id is only for messages; the lock is what counts.
                drop(lock.read_to_string(&mut pid));
                let pid = pid.trim().parse().ok();
                let folder = path.display().to_string();
                return Err(StoreError::new(StoreErrorKind::Locked { pid }, folder));
            }
            Err(TryLockError::Error(error)) => Err(error).store_error()?,
        }
        // Only after the lock: until then the content belongs to another process.
        lock.set_len(0).store_error()?;
        lock.seek(SeekFrom::Start(0)).store_error()?;
        writeln!(lock, "{}", std::process::id()).store_error()?;
        Ok(Self { path: path.to_owned(), lock })
    }

    /// Creates the database's file if it does not exist, readable only by its owner.
    pub(crate) fn prepare(&self) -> Result<()> {
        match create_private(&self.database()) {
            Err(error) if error.kind() == StoreErrorKind::Occupied => Ok(()),
            done => done,
        }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// A file beside the database.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Syncs the folder, so that creations, renames and removals are durable.
    pub(crate) fn sync(&self) -> Result<()> {
        sync_folder(&self.path)
    }
}

/// Creates an empty file that only its owner can read.
pub(crate) fn create_private(path: &Path) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(path).store_error()?;
    Ok(())
}

/// Syncs a folder, so that creations, renames and removals are durable.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    File::open(path).and_then(|folder| folder.sync_all()).store_error()
}

pub(crate) fn has_database(path: &Path) -> bool {
    // An empty file is no store: an opening that was interrupted after `prepare` leaves one.
    path.join(DATABASE).metadata().is_ok_and(|file| file.len() > 0)
}
