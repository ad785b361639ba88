//! Checks the digests of blobs, and that their files exist.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use accord_base::ProjectId;
use accord_canon::Digest;
use accord_contract::{Code, Failure};
use accord_store::BlobRow;
use sha2::{Digest as _, Sha256};

use super::{PAGE, Suspect, Verification};
use crate::UnitResult;
use crate::blobs::Files;
use crate::spool::io_error;

impl Verification {
    /// Checks that the blobs of a project exist; with `inside`, also their digests.
    pub(super) fn blobs_of(&mut self, project: &ProjectId, inside: bool) -> UnitResult<()> {
        let Ok(files) = self.memory.blob_files() else { return Ok(()) };
        let mut after: Option<Digest> = None;
        while self.goes_on() {
            let page = self.noting(|unit| Ok(unit.blobs(project, after.as_ref(), PAGE)?))?;
            let Some(last) = page.last() else { break };
            after = Some(last.digest);
            for row in &page {
                let verdict = if inside { content(&files, &row.digest)? } else { Ok(()) };
                self.report.blobs += u64::from(inside);
                if let Err(failure) = verdict.and(is_there(&files, row)?) {
                    let id = format!("sha256:{}", row.digest.hex());
                    self.problem(Suspect::Blob, Some(project), &id, &failure);
                    self.note(Suspect::Blob, project, &id, &failure);
                }
            }
        }
        Ok(())
    }

    pub(super) fn blob_files(&mut self) -> UnitResult<()> {
        let Ok(files) = self.memory.blob_files() else { return Ok(()) };
        for byte in 0..=u8::MAX {
            if !self.goes_on() {
                break;
            }
            for found in files.beginning_with(byte).map_err(io_error)? {
                self.report.blobs += 1;
                if let Err(failure) = content(&files, &found.digest)? {
                    let id = format!("sha256:{}", found.digest.hex());
                    self.problem(Suspect::Blob, None, &id, &failure);
                    for row in self.read(|unit| Ok(unit.blobs_named(&found.digest)?))? {
                        self.note(Suspect::Blob, &row.project_id, &id, &failure);
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_there(files: &Files, row: &BlobRow) -> UnitResult<Result<(), Failure>> {
    match std::fs::metadata(files.path(&row.digest)) {
        Ok(file) if file.len() == row.size => Ok(Ok(())),
        Ok(file) => damaged(format!("it has {} bytes, and had {}", file.len(), row.size)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => damaged("its file is missing"),
        Err(error) => Err(io_error(error).into()),
    }
}

/// Whether a file has the digest in its name. A missing file is reported by the check of the index.
fn content(files: &Files, digest: &Digest) -> UnitResult<Result<(), Failure>> {
    match digest_of(&files.path(digest)) {
        Ok(found) if found == *digest => Ok(Ok(())),
        Ok(found) => damaged(format!("it has the digest sha256:{}", found.hex())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Ok(())),
        Err(error) => Err(io_error(error).into()),
    }
}

fn damaged(message: impl Into<String>) -> UnitResult<Result<(), Failure>> {
    Ok(Err(Failure::new(Code::AgenticBlobDamaged, message)))
}

fn digest_of(path: &Path) -> io::Result<Digest> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 256 * 1024];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(<[u8; 32]>::from(hasher.finalize()).into()),
            length => hasher.update(&piece[..length]),
        }
    }
}
