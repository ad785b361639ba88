//! What a briefing shows of the packages of a project.

use accord_base::ProjectId;
use accord_contract::Time;
use accord_memory_core::bundle::BriefingPart;

use crate::{PackageRow, Result};

/// Reads the packages of a briefing. Drafts and quarantined packages are in no part.
pub trait Briefings {
    /// The packages of a part that were created at `since` or later, newest first. Standing ones
    /// are those that no other supersedes, the most significant first. The cost depends on `limit`.
    fn briefed(
        &self,
        project: &ProjectId,
        part: BriefingPart,
        since: Option<Time>,
        limit: usize,
    ) -> Result<Vec<PackageRow>>;

    /// The number of packages of a part that were created at `since` or later.
    fn briefed_count(&self, of: &ProjectId, part: BriefingPart, from: Option<Time>) -> Result<u64>;

    /// The newest complete package of the type handoff that no other supersedes.
    fn latest_handoff(&self, project: &ProjectId) -> Result<Option<PackageRow>>;
}

impl PackageRow {
    /// The part of a briefing that it belongs to.
    pub fn briefing_part(&self) -> Option<BriefingPart> {
        let shown = self.quarantine.is_none();
        let part = BriefingPart::of(self.state.status, &self.package_type, self.significance);
        part.filter(|_| shown)
    }
}
