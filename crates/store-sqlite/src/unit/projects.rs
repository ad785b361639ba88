//! Projects.

use accord_base::ProjectId;
use accord_store::{ProjectQuery, ProjectRow, ProjectWrites, Projects, Result, Stored, Table};
use rusqlite::params;

use super::column::Row;
use super::damage::examine_of;
use super::{Unit, limit};

impl Projects for Unit<'_> {
    fn project(&self, project: &ProjectId) -> Result<Option<ProjectRow>> {
        let sql = "SELECT project_id, created_at, archived_at, text
            FROM project WHERE project_id = ?1";
        let found = self.one(sql, (project.as_str(),), |columns| Ok(stored(columns)))?;
        self.refuse_damaged(found)
    }

    fn projects(&self, query: &ProjectQuery<'_>) -> Result<Vec<ProjectRow>> {
        let sql = "SELECT project_id, created_at, archived_at, text FROM project
            WHERE project_id > ?1 AND (?2 OR archived_at IS NULL) ORDER BY project_id LIMIT ?3";
        // No id is empty.
        let after = query.after.map_or("", ProjectId::as_str);
        self.fill(query.limit, |wanted| {
            let values = params![after, query.archived, limit(wanted)];
            self.many(sql, values, |columns| Ok(self.keep(stored(columns))))
        })
    }
}

impl ProjectWrites for Unit<'_> {
    fn insert_project(&mut self, row: &ProjectRow) -> Result<()> {
        let sql = "INSERT INTO project (project_id, created_at, archived_at, text)
            VALUES (?1, ?2, ?3, ?4)";
        let archived_at = row.archived_at.as_ref().map(|at| at.as_str());
        let (id, created_at) = (row.project_id.as_str(), row.created_at.as_str());
        self.run(sql, params![id, created_at, archived_at, row.text])?;
        let pk = self.connection.last_insert_rowid();
        self.run("INSERT INTO counter (project) VALUES (?1)", (pk,))?;
        Ok(())
    }

    fn update_project(&mut self, row: &ProjectRow) -> Result<()> {
        let sql = "UPDATE project SET archived_at = ?2, text = ?3 WHERE project_id = ?1";
        let archived_at = row.archived_at.as_ref().map(|at| at.as_str());
        self.change("project", sql, params![row.project_id.as_str(), archived_at, row.text])
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
        text: row.text(3)?,
    })
}
