//! Errors of a store. Invariant: the display of an error is for callers. It contains no path, no
//! text of an engine and no SQL. Those are in [`StoreError::detail`], for the operator's log.

use accord_contract::{Code, Failure};

use crate::{DamagedRow, Table};

/// A unit of work failed. Nothing of it was kept.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct StoreError {
    kind: StoreErrorKind,
    detail: String,
    row: Option<Box<DamagedRow>>,
}

/// What kind of failure a [`StoreError`] is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The disk, or the store's size limit, is full.
    #[error("the store has no room left")]
    Full,
    /// The store can be read but not written.
    #[error("the store cannot be written")]
    ReadOnly,
    /// The store is damaged.
    #[error("the store is damaged")]
    Corrupt,
    /// Too many jobs are waiting.
    #[error("the store is busy")]
    Busy,
    /// Another process has the store open.
    #[error("another process{} has the store open", holder(*.pid))]
    Locked {
        /// The id of that process, if known.
        pid: Option<u32>,
    },
    /// The store cannot be reached, or was closed.
    #[error("the store cannot be reached")]
    Unavailable,
    /// A later version of Accord wrote the store.
    #[error("the store has format {found}, and this version knows formats up to {known}")]
    TooNew {
        /// The store's format.
        found: u32,
        /// The latest format that this version reads.
        known: u32,
    },
    /// The file is not a store.
    #[error("there is no store in that place")]
    NoStore,
    /// A store is in that place already.
    #[error("there is a store in that place already")]
    Occupied,
    /// A row to add exists already, or a row to change does not exist.
    #[error("another change came first")]
    Conflict,
    /// A job panicked or ended early.
    #[error("the operation ended early")]
    Broken,
}

/// The result of an operation of a store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

impl StoreError {
    /// An error, with details for the operator.
    pub fn new(kind: StoreErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), row: None }
    }

    /// A single row is damaged.
    pub fn damaged_row(row: DamagedRow) -> Self {
        Self { kind: StoreErrorKind::Corrupt, detail: row.what.clone(), row: Some(Box::new(row)) }
    }

    /// A value cannot be read.
    pub fn unreadable(what: &str) -> Self {
        Self::new(StoreErrorKind::Corrupt, format!("{what} cannot be read"))
    }

    /// A row to add exists already, or a row to change does not exist.
    pub fn conflict(what: &str, id: &str) -> Self {
        Self::new(StoreErrorKind::Conflict, format!("{what} {id:?}"))
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// The damaged row, when only one row is damaged.
    pub fn damaged(&self) -> Option<&DamagedRow> {
        self.row.as_deref()
    }

    /// Details for the operator's log. Callers must not see them.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The failure code.
    pub fn code(&self) -> Code {
        match self.kind {
            StoreErrorKind::Full => Code::StoreFull,
            StoreErrorKind::ReadOnly => Code::StoreReadOnly,
            StoreErrorKind::Corrupt if self.row.is_some() => Code::AgenticIntegrityError,
            StoreErrorKind::Corrupt => Code::StoreCorrupt,
            StoreErrorKind::Busy => Code::StoreBusy,
            StoreErrorKind::Locked { .. } => Code::StoreLocked,
            StoreErrorKind::Unavailable => Code::StoreUnavailable,
            StoreErrorKind::TooNew { .. } => Code::StoreTooNew,
            StoreErrorKind::NoStore => Code::StoreMissing,
            StoreErrorKind::Occupied => Code::StoreOccupied,
            StoreErrorKind::Conflict => Code::StoreConflict,
            StoreErrorKind::Broken => Code::StoreBroken,
        }
    }

    fn sentence(&self) -> String {
        match &self.row {
            Some(row) => row.to_string(),
            None => self.kind.to_string(),
        }
    }
}

impl From<StoreErrorKind> for StoreError {
    fn from(kind: StoreErrorKind) -> Self {
        Self::new(kind, "")
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let failure = Self::new(error.code(), error.to_string());
        let Some(row) = error.damaged() else { return failure };
        let owner = row.project_id.as_ref();
        let failure = owner.into_iter().fold(failure, |it, id| it.with("project_id", id.as_str()));
        match row.table {
            Table::Package | Table::Revision => failure.with("package_id", row.id.as_str()),
            Table::Fact => failure.with("fact_id", row.id.as_str()),
            Table::Decision => failure.with("decision_id", row.id.as_str()),
            Table::Session => failure.with("session_id", row.id.as_str()),
            _ => failure,
        }
    }
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" ({pid})"))
}
