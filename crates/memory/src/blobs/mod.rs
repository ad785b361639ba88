//! Blobs: contents that are stored by their digest.
//!
//! A content is one file in the folder of blobs, whichever projects have it. The store's index says
//! which projects have it. A caller with some projects sees the blobs of those. A content that was
//! stored for no project is visible to callers with all projects.
//!
//! Invariants:
//! - a file had its digest, and was durable, when it got its name; it gets its name by renaming, so
//!   that no reader sees a partial file;
//! - the index names a content only after its file exists;
//! - a caller must send a content to store it, even when another project has it already, so that
//!   the answer does not reveal contents of other projects;
//! - a content that no longer has its digest is not served to its end.

mod files;
mod serve;

use accord_base::{Access, Caller, ProjectId, Verb};
use accord_canon::Digest;
use accord_contract::{Code, Failure, Timestamp};
use accord_memory_core::conformance::{Capability, not_implemented};
use accord_store::{BlobRow, ReadUnit};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use self::files::Partial;
use super::spool::failed;
use super::unit::blocking;
use super::{Memory, UnitResult, load};

pub(super) use self::files::Files;
pub use self::serve::{Blob, Part};

/// Clauses: AGENTIC-A-33.
#[derive(Debug)]
pub struct BlobIntake {
    memory: Memory,
    project: Option<ProjectId>,
    digest: Digest,
    media_type: Option<String>,
    hasher: Sha256,
    partial: Partial,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StoredBlob {
    pub size: u64,
    pub is_new: bool,
}

impl Memory {
    /// Begins to store a content, for a project or for none. Fails with `not_implemented` without
    /// blob storage, with `unauthorized`, with `project_archived` or `project_not_found`.
    pub async fn begin_blob(
        &self,
        caller: &Caller,
        project: Option<ProjectId>,
        digest: Digest,
        media_type: Option<String>,
    ) -> Result<BlobIntake, Failure> {
        let files = self.blob_files()?;
        let project = scope(caller.access(), project)?;
        // Refused before the content is received. The project is checked again when it is indexed.
        if let Some(project) = project.clone() {
            let memory = self.clone();
            let admit = self.read(move |unit| {
                let known = load::known_project(unit, &project)?;
                Ok(memory.writing(unit, &project, known.as_ref(), None)?.admit().map(drop)?)
            });
            admit.await?;
        }
        let partial = blocking(move || files.partial()).await;
        Ok(BlobIntake {
            memory: self.clone(),
            project,
            digest,
            media_type,
            hasher: Sha256::new(),
            partial: partial.map_err(failed)?,
        })
    }

    /// The content of a digest that the caller may see: that a project has, or any of the caller's.
    pub async fn blob(
        &self,
        caller: &Caller,
        project: Option<ProjectId>,
        digest: Digest,
    ) -> Result<Blob, Failure> {
        let files = self.blob_files()?;
        let access = caller.access().clone();
        load::may_in(&access, Verb::Read, project.as_ref())?;
        let job = move |unit: &dyn ReadUnit| visible(unit, &access, project.as_ref(), &digest);
        let media_type = self.read(job).await?.ok_or_else(|| not_found(&digest))?;
        Blob::open(&files, digest, media_type).await
    }

    /// The files of blobs. Fails with `not_implemented` without blob storage.
    pub(super) fn blob_files(&self) -> Result<Files, Failure> {
        let files = self.options().blobs.clone().map(Files::new);
        files.ok_or_else(|| not_implemented(Capability::BlobStorage))
    }
}

impl BlobIntake {
    pub async fn put(&mut self, piece: Bytes) -> Result<(), Failure> {
        self.hasher.update(&piece);
        self.partial.put(piece).await.map_err(failed)
    }

    /// Stores the content if it has its digest. Fails with `blob_digest_mismatch`, and when the
    /// store fails; nothing is kept then.
    pub async fn finish(self) -> Result<StoredBlob, Failure> {
        let found = Digest::from(<[u8; 32]>::from(self.hasher.finalize()));
        if found != self.digest {
            let message = format!("the content has the digest sha256:{}", found.hex());
            return Err(Failure::new(Code::AgenticBlobDigestMismatch, message));
        }
        // Prevents the deletion of the file until it is indexed or refused.
        let _open = self.memory.inner.blob_gate.read().await;
        let size = self.partial.size();
        // The file before the row: a row without a file would be a missing blob. A file without a
        // row is found by the sweep.
        let was_there = self.partial.publish(&self.digest).await.map_err(failed)?;
        let Some(project) = self.project else {
            return Ok(StoredBlob { size, is_new: !was_there });
        };
        let row = BlobRow {
            project_id: project,
            digest: self.digest,
            size,
            media_type: self.media_type,
            stored_at: Timestamp::emit(self.memory.now()),
        };
        // Per project, not whether the file existed: that would reveal what other projects have.
        let memory = self.memory.clone();
        let write = self.memory.write(move |unit| {
            let project = &row.project_id;
            memory.ensure_in(unit, project)?;
            // Storing again renews the time, so that the content is not swept before its package
            // is deposited.
            let known = unit.remove_blob(project, &row.digest)?;
            unit.insert_blob(&row)?;
            Ok(!known)
        });
        Ok(StoredBlob { size, is_new: write.await? })
    }
}

/// The project of a content when the request names none: the only project of the key, or none for a
/// caller with all projects.
fn scope(access: &Access, named: Option<ProjectId>) -> Result<Option<ProjectId>, Failure> {
    load::may_in(access, Verb::Write, named.as_ref())?;
    if named.is_some() {
        return Ok(named);
    }
    let Some(projects) = access.projects() else { return Ok(None) };
    match projects.iter().next() {
        Some(only) if projects.len() == 1 => Ok(Some(only.clone())),
        _ => {
            let message = "this key covers several projects, and the request does not name one";
            let failure = Failure::new(Code::AccessDenied, message);
            Err(failure.suggesting("name the project, with ?project_id="))
        }
    }
}

/// The media type of a content, if known; `None` when the caller may not see it.
fn visible(
    unit: &dyn ReadUnit,
    access: &Access,
    project: Option<&ProjectId>,
    digest: &Digest,
) -> UnitResult<Option<Option<String>>> {
    if let Some(project) = project {
        return Ok(unit.blob(project, digest)?.map(|row| row.media_type));
    }
    let mut rows = unit.blobs_named(digest)?;
    rows.retain(|row| access.covers(&row.project_id));
    let found = rows.into_iter().next().map(|row| row.media_type);
    // A caller with all projects sees every file, whether a project has it or not.
    Ok(match access.projects() {
        None => Some(found.flatten()),
        Some(_) => found,
    })
}

fn not_found(digest: &Digest) -> Failure {
    let message = format!("there is no blob sha256:{}", digest.hex());
    Failure::new(Code::AgenticBlobNotFound, message)
}
