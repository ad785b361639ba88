//! Damaged rows.
//!
//! A faulty disk or another program can change a file. A damaged row is never returned:
//! - a query for a single row fails with an error that names it ([`StoreError::damaged`]);
//! - a list leaves it out, and [`Audit::damage`] names it;
//! - [`Audit`] reads every package by its number, even if its columns are damaged.
//!
//! [`StoreError::damaged`]: crate::StoreError::damaged

use std::fmt;

use accord_base::ProjectId;
use accord_contract::wire_enum;

use crate::{PackageIndex, PackageRow, Result};

wire_enum! {
    /// The tables of rows, and of data derived from them.
    pub enum Table("StoreTable", closed) {
        /// Projects.
        Project = "project",
        /// Packages.
        Package = "package",
        /// The log of a package; the id is that of the package.
        Revision = "revision of package",
        /// Facts.
        Fact = "fact",
        /// Sessions.
        Session = "session",
        /// Records of decisions.
        Decision = "decision",
        /// Events; the id is the number in the stream.
        Event = "event",
        /// The index of blobs; the id is the digest.
        Blob = "blob",
        /// Counts of packages.
        Tally = "tally",
        /// Open questions, and the packages that ask them.
        Question = "question",
        /// What packages answer and supersede; the id is that of the package.
        Link = "link of package",
        /// The search index.
        Search = "search entry",
        /// The vectors of a package; the id is that of the package.
        Embedding = "embedding",
        /// The counts of a project.
        Counter = "counter",
        /// Live sessions, with their counters.
        LiveSession = "live session",
        /// The content of a live session; the id is that of the session.
        LiveContent = "content of live session",
        /// The ledger of a live session; the id is the number in it.
        LiveEvent = "ledger event",
        /// The kept frames of a live session; the id is the number in its stream.
        LiveFrame = "frame",
        /// What a live session waits for; the id is that of the session.
        LiveAsk = "ask of live session",
        /// Handshakes of live sessions.
        LiveHandshake = "handshake",
        /// UIs that were rendered; the id is the hash of the contract.
        LiveBlueprint = "blueprint",
        /// What waits for people; the id is where it comes from.
        Inbox = "inbox item",
    }
}

/// A row that cannot be read, or that contradicts its source.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct DamagedRow {
    /// Its table.
    pub table: Table,
    /// Its project, if known.
    pub project_id: Option<ProjectId>,
    /// Its id, or as much of it as can be read.
    pub id: String,
    /// What is wrong with it, for the operator.
    pub what: String,
}

/// A row, readable or damaged.
pub type Stored<R> = Result<R, DamagedRow>;

/// Finds damaged rows.
pub trait Audit {
    /// The damaged rows that this unit has met so far, in the order of their tables.
    fn damage(&self) -> Vec<DamagedRow>;

    /// The ids of all projects, archived and damaged ones too, in the order of their bytes.
    fn project_ids(&self) -> Result<Vec<ProjectId>>;

    /// The numbers of all packages of a project, also of damaged ones, in ascending order.
    fn package_numbers(&self, project: &ProjectId) -> Result<Vec<i64>>;

    /// The package of a number.
    fn package_numbered(&self, of: &ProjectId, number: i64) -> Result<Option<Stored<PackageRow>>>;

    /// The stored terms, questions and links of a package that differ from `index`.
    fn check_index(&self, row: &PackageRow, index: &PackageIndex) -> Result<Vec<DamagedRow>>;

    /// Counts and indexes of a project that differ from their rows; without a project, entries that
    /// belong to no project. The cost grows with the size of the project.
    fn check_derived(&self, project: Option<&ProjectId>) -> Result<Vec<DamagedRow>>;
}

/// The requested number of readable rows; `read` returns the first rows of a list, with `None` for
/// a damaged one. A shorter result means the end of the list, so that paging knows when to stop.
pub fn fill<T>(wanted: usize, read: impl Fn(usize) -> Result<Vec<Option<T>>>) -> Result<Vec<T>> {
    let mut limit = wanted;
    loop {
        let rows = read(limit)?;
        let is_all = rows.len() < limit;
        let mut rows: Vec<T> = rows.into_iter().flatten().collect();
        if is_all || rows.len() >= wanted {
            rows.truncate(wanted);
            return Ok(rows);
        }
        // Read again from the start: a damaged row has no position to continue from.
        limit = limit.saturating_mul(2);
    }
}

impl Table {
    /// Whether its rows are in an export.
    pub fn is_exported(self) -> bool {
        matches!(self, Self::Project | Self::Package | Self::Revision | Self::Fact | Self::Session)
    }
}

/// The message for callers.
impl fmt::Display for DamagedRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (table, id) = (self.table.as_str(), &self.id);
        write!(formatter, "the stored {table} {id:?} is damaged")
    }
}
