//! Errors of file trees. They have no failure codes: each protocol maps them to its own.

use std::io;

use accord_canon::shorten_path;

use crate::lock::LockOwner;

pub type Result<T, E = TreeError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// A link leads out of the tree, or in a circle.
    #[error("{} leads outside its root folder through a link", shorten_path(path))]
    Outside { path: String },
    #[error("{} is not a file", shorten_path(path))]
    NotFile { path: String },
    /// Something else is where a file, or one of its folders, must be created.
    #[error(
        "{} cannot be written while {by} exists; remove {by}, or move it away",
        shorten_path(path),
        by = shorten_path(by)
    )]
    Obstructed { path: String, by: String },
    #[error("{} is larger than {limit} bytes", shorten_path(path))]
    TooLarge { path: String, limit: u64 },
    /// A record or journal cannot be parsed.
    #[error("{path}{}: {why}", line.map_or_else(String::new, |line| format!(", line {line}")))]
    Damaged {
        path: String,
        /// The line number, from 1, if the file has lines.
        line: Option<u64>,
        why: String,
    },
    #[error("{}", locked(path, owner.as_ref()))]
    Locked {
        path: String,
        /// Its owner, if the lock file names one.
        owner: Option<LockOwner>,
    },
    /// The lock was removed, or another process took it over.
    #[error("the lock was removed, or another process took it over")]
    LockLost,
    /// A commit has happened, but is not applied in full.
    #[error("the change is pending in {journal}: {source}")]
    Unfinished { journal: String, source: Box<Self> },
    /// A commit may have happened: it was written, and could not be synced or taken back.
    #[error("it is not known whether the change in {journal} is recorded: {source}")]
    Uncertain { journal: String, source: Box<Self> },
    #[error("{} could not be {doing}: {source}", shorten_path(path))]
    System {
        path: String,
        /// What was tried, as in "could not be read".
        doing: &'static str,
        source: io::Error,
    },
}

impl TreeError {
    pub(crate) fn system(path: &str, doing: &'static str, source: impl Into<io::Error>) -> Self {
        let path = if path.is_empty() { "." } else { path };
        Self::System { path: path.to_owned(), doing, source: source.into() }
    }

    /// A file that cannot be parsed, without a line number.
    pub fn damaged(path: &str, why: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), line: None, why: why.into() }
    }

    /// Whether the path, or a folder of it, does not exist.
    pub(crate) fn is_absent(&self) -> bool {
        use io::ErrorKind::{NotADirectory, NotFound};
        let Self::System { source, .. } = self else { return false };
        matches!(source.kind(), NotFound | NotADirectory)
    }

    /// Whether what is at the path is no readable file: a folder, a pipe, a link that leads
    /// outside, a file that is too large or not permitted. It says nothing about other files.
    pub fn is_unreadable(&self) -> bool {
        match self {
            Self::Outside { .. } | Self::NotFile { .. } | Self::TooLarge { .. } => true,
            Self::System { source, .. } => source.kind() == io::ErrorKind::PermissionDenied,
            _ => false,
        }
    }

    /// Whether the path may be read, and not be written.
    pub fn is_read_only(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        matches!(self.kind(), Some(PermissionDenied | ReadOnlyFilesystem))
    }

    /// Whether there is no space left.
    pub fn is_disk_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self.kind(), Some(StorageFull | QuotaExceeded))
    }

    /// What the operating system refused.
    fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::System { source, .. } => Some(source.kind()),
            Self::Unfinished { source, .. } | Self::Uncertain { source, .. } => source.kind(),
            _ => None,
        }
    }

    pub(crate) fn unfinished(journal: &str, source: Self) -> Self {
        Self::Unfinished { journal: journal.to_owned(), source: Box::new(source) }
    }

    pub(crate) fn uncertain(journal: &str, source: Self) -> Self {
        Self::Uncertain { journal: journal.to_owned(), source: Box::new(source) }
    }

    /// The path that a user must look at.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Outside { path }
            | Self::NotFile { path }
            | Self::Obstructed { by: path, .. }
            | Self::TooLarge { path, .. }
            | Self::Damaged { path, .. }
            | Self::Locked { path, .. }
            | Self::System { path, .. } => Some(path),
            Self::Unfinished { journal, .. } | Self::Uncertain { journal, .. } => Some(journal),
            Self::LockLost => None,
        }
    }
}

fn locked(path: &str, owner: Option<&LockOwner>) -> String {
    match owner {
        Some(owner) => format!("process {} holds the lock {path}", owner.pid),
        None => format!("another process is taking the lock {path}"),
    }
}
