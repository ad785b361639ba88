//! Removes a project.
//!
//! The core decides whether it may be removed, in the transaction that removes it. So a write that
//! is committed before keeps a project, and a write that comes after finds none.
//!
//! Invariants:
//! - a file of a blob is deleted after the commit, and only if no other project has the blob;
//! - event numbers continue when the project is created again.

use accord_base::{Caller, ProjectId, Verb};
use accord_canon::Digest;
use accord_contract::{Code, Failure, Timestamp};
use accord_memory_core::project::{ProjectContents, not_found};
use accord_store::{ReadUnit, StoreError, StoreErrorKind, StoreExt as _};
use tokio::sync::oneshot;

use super::spool::io_error;
use super::trees::unlink_or;
use super::unit::blocking;
use super::{Memory, UnitError, UnitResult, load};

/// How many blobs are read at once.
const PAGE: usize = 200;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RemovedProject {
    pub contents: ProjectContents,
    pub last_event: u64,
}

impl Memory {
    /// Removes a project that was created for a conformance run, or that holds nothing. The caller
    /// must administer every project. `tasks` counts what the store does not have: the tasks of the
    /// project. It is asked within the transaction.
    pub async fn remove_project(
        &self,
        caller: &Caller,
        id: &ProjectId,
        tasks: impl Fn() -> Result<u64, Failure> + Send + Sync + 'static,
    ) -> Result<RemovedProject, Failure> {
        let access = caller.access();
        access.may_anywhere(Verb::Admin)?;
        if access.projects().is_some() {
            let message = "only a key for all projects may remove a project";
            return Err(Failure::new(Code::AccessDenied, message));
        }
        let (memory, id) = (self.clone(), id.clone());
        // In its own task: a client that disconnects must not leave the files behind.
        let (sender, receiver) = oneshot::channel();
        accord_system::spawn(async move {
            drop(sender.send(memory.remove(&id, tasks).await));
        });
        receiver.await.unwrap_or_else(|_| {
            let detail = "the task that removes a project ended before it was done";
            Err(StoreError::new(StoreErrorKind::Broken, detail).into())
        })
    }

    async fn remove(
        &self,
        id: &ProjectId,
        tasks: impl Fn() -> Result<u64, Failure> + Send + 'static,
    ) -> Result<RemovedProject, Failure> {
        let (memory, project) = (self.clone(), id.clone());
        let (removed, blobs) = self
            .write(move |unit| {
                let row = unit.project(&project)?.ok_or_else(|| not_found(&project))?;
                let contents = unit.contents(&project)?.with_tasks(tasks()?);
                load::project_of(&row)?.must_be_removable(row.conformance, &contents)?;
                let blobs = blobs_of(unit, &project)?;
                let now = Timestamp::emit(memory.now_in(unit, &project)?);
                unlink_or(unit, &project, None)?;
                let last_event = unit.remove_project(&project, &now)?;
                Ok((RemovedProject { contents, last_event }, blobs))
            })
            .await?;
        tracing::info!(project = id.as_str(), "a project was removed");
        if !blobs.is_empty() {
            self.delete_files(blobs).await;
        }
        Ok(removed)
    }

    /// Deletes the files of blobs that no project has any more. A file that stays after a failure
    /// is found by the next sweep.
    async fn delete_files(&self, digests: Vec<Digest>) {
        let memory = self.clone();
        let deleting = blocking(move || {
            // A backup that has the rows must include the files.
            let _alone = memory.inner.blob_copies.write();
            digests.iter().try_for_each(|digest| memory.delete_file(digest))
        });
        if let Err(failure) = deleting.await.map_err(UnitError::into_failure) {
            let code = failure.code;
            tracing::warn!(%code, "blobs are left to the sweep: {}", failure.message);
        }
    }

    fn delete_file(&self, digest: &Digest) -> UnitResult<()> {
        // Without blob storage the files are left alone.
        let Ok(files) = self.blob_files() else { return Ok(()) };
        // No blob is stored between the check and the deletion.
        let _closed = self.inner.blob_gate.blocking_write();
        let rows = self.store().read(|unit| Ok::<_, UnitError>(unit.blobs_named(digest)?))?;
        if rows.is_empty() {
            files.remove(digest).map_err(io_error)?;
        }
        Ok(())
    }
}

fn blobs_of(unit: &dyn ReadUnit, project: &ProjectId) -> UnitResult<Vec<Digest>> {
    let mut found: Vec<Digest> = Vec::new();
    loop {
        let page = unit.blobs(project, found.last(), PAGE)?;
        if page.is_empty() {
            return Ok(found);
        }
        found.extend(page.iter().map(|row| row.digest));
    }
}
