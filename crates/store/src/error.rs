//! Why a store could not do its work.
//!
//! Invariant: what an error displays is for callers. It holds no path, no text of an
//! engine and no statement; those are in [`StoreError::detail`], for the operator.

use accord_contract::codes::{Code, Failure};

use crate::{DamagedRow, Table};

/// A unit of work that a store did not carry out. Nothing of it was kept.
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
    /// There is no room for more.
    #[error("the store has no room left")]
    Full,
    /// The store may be read and not written.
    #[error("the store cannot be written")]
    ReadOnly,
    /// What the store holds is damaged.
    #[error("the store is damaged")]
    Corrupt,
    /// Too much work waits already.
    #[error("the store has too much to do")]
    Busy,
    /// Another process writes the same store.
    #[error("another process{} has the store open", holder(*.pid))]
    Locked {
        /// The process, where it says which.
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
        /// The latest that this version knows.
        known: u32,
    },
    /// The file is no store.
    #[error("there is no store in that place")]
    NoStore,
    /// A store is in that place already.
    #[error("there is a store in that place already")]
    Occupied,
    /// What was to be added is there, or what was to be changed is not.
    #[error("somebody else changed the same thing")]
    Conflict,
    /// The work itself broke off.
    #[error("the work broke off before its end")]
    Broken,
}

/// What most of this crate returns.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

impl StoreError {
    /// StoreErrorKind, with what the operator should know about it.
    pub fn new(kind: StoreErrorKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            row: None,
        }
    }

    /// One row is damaged, and the rest of the store need not be.
    pub fn damaged_row(row: DamagedRow) -> Self {
        Self {
            kind: StoreErrorKind::Corrupt,
            detail: row.what.clone(),
            row: Some(Box::new(row)),
        }
    }

    /// A row that was to be added is there already, or one that was to be changed is not.
    pub fn conflict(what: &str, id: &str) -> Self {
        Self::new(StoreErrorKind::Conflict, format!("{what} {id:?}"))
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// The row that is damaged, where it is one row alone.
    pub fn damaged(&self) -> Option<&DamagedRow> {
        self.row.as_deref()
    }

    /// What happened, for the operator's log; callers must not see it.
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
        let Some(row) = error.damaged() else {
            return failure;
        };
        let failure = match &row.project_id {
            Some(project) => failure.with("project_id", project.as_str()),
            None => failure,
        };
        match row.table {
            Table::Package | Table::Revision => failure.with("package_id", row.id.as_str()),
            Table::Fact => failure.with("fact_id", row.id.as_str()),
            Table::Session => failure.with("session_id", row.id.as_str()),
            _ => failure,
        }
    }
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" ({pid})"))
}
