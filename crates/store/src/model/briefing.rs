//! Briefings and lengths of lists in the model.

use accord_base::ProjectId;
use accord_memory_core::PackageId;
use accord_memory_core::bundle::BriefingPart;
use accord_memory_core::package::Status;

use super::State;
use crate::{
    Briefings, FactQuery, Facts as _, PackageQuery, PackageRow, Packages as _, Result,
    SessionQuery, Sessions as _, Totals,
};

impl Briefings for State {
    fn briefed(
        &self,
        project: &ProjectId,
        part: BriefingPart,
        limit: usize,
    ) -> Result<Vec<PackageRow>> {
        let waits = matches!(part, BriefingPart::Asked | BriefingPart::Waiting);
        let mut rows = self.newest(project, usize::MAX, |row| {
            row.briefing_part() == Some(part) && (waits || self.superseders(row).is_empty())
        })?;
        if part == BriefingPart::Standing {
            rows.sort_by_key(|row| std::cmp::Reverse(row.outline.rank));
        }
        rows.truncate(limit);
        Ok(rows)
    }

    fn briefed_count(&self, of: &ProjectId, part: BriefingPart, most: u64) -> Result<u64> {
        Ok((self.briefed(of, part, usize::MAX)?.len() as u64).min(most))
    }

    fn latest_standing(&self, project: &ProjectId, limit: usize) -> Result<Vec<PackageRow>> {
        let standing = Some(BriefingPart::Standing);
        self.newest(project, limit, |row| {
            row.briefing_part() == standing && self.superseders(row).is_empty()
        })
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

    fn handed_over(&self, project: &ProjectId, limit: usize) -> Result<Vec<PackageRow>> {
        let is_one =
            |row: &PackageRow| row.state.status == Status::Complete && row.outline.hands_over;
        self.newest(project, limit, |row| is_one(row) && self.superseders(row).is_empty())
    }

    fn with_note(&self, project: &ProjectId, limit: usize) -> Result<Vec<PackageRow>> {
        let is_one = |row: &PackageRow| row.state.has_note && row.state.status != Status::Draft;
        self.newest(project, limit, |row| is_one(row) && self.superseders(row).is_empty())
    }

    fn children(
        &self,
        of: &ProjectId,
        parent: &PackageId,
        limit: usize,
    ) -> Result<Vec<PackageRow>> {
        let is_child = |row: &PackageRow| row.outline.parent.as_ref() == Some(parent);
        self.newest(of, limit, |row| {
            row.state.status == Status::Complete
                && is_child(row)
                && self.superseders(row).is_empty()
        })
    }
}

impl State {
    fn newest(
        &self,
        project: &ProjectId,
        limit: usize,
        is_wanted: impl FnMut(&PackageRow) -> bool,
    ) -> Result<Vec<PackageRow>> {
        let query = PackageQuery { limit: usize::MAX, ..PackageQuery::default() };
        let mut rows = self.packages(project, &query)?;
        rows.retain(is_wanted);
        rows.truncate(limit);
        Ok(rows)
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
