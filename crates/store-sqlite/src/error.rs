//! SQLite's errors as the trouble that they mean.

use std::io;

use accord_store::{Result, StoreError, Trouble};
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
                | io::ErrorKind::FileTooLarge => Trouble::Full,
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Trouble::ReadOnly
                }
                io::ErrorKind::NotFound => Trouble::NoStore,
                io::ErrorKind::AlreadyExists => Trouble::Occupied,
                _ => Trouble::Unavailable,
            };
            StoreError::new(trouble, error.to_string())
        })
    }
}

/// What is stored is not what it must be.
pub(crate) fn damaged(what: &str) -> StoreError {
    StoreError::new(Trouble::Corrupt, format!("{what} cannot be read"))
}

fn trouble(error: &rusqlite::Error) -> Trouble {
    let Some(code) = error.sqlite_error_code() else {
        return match error {
            // A column that is not of its type: somebody else wrote the file.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => Trouble::Corrupt,
            _ => Trouble::Broken,
        };
    };
    match code {
        ErrorCode::DiskFull => Trouble::Full,
        ErrorCode::SystemIoFailure if may_not_grow(error) => Trouble::Full,
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Trouble::ReadOnly,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Trouble::Corrupt,
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Trouble::Busy,
        ErrorCode::ConstraintViolation => Trouble::Conflict,
        ErrorCode::SystemIoFailure
        | ErrorCode::CannotOpen
        | ErrorCode::OutOfMemory
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::OperationInterrupted
        | ErrorCode::OperationAborted => Trouble::Unavailable,
        _ => Trouble::Broken,
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
