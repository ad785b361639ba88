//! Errors of SQLite and of files as store errors.

use std::io;

use accord_store::{Result, StoreError, StoreErrorKind};
use rusqlite::{ErrorCode, ffi};
use rustix::process::{Resource, getrlimit};

/// A result whose error can become a [`StoreError`].
pub(crate) trait IntoStoreError<T> {
    /// The same result with a store error. The text of the original error is the detail.
    fn store_error(self) -> Result<T>;
}

impl<T> IntoStoreError<T> for rusqlite::Result<T> {
    fn store_error(self) -> Result<T> {
        self.map_err(|error| StoreError::new(kind_of(&error), error.to_string()))
    }
}

impl<T> IntoStoreError<T> for io::Result<T> {
    fn store_error(self) -> Result<T> {
        self.map_err(|error| {
            let kind = match error.kind() {
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
            StoreError::new(kind, error.to_string())
        })
    }
}

pub(crate) fn damaged(what: &str) -> StoreError {
    StoreError::unreadable(what)
}

fn kind_of(error: &rusqlite::Error) -> StoreErrorKind {
    let Some(code) = error.sqlite_error_code() else {
        return match error {
            // A column has the wrong type, so another program wrote to the file.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => StoreErrorKind::Corrupt,
            _ => StoreErrorKind::Broken,
        };
    };
    match code {
        ErrorCode::DiskFull => StoreErrorKind::Full,
        // Looks like a broken disk otherwise. The operator must raise a limit or free space.
        ErrorCode::SystemIoFailure if may_not_grow(error) => StoreErrorKind::Full,
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreErrorKind::ReadOnly,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreErrorKind::Corrupt,
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreErrorKind::Busy,
        // Two writes claim the same id.
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

/// Whether a file could not grow because of the process's limit: a disk error for SQLite.
fn may_not_grow(error: &rusqlite::Error) -> bool {
    let grew = matches!(
        error.sqlite_error().map(|error| error.extended_code),
        Some(ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_TRUNCATE | ffi::SQLITE_IOERR_SHMSIZE)
    );
    grew && getrlimit(Resource::Fsize).current.is_some()
}
