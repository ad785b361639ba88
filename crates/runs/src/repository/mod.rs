//! A governed repository: which files it has, in the formats of the reference runner.
//!
//! [`Repository`] reads and needs no lock. [`Repository::lock`] returns a [`LockedRepository`],
//! the only way to write; commits that another process left unfinished are finished first.
//!
//! Invariants:
//! - a commit is visible in full or not at all to the next holder of the lock;
//! - the files and formats are those of the reference; ours lie under paths that the reference
//!   treats as operational;
//! - what an acceptance reads does not grow with the history, except for a stored index.

mod bundle;
mod checkup;
mod error;
mod index;
mod journal;
mod layout;
pub mod limits;
mod lock;
mod locked;
mod protect;
mod read;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use accord_trees::{Disk, Root};

use crate::Environment;
use crate::guard::Guard;

pub use checkup::{Finding, FindingKind};
pub use error::{RepositoryError, Result, failure};
pub use journal::{PendingJournal, ReplayedJournal};
pub(crate) use layout::CONFIG;
pub use layout::RecordFile;
pub use lock::LockHolder;
pub use locked::{Committed, LockedRepository};
pub use protect::Protected;

/// A governed repository, or a folder that may become one.
#[derive(Clone)]
pub struct Repository {
    disk: Arc<dyn Disk>,
    pub(crate) guard: Option<Arc<Guard>>,
}

impl fmt::Debug for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Repository");
        shown.field("root", &self.root()).finish_non_exhaustive()
    }
}

impl Repository {
    /// Opens an existing folder. Whether it is governed is known once its configuration is read.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self::on(Arc::new(Root::open(path)?)))
    }

    pub fn on(disk: Arc<dyn Disk>) -> Self {
        Self { disk, guard: None }
    }

    /// The repository, where commits and journals are checked while workers run.
    #[must_use]
    pub(crate) fn guarded(mut self, environment: &Environment) -> Self {
        self.guard = Some(Arc::new(Guard::new(self.root(), environment)));
        self
    }

    pub fn root(&self) -> &Path {
        self.disk.root_path()
    }

    /// Takes the lock, and finishes commits that other processes left unfinished. Fails with
    /// `lock_timeout`, which names the holder, if a living process holds the lock for longer than
    /// `timeout`; `record_invalid` if a journal cannot be read, which stays where it is.
    pub fn lock(&self, timeout: Duration) -> Result<LockedRepository> {
        LockedRepository::take(self, timeout)
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }
}
