//! A disk that runs full.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Disk, Result, TreeError};

const FOLDER: u64 = 64;

/// A disk with so much space. A write is made as far as it fits. Removing files frees nothing.
pub struct Limited<D> {
    disk: D,
    left: AtomicU64,
}

impl<D: Disk> Limited<D> {
    pub fn new(disk: D, bytes: u64) -> Self {
        Self { disk, left: AtomicU64::new(bytes) }
    }

    pub fn disk(&self) -> &D {
        &self.disk
    }

    pub fn set_left(&self, bytes: u64) {
        self.left.store(bytes, Ordering::Release);
    }

    /// Takes as much of the space as there is, up to what is wanted.
    fn take(&self, wanted: u64) -> u64 {
        let take = |left: u64| Some(left.saturating_sub(wanted));
        let left = self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, take);
        left.unwrap_or(0).min(wanted)
    }

    /// As much of a text as there is space for, or why there is none for all of it.
    fn fitting<'b>(&self, path: &str, bytes: &'b [u8]) -> (&'b [u8], Result<()>) {
        let taken = self.take(bytes.len() as u64);
        let fits = &bytes[..usize::try_from(taken).unwrap_or(bytes.len())];
        (fits, if fits.len() == bytes.len() { Ok(()) } else { Err(full(path)) })
    }
}

fn full(path: &str) -> TreeError {
    TreeError::system(path, "written", io::Error::from(io::ErrorKind::StorageFull))
}

impl<D: Disk> Disk for Limited<D> {
    crate::forward! { disk: root_path, stat, list, open, truncate, rename, move_to, publish,
    remove_file, remove_tree, sync, sync_folder, sync_tree, guard, try_guard, keep_folders }

    fn make_folder(&self, path: &str) -> Result<bool> {
        if self.disk.stat(path)?.is_none() && self.take(FOLDER) < FOLDER {
            return Err(full(path));
        }
        self.disk.make_folder(path)
    }

    fn create(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        if self.disk.stat(path)?.is_some() {
            return Ok(false);
        }
        let (fits, outcome) = self.fitting(path, bytes);
        let made = self.disk.create(path, fits)?;
        outcome.map(|()| made)
    }

    fn append(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let (fits, outcome) = self.fitting(path, bytes);
        self.disk.append(path, fits)?;
        outcome
    }
}
