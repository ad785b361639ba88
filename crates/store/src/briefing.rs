//! What a briefing shows of the packages of a project.

use accord_base::ProjectId;
use accord_memory_core::PackageId;
use accord_memory_core::bundle::BriefingPart;

use crate::{PackageRow, Result};

/// Reads the packages of a briefing. Drafts and quarantined packages are in no part. Those that
/// another supersedes are in the parts that wait for somebody, and in no other.
pub trait Briefings {
    /// The packages of a part, newest first; of standing ones, those of the highest rank first. The
    /// cost depends on `limit`.
    fn briefed(
        &self,
        project: &ProjectId,
        part: BriefingPart,
        limit: usize,
    ) -> Result<Vec<PackageRow>>;

    /// The number of packages of a part, or `most` if it has more.
    fn briefed_count(&self, of: &ProjectId, part: BriefingPart, most: u64) -> Result<u64>;

    /// The newest packages of [`BriefingPart::Standing`].
    fn latest_standing(&self, project: &ProjectId, limit: usize) -> Result<Vec<PackageRow>>;

    /// The newest complete package of the type handoff that no other supersedes.
    fn latest_handoff(&self, project: &ProjectId) -> Result<Option<PackageRow>>;

    /// The newest complete packages that hand work over and that no other supersedes.
    fn handed_over(&self, project: &ProjectId, limit: usize) -> Result<Vec<PackageRow>>;

    /// The newest packages whose latest revision has a note, and that no other supersedes.
    fn with_note(&self, project: &ProjectId, limit: usize) -> Result<Vec<PackageRow>>;

    /// The newest complete packages that extend or correct a package, and that no other supersedes.
    fn children(&self, of: &ProjectId, parent: &PackageId, limit: usize)
    -> Result<Vec<PackageRow>>;
}

impl PackageRow {
    /// The part of a briefing that it belongs to.
    pub fn briefing_part(&self) -> Option<BriefingPart> {
        let shown = self.quarantine.is_none();
        let (state, kind) = (&self.state, &self.package_type);
        let part = BriefingPart::of(state.status, kind, self.significance, &self.outline);
        part.filter(|_| shown)
    }
}
