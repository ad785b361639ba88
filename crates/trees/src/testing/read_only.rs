//! A disk that can be read, and not be written.

use std::io;

use crate::{Disk, Result, TreeError};

/// A disk that refuses every operation that writes, as a file system that is mounted read-only.
pub struct ReadOnly<D>(pub D);

fn refused<T>(path: &str) -> Result<T> {
    Err(TreeError::system(path, "written", io::Error::from(io::ErrorKind::ReadOnlyFilesystem)))
}

impl<D: Disk> Disk for ReadOnly<D> {
    crate::forward! { 0: root_path, stat, list, open }

    fn make_folder(&self, path: &str) -> Result<bool> {
        match self.0.stat(path)? {
            Some(_) => Ok(false),
            None => refused(path),
        }
    }

    fn create(&self, path: &str, _: &[u8]) -> Result<bool> {
        refused(path)
    }

    fn append(&self, path: &str, _: &[u8]) -> Result<()> {
        refused(path)
    }

    fn truncate(&self, path: &str, _: u64) -> Result<()> {
        refused(path)
    }

    fn rename(&self, from: &str, _: &str) -> Result<()> {
        refused(from)
    }

    fn move_to(&self, from: &str, _: &str) -> Result<()> {
        refused(from)
    }

    fn publish(&self, from: &str, _: &str) -> Result<bool> {
        refused(from)
    }

    fn remove_file(&self, path: &str) -> Result<bool> {
        refused(path)
    }

    fn remove_tree(&self, path: &str) -> Result<()> {
        refused(path)
    }

    fn sync(&self, path: &str) -> Result<()> {
        refused(path)
    }

    fn sync_folder(&self, path: &str) -> Result<()> {
        refused(path)
    }

    fn sync_tree(&self) -> Result<()> {
        refused("")
    }

    fn guard(&self, path: &str) -> Result<Box<dyn Send>> {
        refused(path)
    }

    fn try_guard(&self, path: &str) -> Result<Option<Box<dyn Send>>> {
        refused(path)
    }
}
