//! Projects in the model.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use accord_base::ProjectId;

use super::{ProjectState, State, insert};
use crate::{ProjectQuery, ProjectRow, ProjectWrites, Projects, Result};

impl Projects for State {
    fn project(&self, project: &ProjectId) -> Result<Option<ProjectRow>> {
        Ok(self.at(project).map(|project| project.row.clone()))
    }

    fn projects(&self, query: &ProjectQuery<'_>) -> Result<Vec<ProjectRow>> {
        let behind = (query.after.map_or(Unbounded, Excluded), Unbounded);
        let rows = self.projects.range::<ProjectId, _>(behind).map(|(_, project)| &project.row);
        let shown = rows.filter(|row| query.archived || row.archived_at.is_none());
        Ok(shown.take(query.limit).cloned().collect())
    }
}

impl ProjectWrites for State {
    fn insert_project(&mut self, row: &ProjectRow) -> Result<()> {
        let project = ProjectState {
            row: row.clone(),
            packages: BTreeMap::new(),
            facts: BTreeMap::new(),
            sessions: BTreeMap::new(),
            events: BTreeMap::new(),
            newest_event: 0,
            blobs: BTreeMap::new(),
            settings: BTreeMap::new(),
        };
        insert(&mut self.projects, row.project_id.clone(), project, "project")
    }

    fn update_project(&mut self, row: &ProjectRow) -> Result<()> {
        let project = &mut self.at_mut(&row.project_id)?.row;
        let created_at = project.created_at.clone();
        *project = ProjectRow { created_at, ..row.clone() };
        Ok(())
    }
}
