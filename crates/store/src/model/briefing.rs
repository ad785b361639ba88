//! Briefings and lengths of lists in the model.

use accord_base::ProjectId;
use accord_contract::Time;
use accord_memory_core::bundle::BriefingPart;
use accord_memory_core::package::Status;

use super::State;
use crate::{
    Briefings, Drafts, FactQuery, Facts as _, PackageQuery, PackageRow, Packages as _, Result,
    SessionQuery, Sessions as _, Totals,
};

impl Briefings for State {
    fn briefed(
        &self,
        project: &ProjectId,
        part: BriefingPart,
        since: Option<Time>,
        limit: usize,
    ) -> Result<Vec<PackageRow>> {
        let query = PackageQuery {
            drafts: Drafts::None,
            since,
            limit: usize::MAX,
            ..PackageQuery::default()
        };
        let mut rows = self.packages(project, &query)?;
        rows.retain(|row| row.briefing_part() == Some(part));
        if part == BriefingPart::Standing {
            rows.retain(|row| self.superseders(row).is_empty());
            rows.sort_by_key(|row| std::cmp::Reverse(row.significance));
        }
        rows.truncate(limit);
        Ok(rows)
    }

    fn briefed_count(&self, of: &ProjectId, part: BriefingPart, from: Option<Time>) -> Result<u64> {
        Ok(self.briefed(of, part, from, usize::MAX)?.len() as u64)
    }

    fn latest_handoff(&self, project: &ProjectId) -> Result<Option<PackageRow>> {
        let query = PackageQuery {
            status: Some(Status::Complete),
            limit: usize::MAX,
            ..PackageQuery::default()
        };
        let rows = self.packages(project, &query)?;
        let mut handoffs = rows.into_iter().filter(|row| row.package_type.as_str() == "handoff");
        Ok(handoffs.find(|row| self.superseders(row).is_empty()))
    }
}

impl Totals for State {
    fn package_total(&self, project: &ProjectId, query: &PackageQuery<'_>) -> Result<u64> {
        let query = PackageQuery { limit: usize::MAX, ..*query };
        Ok(self.packages(project, &query)?.len() as u64)
    }

    fn fact_total(&self, project: &ProjectId, query: &FactQuery<'_>) -> Result<u64> {
        let query = FactQuery { limit: usize::MAX, ..*query };
        Ok(self.facts(project, &query)?.len() as u64)
    }

    fn session_total(&self, project: &ProjectId, query: &SessionQuery<'_>) -> Result<u64> {
        let query = SessionQuery { limit: usize::MAX, ..*query };
        Ok(self.sessions(project, &query)?.len() as u64)
    }
}
