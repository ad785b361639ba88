//! A governed repository on a disk.
//!
//! [`Repository`] reads, and needs no lock. [`Repository::lock`] gives a [`Held`], through which
//! alone something is written; before it is given, what another process left unfinished was
//! finished.
//!
//! Invariants:
//! - a commit is there in full or not at all for whoever takes the lock next;
//! - the files are those of the reference, in its formats; what is ours beside them lies under
//!   paths that it takes for operational;
//! - what an acceptance reads does not grow with the history, but for an index that is kept.

mod bundle;
mod carry;
mod checkup;
mod files;
mod held;
mod index;
mod journal;
mod obstacle;
mod protect;
mod read;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::{Disk, Result, Root};

pub use checkup::{Finding, FindingKind};
pub use files::RecordFile;
pub use held::{Committed, Held, Replayed};
pub use journal::Waiting;
pub use protect::Protected;

/// A governed repository, or a folder that may become one.
#[derive(Clone)]
pub struct Repository {
    disk: Arc<dyn Disk>,
}

impl fmt::Debug for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Repository");
        shown.field("root", &self.root()).finish_non_exhaustive()
    }
}

impl Repository {
    /// Opens a folder that is there; whether it is governed shows when its configuration is read.
    ///
    /// # Errors
    /// When it is not there or may not be entered.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self::on(Arc::new(Root::open(path)?)))
    }

    /// A repository on any disk.
    pub fn on(disk: Arc<dyn Disk>) -> Self {
        Self { disk }
    }

    /// Where it is, for people and for processes that work in it.
    pub fn root(&self) -> &Path {
        self.disk.place()
    }

    /// Takes the repository's lock, so that something can be written, and finishes what others
    /// left unfinished. Waits for a living holder as long as `patience` lasts.
    ///
    /// # Errors
    /// With `lock_timeout`, which names the holder, when it does not let go; with
    /// `record_invalid` when a journal is left that cannot be read, which stays where it is.
    pub fn lock(&self, patience: Duration) -> Result<Held> {
        Held::take(self, patience)
    }

    fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }
}
