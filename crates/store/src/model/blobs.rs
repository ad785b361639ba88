//! The index of blobs in the model.

use accord_base::ProjectId;
use accord_canon::Digest;

use super::{State, insert};
use crate::{BlobRow, BlobWrites, Blobs, Result};

impl Blobs for State {
    fn blob(&self, project: &ProjectId, digest: &Digest) -> Result<Option<BlobRow>> {
        Ok(self.at(project).and_then(|project| project.blobs.get(digest)).cloned())
    }

    fn blobs_named(&self, digest: &Digest) -> Result<Vec<BlobRow>> {
        let found = self.projects.values().filter_map(|project| project.blobs.get(digest));
        Ok(found.cloned().collect())
    }

    fn blobs(&self, of: &ProjectId, after: Option<&Digest>, limit: usize) -> Result<Vec<BlobRow>> {
        let blobs = self.at(of).into_iter().flat_map(|project| project.blobs.values());
        let behind = blobs.filter(|row| after.is_none_or(|after| row.digest > *after));
        Ok(behind.take(limit).cloned().collect())
    }
}

impl BlobWrites for State {
    fn insert_blob(&mut self, row: &BlobRow) -> Result<()> {
        insert(&mut self.at_mut(&row.project_id)?.blobs, row.digest, row.clone(), "blob")
    }

    fn remove_blob(&mut self, project: &ProjectId, digest: &Digest) -> Result<bool> {
        let project = self.projects.get_mut(project);
        Ok(project.is_some_and(|project| project.blobs.remove(digest).is_some()))
    }
}
