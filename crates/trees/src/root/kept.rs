//! Folders that stay open while many operations work in them.
//!
//! While a caller keeps folders, each is resolved once: that costs more than most operations.
//!
//! Invariants:
//! - a folder is kept only if its path has no link and no `..` in it, so that moving or removing
//!   the path through this disk is enough to forget it;
//! - nothing is kept once the last caller has let go. A folder that other programs move away in
//!   that time is still used, as by an operation that has just resolved it.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use parking_lot::Mutex;

/// The most folders. An open folder is an open file of the process.
const MOST: usize = 128;

#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// How many callers keep folders.
    callers: usize,
    folders: BTreeMap<String, Arc<OwnedFd>>,
}

/// A caller that keeps folders until this value is dropped.
struct Keeper(Arc<Kept>);

impl Kept {
    /// Keeps folders until the returned value is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Box<dyn Send> {
        self.0.lock().callers += 1;
        Box::new(Keeper(self.clone()))
    }

    pub(super) fn is_on(&self) -> bool {
        self.0.lock().callers > 0
    }

    pub(super) fn get(&self, path: &str) -> Option<Arc<OwnedFd>> {
        self.0.lock().folders.get(path).cloned()
    }

    pub(super) fn put(&self, path: &str, folder: &Arc<OwnedFd>) {
        let mut inner = self.0.lock();
        if inner.callers == 0 {
            return;
        }
        if inner.folders.len() >= MOST {
            inner.folders.clear();
        }
        inner.folders.insert(path.to_owned(), folder.clone());
    }

    pub(super) fn forget(&self, path: &str) {
        let mut inner = self.0.lock();
        inner.folders.remove(path);
        let below = format!("{path}/");
        inner.folders.retain(|folder, _| !folder.starts_with(&below));
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let mut inner = self.0.0.lock();
        inner.callers -= 1;
        if inner.callers == 0 {
            inner.folders.clear();
        }
    }
}

/// Whether a path has nothing in it but names.
pub(super) fn is_plain(path: &str) -> bool {
    path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}
