//! A disk that ends the process at a chosen write.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Disk, Result};

/// A disk that executes a number of writing operations and then ends the process as `kill -9` does:
/// nothing is dropped or printed.
pub struct AbortAfter<D> {
    disk: D,
    left: AtomicU64,
}

impl<D: Disk> AbortAfter<D> {
    /// Ends the process after this number of operations.
    pub fn new(disk: D, operations: u64) -> Self {
        Self { disk, left: AtomicU64::new(operations) }
    }

    fn count(&self) {
        let took =
            self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        if took.is_err() {
            std::process::abort();
        }
    }
}

impl<D: Disk> Disk for AbortAfter<D> {
    crate::forward! { disk: root_path, stat, list, open, guard, try_guard, keep_folders }

    fn make_folder(&self, path: &str) -> Result<bool> {
        self.count();
        self.disk.make_folder(path)
    }

    fn create(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        self.count();
        self.disk.create(path, bytes)
    }

    fn append(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.count();
        self.disk.append(path, bytes)
    }

    fn truncate(&self, path: &str, length: u64) -> Result<()> {
        self.count();
        self.disk.truncate(path, length)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.count();
        self.disk.rename(from, to)
    }

    fn move_to(&self, from: &str, to: &str) -> Result<()> {
        self.count();
        self.disk.move_to(from, to)
    }

    fn publish(&self, from: &str, to: &str) -> Result<bool> {
        self.count();
        self.disk.publish(from, to)
    }

    fn remove_file(&self, path: &str) -> Result<bool> {
        self.count();
        self.disk.remove_file(path)
    }

    fn remove_tree(&self, path: &str) -> Result<()> {
        self.count();
        self.disk.remove_tree(path)
    }

    fn sync(&self, path: &str) -> Result<()> {
        self.count();
        self.disk.sync(path)
    }

    fn sync_folder(&self, path: &str) -> Result<()> {
        self.count();
        self.disk.sync_folder(path)
    }

    fn sync_tree(&self) -> Result<()> {
        self.count();
        self.disk.sync_tree()
    }
}
