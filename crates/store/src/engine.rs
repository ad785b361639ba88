//! What a host needs of an engine in addition to units of work.

use std::path::Path;

use crate::{Result, Store};

/// An engine as a host holds it. Several hosts in one process may share an engine: it notifies all
/// listeners of every commit ([`Store::subscribe`]). The functions without an engine work on the
/// store of a folder that no process has open; it need not be readable.
pub trait Engine: Store {
    /// The version of the format in which the engine keeps its data.
    fn format(&self) -> u32;

    /// What the engine has done since it was opened.
    fn statistics(&self) -> Statistics;

    /// Checks every row, every index and the search index. Fails when something is damaged.
    fn check(&self) -> Result<()>;

    /// Copies one snapshot of everything into a new file. Reads and writes continue. Fails with
    /// [`StoreErrorKind::Occupied`](crate::StoreErrorKind::Occupied) when the file exists.
    fn backup(&self, to: &Path, report: &mut dyn FnMut(Progress)) -> Result<()>;

    /// Finishes waiting jobs, then refuses new ones. Idempotent.
    fn close(&self) -> Result<()>;

    /// Checks a file that [`Self::backup`] wrote. Fails when it is damaged, or of a later format.
    fn check_backup(backup: &Path) -> Result<()>
    where
        Self: Sized;

    /// Checks a backup and restores it into a folder, over a store only if `replace` is set.
    fn restore(backup: &Path, folder: &Path, replace: bool) -> Result<()>
    where
        Self: Sized;

    /// Rewrites the store of a folder without unused space. Returns its size before and after.
    fn compact(folder: &Path) -> Result<(u64, u64)>
    where
        Self: Sized;

    /// Copies the store of a folder, and lets `rebuild` change the copy before it replaces it.
    fn repair(folder: &Path, rebuild: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()>
    where
        Self: Sized;
}

/// What an engine has done since it was opened.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Statistics {
    /// Executed jobs.
    pub jobs: u64,
    /// Commits.
    pub commits: u64,
    /// Waiting jobs.
    pub waiting: usize,
    /// Open connections for reading.
    pub readers: usize,
}

/// The progress of a long operation, in units of the engine's choice.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Progress {
    /// Completed units.
    pub done: u64,
    /// All units.
    pub total: u64,
}
