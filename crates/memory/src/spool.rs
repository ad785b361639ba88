//! Spools: a buffer for an export or an import that may be too large for memory.
//!
//! A spool is an unlinked file, so nothing remains when the process is killed. A small spool stays
//! in memory.

use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write};

use accord_contract::Failure;
use accord_store::{StoreError, StoreErrorKind};
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use tempfile::SpooledTempFile;

use super::unit::blocking;
use super::{Memory, UnitError};

/// How much of a spool is kept in memory.
const IN_MEMORY: usize = 1024 * 1024;
/// How much of a spool is read at once.
const PIECE: usize = 128 * 1024;

#[derive(Debug)]
pub(crate) struct Spool {
    file: SpooledTempFile,
    length: u64,
}

impl Memory {
    /// An empty spool, in the data folder if there is one.
    pub(crate) fn spool(&self) -> Spool {
        let file = match &self.options().folder {
            Some(folder) => tempfile::spooled_tempfile_in(IN_MEMORY, folder),
            None => tempfile::spooled_tempfile(IN_MEMORY),
        };
        Spool { file, length: 0 }
    }
}

impl Spool {
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.file.write_all(bytes).map_err(io_error)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// The file, at its beginning.
    pub(crate) fn into_reader(mut self) -> Result<SpooledTempFile, StoreError> {
        self.file.seek(SeekFrom::Start(0)).map_err(io_error)?;
        Ok(self.file)
    }

    /// The content, in pieces, at the speed of the reader.
    pub(crate) fn into_pieces(
        self,
    ) -> Result<impl Stream<Item = Result<Bytes, Failure>> + Send + 'static, Failure> {
        let file = self.into_reader().map_err(failed)?;
        Ok(stream::try_unfold(file, |file| async move {
            blocking(move || piece(file).map_err(io_error)).await.map_err(failed)
        }))
    }
}

fn piece(mut file: SpooledTempFile) -> io::Result<Option<(Bytes, SpooledTempFile)>> {
    let mut piece = vec![0; PIECE];
    let length = file.read(&mut piece)?;
    piece.truncate(length);
    Ok((length > 0).then(|| (piece.into(), file)))
}

/// The store error for a failed file operation.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
pub(crate) fn io_error(error: io::Error) -> StoreError {
    let kind = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            StoreErrorKind::Full
        }
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => StoreErrorKind::ReadOnly,
        _ => StoreErrorKind::Unavailable,
    };
    StoreError::new(kind, error.to_string())
}

/// The failure of an operation on files, whose details go to the log.
pub(crate) fn failed(error: StoreError) -> Failure {
    UnitError::Store(error).into_failure()
}
