//! Reads a blob. A damaged blob is not served to its end.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use accord_canon::Digest;
use accord_contract::{Code, Failure};
use accord_store::StoreError;
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt as _};
use sha2::{Digest as _, Sha256};

use super::files::Files;
use super::not_found;
use crate::spool::{failed, io_error};
use crate::unit::blocking;

/// How much is read at once.
const PIECE: usize = 256 * 1024;

#[derive(Debug)]
pub struct Blob {
    digest: Digest,
    size: u64,
    media_type: Option<String>,
    file: File,
}

/// A range of bytes of a content.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Part {
    /// The first byte.
    pub from: u64,
    /// The byte after the last.
    pub to: u64,
}

impl Blob {
    pub(super) async fn open(
        files: &Files,
        digest: Digest,
        media_type: Option<String>,
    ) -> Result<Self, Failure> {
        let path = files.path(&digest);
        let opened = blocking(move || {
            let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
            Ok::<_, StoreError>(opened)
        });
        match opened.await.map_err(failed)? {
            Ok((size, file)) => Ok(Self { digest, size, media_type, file }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(not_found(&digest)),
            Err(error) => Err(failed(io_error(error))),
        }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn media_type(&self) -> Option<&str> {
        self.media_type.as_deref()
    }

    /// The whole content, in pieces. The last piece is sent only if the digest of all pieces is
    /// right. A damaged content of one piece is refused; a larger one is cut off.
    pub async fn into_pieces(
        self,
    ) -> Result<impl Stream<Item = Result<Bytes, Failure>> + Send + 'static, Failure> {
        let (file, digest, hasher) = (self.file, self.digest, Some(Sha256::new()));
        let reading = Reading { file, hasher, digest, left: self.size };
        // The first piece is read before the answer begins, so that a small damaged blob gets an
        // error status.
        let (first, reading) = reading.next().await?;
        let rest = stream::try_unfold(reading, |reading| async move {
            let (piece, reading) = reading.next().await?;
            Ok(piece.map(|piece| (piece, reading)))
        });
        Ok(stream::iter(first.map(Ok)).chain(rest))
    }

    /// A range of the content. Its digest cannot be checked, because the rest is not read.
    pub fn into_part(
        mut self,
        part: Part,
    ) -> Result<impl Stream<Item = Result<Bytes, Failure>> + Send + 'static, Failure> {
        let moved = self.file.seek(SeekFrom::Start(part.from));
        moved.map_err(|error| failed(io_error(error)))?;
        let (file, digest, left) = (self.file, self.digest, part.to - part.from);
        let reading = Reading { file, hasher: None, digest, left };
        Ok(stream::try_unfold(reading, |reading| async move {
            let (piece, reading) = reading.next().await?;
            Ok(piece.map(|piece| (piece, reading)))
        }))
    }
}

struct Reading {
    file: File,
    hasher: Option<Sha256>,
    digest: Digest,
    left: u64,
}

impl Reading {
    async fn next(self) -> Result<(Option<Bytes>, Self), Failure> {
        // An empty blob has no bytes left, and its digest must still be checked once.
        if self.left == 0 && self.hasher.is_none() {
            return Ok((None, self));
        }
        blocking(move || self.piece()).await
    }

    fn piece(mut self) -> Result<(Option<Bytes>, Self), Failure> {
        let length = self.left.min(PIECE as u64);
        let mut piece = vec![0; usize::try_from(length).unwrap_or(PIECE)];
        match self.file.read_exact(&mut piece) {
            // The file was cut after it was opened.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(self.damaged());
            }
            read => read.map_err(|error| failed(io_error(error)))?,
        }
        self.left -= length;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&piece);
        }
        if self.left == 0
            && let Some(hasher) = self.hasher.take()
            && Digest::from(<[u8; 32]>::from(hasher.finalize())) != self.digest
        {
            return Err(self.damaged());
        }
        Ok((Some(piece.into()), self))
    }

    fn damaged(&self) -> Failure {
        let message = format!("the stored blob sha256:{} is damaged", self.digest.hex());
        tracing::error!("{message}");
        Failure::new(Code::AgenticBlobDamaged, message)
    }
}
