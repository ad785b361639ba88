//! The files of a workspace that is thrown away.

use accord_trees::{Disk, Result, Root};

/// A folder whose files need not outlive the machine: nothing is made to last, everything else is the
/// disk that repositories are on.
#[derive(Debug)]
pub(super) struct Scratch(pub(super) Root);

impl Disk for Scratch {
    accord_trees::forward! { 0: root_path, stat, list, open, make_folder, create, append, truncate, rename,
    publish, remove_file, remove_tree, guard }

    fn sync(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn sync_folder(&self, _: &str) -> Result<()> {
        Ok(())
    }
}
