//! Projects in the model.

use std::ops::Bound::{Excluded, Unbounded};

use accord_base::ProjectId;
use accord_contract::Timestamp;
use accord_memory_core::project::ProjectContents;

use super::shared::{Kept, Shared};
use super::{ProjectState, State, insert};
use crate::{ProjectQuery, ProjectRow, ProjectWrites, Projects, Removal, Result, StoreError};

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

    fn contents(&self, project: &ProjectId) -> Result<ProjectContents> {
        let live = self.live_sessions_of(project);
        let project = self.at(project);
        let count =
            |of: fn(&ProjectState) -> usize| project.map_or(0, |project| of(project) as u64);
        Ok(ProjectContents::new([
            count(|project| project.packages.len()),
            count(|project| project.facts.len()),
            count(|project| project.sessions.len()),
            count(|project| project.blobs.len()),
        ])
        .with_live_sessions(live)
        .with_decisions(count(|project| project.decisions.len())))
    }

    fn removal(&self, project: &ProjectId) -> Result<Option<Removal>> {
        Ok(self.removals.get(project).cloned())
    }
}

impl ProjectWrites for State {
    fn insert_project(&mut self, row: &ProjectRow) -> Result<()> {
        let project = ProjectState {
            row: row.clone(),
            packages: Kept::default(),
            facts: Kept::default(),
            sessions: Kept::default(),
            decisions: Kept::default(),
            edges: Kept::default(),
            edge_items: Kept::default(),
            edge_decisions: Kept::default(),
            events: Shared::default(),
            newest_event: self.removals.get(&row.project_id).map_or(0, |removal| removal.event),
            blobs: Kept::default(),
            settings: Kept::default(),
            inbox: Kept::default(),
        };
        insert(&mut self.projects, row.project_id.clone(), Kept::new(project), "project")
    }

    fn update_project(&mut self, row: &ProjectRow) -> Result<()> {
        let project = &mut self.at_mut(&row.project_id)?.row;
        let created_at = project.created_at.clone();
        *project = ProjectRow { created_at, conformance: project.conformance, ..row.clone() };
        Ok(())
    }

    fn remove_project(&mut self, project: &ProjectId, at: &Timestamp) -> Result<u64> {
        let removed = self.projects.remove(project);
        let removed =
            removed.ok_or_else(|| StoreError::conflict("no project", project.as_str()))?;
        let event = removed.newest_event + 1;
        self.remove_live(project);
        self.removals.insert(project.clone(), Removal { event, at: at.clone() });
        self.advanced.insert(project.clone(), event);
        Ok(event)
    }
}
