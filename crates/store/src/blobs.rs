//! The index of blobs: which contents a project has. The contents themselves are files.

use accord_base::ProjectId;
use accord_canon::Digest;
use accord_contract::Timestamp;

use crate::Result;

/// A content of a project.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BlobRow {
    /// The project.
    pub project_id: ProjectId,
    /// The SHA-256 digest of the content.
    pub digest: Digest,
    /// Its length in bytes.
    pub size: u64,
    /// Its media type.
    pub media_type: Option<String>,
    /// When the project got it.
    pub stored_at: Timestamp,
}

/// Reads the index.
pub trait Blobs {
    /// A content of a project.
    fn blob(&self, project: &ProjectId, digest: &Digest) -> Result<Option<BlobRow>>;

    /// The projects that have a content, in the order of their ids.
    fn blobs_named(&self, digest: &Digest) -> Result<Vec<BlobRow>>;

    /// At most `limit` contents of a project after `after`, in the order of their digests.
    fn blobs(&self, of: &ProjectId, after: Option<&Digest>, limit: usize) -> Result<Vec<BlobRow>>;
}

/// Writes the index.
pub trait BlobWrites {
    /// Adds a content. It is a conflict when the project has it already, or does not exist.
    fn insert_blob(&mut self, row: &BlobRow) -> Result<()>;

    /// Removes a content from a project. Returns whether it existed.
    fn remove_blob(&mut self, project: &ProjectId, digest: &Digest) -> Result<bool>;
}
