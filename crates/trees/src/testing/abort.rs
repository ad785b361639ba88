//! A disk that ends the process at a chosen write.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Disk;

/// A disk that ends the process after a number of writing operations, as `kill -9` does.
pub struct AbortAfter<D> {
    disk: D,
    left: AtomicU64,
}

impl<D: Disk> AbortAfter<D> {
    pub fn new(disk: D, operations: u64) -> Self {
        Self { disk, left: AtomicU64::new(operations) }
    }

    fn count(&self) {
        let one_less = |left: u64| left.checked_sub(1);
        if self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_less).is_err() {
            std::process::abort();
        }
    }
}

impl<D: Disk> Disk for AbortAfter<D> {
    crate::forward! { disk: root_path, stat, list, open, guard, try_guard, keep_folders }
    crate::forward! { disk after count: make_folder, create, append, truncate, rename, move_to,
    publish, remove_file, remove_tree, sync, sync_folder, sync_tree }
}
