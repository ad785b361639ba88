//! What can go wrong with a file tree.

use std::io;

use accord_contract::codes::{Code, Failure};

/// What this crate gives back.
pub type Result<T> = std::result::Result<T, TreeError>;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// A link leads out of the tree, or in a circle.
    #[error("{path} leads out of the repository through a link")]
    Outside {
        /// The path as it was named.
        path: String,
    },
    /// Something else is where a file must be.
    #[error("{path} is no file")]
    NotFile {
        /// The path.
        path: String,
    },
    /// Something else is where a file, or a folder of it, must be made.
    #[error("{path} cannot be written while {by} is there; remove {by}, or move it away")]
    Obstructed {
        /// The path of the file.
        path: String,
        /// What is in its way.
        by: String,
    },
    /// A file has more than is read of it.
    #[error("{path} is larger than {limit} bytes")]
    TooLarge {
        /// The path.
        path: String,
        /// How much is read at most.
        limit: u64,
    },
    /// A record or journal says nothing sound.
    #[error("{path}{}: {why}", line.map_or_else(String::new, |line| format!(", line {line}")))]
    Damaged {
        /// The file.
        path: String,
        /// The line, from 1, where it has lines.
        line: Option<u64>,
        /// What is wrong.
        why: String,
    },
    /// A document says nothing sound; the failure names its file.
    #[error("{}", _0.message)]
    Document(Failure),
    /// There is no configuration.
    #[error("{place} has no agentxchain.json")]
    NotGoverned {
        /// The folder.
        place: String,
    },
    /// Somebody else works on the tree.
    #[error("{}", _0.message)]
    Locked(Failure),
    /// Somebody else took the lock over, or removed it.
    #[error("the lock of the repository was removed, or taken over by another process")]
    LockLost,
    /// A commit has happened and is not carried out in full.
    #[error("the change waits in {journal}: {source}")]
    Unfinished {
        /// Its journal.
        journal: String,
        /// What stood in the way.
        source: Box<Self>,
    },
    /// The operating system refused.
    #[error("{path} could not be {doing}: {source}")]
    System {
        /// The path.
        path: String,
        /// What was tried, as in "could not be read".
        doing: &'static str,
        /// Its words.
        source: io::Error,
    },
}

impl TreeError {
    /// What the operating system said about a path.
    pub(crate) fn system(path: &str, doing: &'static str, source: impl Into<io::Error>) -> Self {
        let path = if path.is_empty() { "." } else { path };
        Self::System {
            path: path.to_owned(),
            doing,
            source: source.into(),
        }
    }

    /// The code that tells what to do about it.
    pub fn code(&self) -> Code {
        match self {
            Self::Outside { .. } => Code::XchainPathOutsideRepository,
            Self::NotFile { .. } => Code::XchainNotAFile,
            Self::Obstructed { .. } => Code::XchainPathObstructed,
            Self::TooLarge { .. } => Code::XchainFileTooLarge,
            Self::Damaged { .. } => Code::XchainRecordInvalid,
            Self::Document(failure) | Self::Locked(failure) => failure.code,
            Self::NotGoverned { .. } => Code::XchainNotGoverned,
            Self::LockLost => Code::XchainLockLost,
            Self::Unfinished { .. } => Code::XchainCommitUnfinished,
            Self::System { .. } => Code::XchainFileSystemFailed,
        }
    }

    fn path(&self) -> Option<&str> {
        match self {
            Self::Outside { path }
            | Self::NotFile { path }
            | Self::Obstructed { by: path, .. }
            | Self::TooLarge { path, .. }
            | Self::Damaged { path, .. }
            | Self::System { path, .. } => Some(path),
            Self::Unfinished { journal, .. } => Some(journal),
            _ => None,
        }
    }
}

impl From<TreeError> for Failure {
    fn from(error: TreeError) -> Self {
        if let TreeError::Document(failure) | TreeError::Locked(failure) = error {
            return failure;
        }
        let mut failure = Self::new(error.code(), error.to_string());
        if let Some(path) = error.path() {
            failure = failure.with("path", path);
        }
        if let TreeError::Damaged {
            line: Some(line), ..
        } = error
        {
            failure = failure.with("line", line);
        }
        failure
    }
}
