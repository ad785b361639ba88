//! The files of blobs: `<two digits>/<digest>`, and `partial/` for uploads.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use accord_canon::Digest;
use accord_store::{StoreError, StoreErrorKind};
use bytes::Bytes;
use tempfile::NamedTempFile;

use crate::spool::io_error;
use crate::unit::blocking;

/// The folder of uploads. Files from an earlier process are deleted at the start of a host.
const PARTIAL: &str = "partial";
/// How many bytes are buffered before they are written to the disk.
const GATHERED: usize = 1024 * 1024;

#[derive(Clone, Debug)]
pub(crate) struct Files {
    folder: PathBuf,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct StoredFile {
    /// The digest in its name.
    pub(crate) digest: Digest,
    pub(crate) stored: SystemTime,
}

/// An upload. Dropping it deletes the file.
#[derive(Debug)]
pub(super) struct Partial {
    files: Files,
    file: Option<NamedTempFile>,
    gathered: Vec<u8>,
    size: u64,
}

impl Files {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Removes the files of interrupted uploads.
    pub(crate) fn clear_partial(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.folder.join(PARTIAL)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn path(&self, digest: &Digest) -> PathBuf {
        let digits = digest.hex();
        self.folder.join(&digits[..2]).join(digits)
    }

    pub(super) fn partial(self) -> Result<Partial, StoreError> {
        let folder = self.folder.join(PARTIAL);
        make(&folder).map_err(io_error)?;
        let file = NamedTempFile::new_in(folder).map_err(io_error)?;
        Ok(Partial { files: self, file: Some(file), gathered: Vec::new(), size: 0 })
    }

    /// The files whose digests begin with a byte, in the order of their digests.
    pub(crate) fn beginning_with(&self, byte: u8) -> io::Result<Vec<StoredFile>> {
        let entries = match fs::read_dir(self.folder.join(format!("{byte:02x}"))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let digest = name.to_str().filter(|name| name.len() == 64);
            if let Some(digest) = digest.and_then(|name| name.parse().ok()) {
                let stored = entry.metadata()?.modified()?;
                found.push(StoredFile { digest, stored });
            }
        }
        found.sort_by_key(|found| found.digest);
        Ok(found)
    }

    /// Removes a file, which may be gone already.
    pub(crate) fn remove(&self, digest: &Digest) -> io::Result<()> {
        match fs::remove_file(self.path(digest)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Partial {
    /// The bytes received so far.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) async fn put(&mut self, piece: Bytes) -> Result<(), StoreError> {
        self.size += piece.len() as u64;
        self.gathered.extend_from_slice(&piece);
        if self.gathered.len() < GATHERED {
            return Ok(());
        }
        self.settle().await
    }

    /// Syncs the content and renames it to its digest. Returns whether the blob existed already.
    pub(super) async fn publish(mut self, digest: &Digest) -> Result<bool, StoreError> {
        self.settle().await?;
        let (files, digest) = (self.files, *digest);
        let file = self.file.ok_or_else(gone)?;
        blocking(move || files.publish(file, &digest).map_err(io_error)).await
    }

    async fn settle(&mut self) -> Result<(), StoreError> {
        let gathered = std::mem::take(&mut self.gathered);
        let mut file = self.file.take().ok_or_else(gone)?;
        let put = move || file.write_all(&gathered).map(|()| file).map_err(io_error);
        self.file = Some(blocking(put).await?);
        Ok(())
    }
}

impl Files {
    fn publish(&self, file: NamedTempFile, digest: &Digest) -> io::Result<bool> {
        // The content must be on the disk before its name: after a power loss a named file is
        // complete.
        file.as_file().sync_all()?;
        let path = self.path(digest);
        let parent = path.parent().unwrap_or(&self.folder);
        make(parent)?;
        let was_there = path.exists();
        // The existing file may be damaged; this one was checked.
        file.persist(&path)?;
        // The parent may be new itself, so both folders are synced before the blob is acknowledged.
        sync(parent)?;
        sync(&self.folder)?;
        Ok(was_there)
    }
}

fn gone() -> StoreError {
    StoreError::new(StoreErrorKind::Broken, "an earlier piece could not be written")
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
