//! The disk of a workspace.

use accord_trees::{Disk, Result, Root};

/// A folder that skips fsync, because it is removed after the case.
#[derive(Debug)]
pub(super) struct UnsyncedDisk(pub(super) Root);

impl Disk for UnsyncedDisk {
    accord_trees::forward! { 0:
        root_path, stat, list, open, make_folder, create, append, truncate, rename, move_to,
        publish, remove_file, remove_tree, guard, try_guard
    }

    fn sync(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn sync_folder(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn sync_tree(&self) -> Result<()> {
        Ok(())
    }
}
