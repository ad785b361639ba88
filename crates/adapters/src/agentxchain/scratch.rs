//! The files of a workspace that is thrown away.

use std::path::Path;

use accord_trees::{Content, Disk, Entry, Result, Root, Stat};

/// A folder whose files need not outlive the machine: nothing is made to last, everything else is the
/// disk that repositories are on.
#[derive(Debug)]
pub(super) struct Scratch(pub(super) Root);

impl Disk for Scratch {
    fn place(&self) -> &Path {
        self.0.place()
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        self.0.stat(path)
    }

    fn list(&self, path: &str) -> Result<Option<Vec<Entry>>> {
        self.0.list(path)
    }

    fn open(&self, path: &str) -> Result<Option<Box<dyn Content>>> {
        self.0.open(path)
    }

    fn make_folder(&self, path: &str) -> Result<bool> {
        self.0.make_folder(path)
    }

    fn create(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        self.0.create(path, bytes)
    }

    fn append(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.0.append(path, bytes)
    }

    fn truncate(&self, path: &str, length: u64) -> Result<()> {
        self.0.truncate(path, length)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.0.rename(from, to)
    }

    fn publish(&self, from: &str, to: &str) -> Result<bool> {
        self.0.publish(from, to)
    }

    fn remove_file(&self, path: &str) -> Result<bool> {
        self.0.remove_file(path)
    }

    fn remove_tree(&self, path: &str) -> Result<()> {
        self.0.remove_tree(path)
    }

    fn sync(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn sync_folder(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn guard(&self, path: &str) -> Result<Box<dyn Send>> {
        self.0.guard(path)
    }
}
