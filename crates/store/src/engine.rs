//! What a host needs of an engine in addition to units of work.

use std::path::Path;

use crate::{Result, Store};

/// An engine as a host holds it.
///
/// Several hosts in one process may share an engine. Each of them sees every commit, because the
/// engine notifies all listeners ([`Store::subscribe`]).
pub trait Engine: Store {
    /// The version of the format in which the engine keeps its data.
    fn format(&self) -> u32;

    /// What the engine has done since it was opened.
    fn statistics(&self) -> Statistics;

    /// Copies one snapshot of everything into a new file. Reads and writes continue.
    ///
    /// # Errors
    /// With [`StoreErrorKind::Occupied`](crate::StoreErrorKind::Occupied) when the file exists.
    fn backup(&self, to: &Path, report: &mut dyn FnMut(Progress)) -> Result<()>;

    /// Finishes waiting jobs, then refuses new ones. Idempotent.
    ///
    /// # Errors
    /// When waiting jobs could not be finished.
    fn close(&self) -> Result<()>;
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
