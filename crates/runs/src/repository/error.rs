//! Errors of a governed repository, and their failure codes.

use accord_contract::{Code, Failure, Time};
use accord_runs_core::lock::Lock;
use accord_trees::TreeError;

pub type Result<T, E = RepositoryError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A document is not valid; the failure names its file.
    #[error("{}", _0.message)]
    Document(Failure),
    #[error("{folder} has no agentxchain.json")]
    NotGoverned { folder: String },
}

impl RepositoryError {
    pub fn code(&self) -> Code {
        match self {
            Self::Tree(error) => code(error),
            Self::Document(failure) => failure.code,
            Self::NotGoverned { .. } => Code::XchainNotGoverned,
        }
    }
}

impl From<RepositoryError> for Failure {
    fn from(error: RepositoryError) -> Self {
        match error {
            RepositoryError::Tree(error) => failure(&error),
            RepositoryError::Document(failure) => failure,
            RepositoryError::NotGoverned { .. } => Self::new(error.code(), error.to_string()),
        }
    }
}

pub fn failure(error: &TreeError) -> Failure {
    let mut failure = match error {
        TreeError::Locked { owner: Some(owner), .. } => {
            Lock::new(owner.pid, owner.acquired_ms.map(Time::from_unix_millis)).held()
        }
        other => Failure::new(code(other), other.to_string()),
    };
    if let Some(path) = error.path() {
        failure = failure.with("path", path);
    }
    if let TreeError::Damaged { line: Some(line), .. } = error {
        failure = failure.with("line", *line);
    }
    failure
}

fn code(error: &TreeError) -> Code {
    match error {
        TreeError::Outside { .. } => Code::XchainPathOutsideRepository,
        TreeError::NotFile { .. } => Code::XchainNotAFile,
        TreeError::Obstructed { .. } => Code::XchainPathObstructed,
        TreeError::TooLarge { .. } => Code::XchainFileTooLarge,
        TreeError::Damaged { .. } => Code::XchainRecordInvalid,
        TreeError::Locked { .. } => Code::XchainLockTimeout,
        TreeError::LockLost => Code::XchainLockLost,
        TreeError::Unfinished { .. } => Code::XchainCommitUnfinished,
        // `System`, and whatever is added to the tree's errors later.
        _ => Code::XchainFileSystemFailed,
    }
}
