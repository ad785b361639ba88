//! Projects.

use accord_base::ProjectId;
use accord_contract::Timestamp;
use accord_memory_core::project::ProjectContents;
use accord_store::{
    ProjectQuery, ProjectRow, ProjectWrites, Projects, Removal, Result, Stored, Table, fill,
};
use rusqlite::params;

use super::column::Row;
use super::damage::examine_of;
use super::{Unit, limit};
use crate::error::damaged;

impl Projects for Unit<'_> {
    fn project(&self, project: &ProjectId) -> Result<Option<ProjectRow>> {
        let sql = "SELECT project_id, created_at, archived_at, conformance, text
            FROM project WHERE project_id = ?1 AND NOT is_removed";
        self.one_sound(sql, (project.as_str(),), stored)
    }

    fn projects(&self, query: &ProjectQuery<'_>) -> Result<Vec<ProjectRow>> {
        let sql = "SELECT project_id, created_at, archived_at, conformance, text FROM project
            WHERE project_id > ?1 AND (?2 OR archived_at IS NULL) AND NOT is_removed
            ORDER BY project_id LIMIT ?3";
        // No id is empty.
        let after = query.after.map_or("", ProjectId::as_str);
        fill(query.limit, |wanted| {
            let values = params![after, query.archived, limit(wanted)];
            self.many(sql, values, |columns| Ok(self.keep(stored(columns))))
        })
    }

    fn contents(&self, project: &ProjectId) -> Result<ProjectContents> {
        // No index of `package` has every row of a project: two partial ones are counted.
        let sql = "SELECT
            (SELECT count(*) FROM package WHERE project = ?1 AND quarantined_at IS NULL)
            + (SELECT count(*) FROM package WHERE project = ?1 AND quarantined_at IS NOT NULL),
            (SELECT count(*) FROM fact WHERE project = ?1),
            (SELECT count(*) FROM session WHERE project = ?1),
            (SELECT count(*) FROM blob WHERE project = ?1),
            (SELECT count(*) FROM live_session WHERE project = ?1 AND is_ended = 0),
            (SELECT count(*) FROM decision WHERE project = ?1)";
        // No project has the number 0.
        let pk = self.find(project)?.unwrap_or(0);
        let counted = self.one(sql, (pk,), |row| {
            let counts = [row.count(0)?, row.count(1)?, row.count(2)?, row.count(3)?];
            let contents = ProjectContents::new(counts).with_live_sessions(row.count(4)?);
            Ok(contents.with_decisions(row.count(5)?))
        })?;
        counted.ok_or_else(|| damaged("a count"))
    }

    fn removal(&self, project: &ProjectId) -> Result<Option<Removal>> {
        let sql = "SELECT removed_event, removed_at FROM project
            WHERE project_id = ?1 AND removed_event IS NOT NULL";
        self.one(sql, (project.as_str(),), |row| {
            Ok(Removal { event: row.count(0)?, at: row.time(1)? })
        })
    }
}

impl ProjectWrites for Unit<'_> {
    fn insert_project(&mut self, row: &ProjectRow) -> Result<()> {
        let archived_at = row.archived_at.as_ref().map(|at| at.as_str());
        let (id, created_at) = (row.project_id.as_str(), row.created_at.as_str());
        let values = params![id, created_at, archived_at, row.conformance, row.text];
        // The row and the counter of a removed project are used again.
        let sql = "UPDATE project SET created_at = ?2, archived_at = ?3, conformance = ?4,
            text = ?5, is_removed = 0 WHERE project_id = ?1 AND is_removed";
        if self.run(sql, values)? > 0 {
            return Ok(());
        }
        let sql = "INSERT INTO project (project_id, created_at, archived_at, conformance, text)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        self.run(sql, values)?;
        let pk = self.connection.last_insert_rowid();
        self.write("INSERT INTO counter (project) VALUES (?1)", (pk,))
    }

    fn update_project(&mut self, row: &ProjectRow) -> Result<()> {
        let sql = "UPDATE project SET archived_at = ?2, text = ?3
            WHERE project_id = ?1 AND NOT is_removed";
        let archived_at = row.archived_at.as_ref().map(|at| at.as_str());
        self.change("project", sql, params![row.project_id.as_str(), archived_at, row.text])
    }

    fn remove_project(&mut self, project: &ProjectId, at: &Timestamp) -> Result<u64> {
        self.delete_project(project, at)
    }
}

fn stored(columns: &Row<'_>) -> Stored<ProjectRow> {
    examine_of(columns, Table::Project, 0, row)
}

fn row(row: &Row<'_>, project: &ProjectId) -> Result<ProjectRow> {
    Ok(ProjectRow {
        project_id: project.clone(),
        created_at: row.time(1)?,
        archived_at: row.optional_time(2)?,
        conformance: row.integer(3)? != 0,
        text: row.text(4)?,
    })
}
