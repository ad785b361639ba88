//! SQLite's errors as the trouble that they mean.

use std::io;

use accord_store::{Result, StoreError, StoreErrorKind};
use rusqlite::{ErrorCode, ffi};
use rustix::process::{Resource, getrlimit};

/// What a function that talks to SQLite returns.
pub(crate) trait Known<T> {
    /// The same, with the trouble that SQLite's error means.
    fn known(self) -> Result<T>;
}

impl<T> Known<T> for rusqlite::Result<T> {
    fn known(self) -> Result<T> {
        self.map_err(|error| StoreError::new(trouble(&error), error.to_string()))
    }
}

impl<T> Known<T> for io::Result<T> {
    fn known(self) -> Result<T> {
        self.map_err(|error| {
            let trouble = match error.kind() {
                io::ErrorKind::StorageFull
                | io::ErrorKind::QuotaExceeded
                | io::ErrorKind::FileTooLarge => StoreErrorKind::Full,
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    StoreErrorKind::ReadOnly
                }
                io::ErrorKind::NotFound => StoreErrorKind::NoStore,
                io::ErrorKind::AlreadyExists => StoreErrorKind::Occupied,
                _ => StoreErrorKind::Unavailable,
            };
            StoreError::new(trouble, error.to_string())
        })
    }
}

/// What is stored is not what it must be.
pub(crate) fn damaged(what: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, format!("{what} cannot be read"))
}

fn trouble(error: &rusqlite::Error) -> StoreErrorKind {
    let Some(code) = error.sqlite_error_code() else {
        return match error {
            // A column that is not of its type: somebody else wrote the file.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => StoreErrorKind::Corrupt,
            _ => StoreErrorKind::Broken,
        };
    };
    match code {
        ErrorCode::DiskFull => StoreErrorKind::Full,
        ErrorCode::SystemIoFailure if may_not_grow(error) => StoreErrorKind::Full,
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreErrorKind::ReadOnly,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreErrorKind::Corrupt,
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreErrorKind::Busy,
        ErrorCode::ConstraintViolation => StoreErrorKind::Conflict,
        ErrorCode::SystemIoFailure
        | ErrorCode::CannotOpen
        | ErrorCode::OutOfMemory
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::OperationInterrupted
        | ErrorCode::OperationAborted => StoreErrorKind::Unavailable,
        _ => StoreErrorKind::Broken,
    }
}

/// Whether a file could not grow in a process that has a limit on the size of its files. SQLite calls that a
/// failure of the disk and does not pass on what the system said.
fn may_not_grow(error: &rusqlite::Error) -> bool {
    let grew = matches!(
        error.sqlite_error().map(|error| error.extended_code),
        Some(ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_TRUNCATE | ffi::SQLITE_IOERR_SHMSIZE)
    );
    grew && getrlimit(Resource::Fsize).current.is_some()
}
