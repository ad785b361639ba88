//! Going through all projects.

use accord_base::ProjectId;
use accord_store::{ProjectQuery, ReadUnit};

use super::UnitResult;

/// How many are read at once.
const PAGE: usize = 500;

/// Every project, archived ones too, in the order of their ids.
pub(super) fn all_projects(unit: &dyn ReadUnit) -> UnitResult<Vec<ProjectId>> {
    let mut found: Vec<ProjectId> = Vec::new();
    loop {
        let page = unit.projects(&ProjectQuery {
            archived: true,
            after: found.last(),
            limit: PAGE,
        })?;
        if page.is_empty() {
            return Ok(found);
        }
        found.extend(page.into_iter().map(|row| row.project_id));
    }
}
