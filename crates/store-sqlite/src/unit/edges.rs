//! Edges, and what they sent.

use accord_base::ProjectId;
use accord_store::{EdgeDecisionRow, EdgeItemRow, EdgeRow, EdgeWrites, Edges, Result};
use rusqlite::params;

use super::column::Row;
use super::{Unit, number};

impl Edges for Unit<'_> {
    fn edge(&self, project: &ProjectId, id: &str) -> Result<Option<EdgeRow>> {
        let pk = self.or_none(project)?;
        let sql = "SELECT edge_id, position, text FROM edge WHERE project = ?1 AND edge_id = ?2";
        self.one(sql, (pk, id), |columns| row(columns, project))
    }

    fn edges(&self, project: &ProjectId) -> Result<Vec<EdgeRow>> {
        let pk = self.or_none(project)?;
        let sql = "SELECT edge_id, position, text FROM edge WHERE project = ?1 ORDER BY edge_id";
        self.many(sql, (pk,), |columns| row(columns, project))
    }

    fn edge_item(
        &self,
        project: &ProjectId,
        edge: &str,
        item: &str,
    ) -> Result<Option<EdgeItemRow>> {
        let pk = self.or_none(project)?;
        let sql = "SELECT item_id, kind, received_at, text FROM edge_item
            WHERE project = ?1 AND edge_id = ?2 AND item_id = ?3";
        self.one(sql, (pk, edge, item), |columns| item_row(columns, (project, edge)))
    }

    fn edge_items(&self, project: &ProjectId, edge: &str) -> Result<Vec<EdgeItemRow>> {
        let pk = self.or_none(project)?;
        let sql = "SELECT item_id, kind, received_at, text FROM edge_item
            WHERE project = ?1 AND edge_id = ?2 ORDER BY item_id";
        self.many(sql, (pk, edge), |columns| item_row(columns, (project, edge)))
    }

    fn edge_decisions(&self, project: &ProjectId, edge: &str) -> Result<Vec<EdgeDecisionRow>> {
        let pk = self.or_none(project)?;
        let sql = "SELECT decision_id, item_id, decided_at, text FROM edge_decision
            WHERE project = ?1 AND edge_id = ?2 ORDER BY decision_id";
        self.many(sql, (pk, edge), |columns| {
            Ok(EdgeDecisionRow {
                project_id: project.clone(),
                edge_id: edge.to_owned(),
                decision_id: columns.text(0)?,
                item_id: columns.text(1)?,
                decided_at: columns.time(2)?,
                text: columns.text(3)?,
            })
        })
    }
}

impl EdgeWrites for Unit<'_> {
    fn put_edge(&mut self, row: &EdgeRow) -> Result<()> {
        let pk = self.must_find(&row.project_id)?;
        let known = self.edge(&row.project_id, &row.edge_id)?;
        if known.is_none_or(|known| known.named() != row.named()) {
            self.touch_edge(pk, &row.edge_id)?;
        }
        let sql = "INSERT INTO edge (project, edge_id, position, text) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET position = excluded.position, text = excluded.text";
        self.write(sql, params![pk, row.edge_id, number(row.position), row.text])
    }

    fn remove_edge(&mut self, project: &ProjectId, id: &str) -> Result<bool> {
        let pk = self.or_none(project)?;
        self.touch_edge(pk, id)?;
        self.run("DELETE FROM edge_item WHERE project = ?1 AND edge_id = ?2", (pk, id))?;
        self.run("DELETE FROM edge_decision WHERE project = ?1 AND edge_id = ?2", (pk, id))?;
        Ok(self.run("DELETE FROM edge WHERE project = ?1 AND edge_id = ?2", (pk, id))? > 0)
    }

    fn put_edge_item(&mut self, row: &EdgeItemRow) -> Result<()> {
        let pk = self.must_find(&row.project_id)?;
        self.touch_edge_item(pk, &row.edge_id, &row.item_id);
        let sql = "INSERT INTO edge_item (project, edge_id, item_id, kind, received_at, text)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET kind = excluded.kind,
            received_at = excluded.received_at, text = excluded.text";
        let at = row.received_at.as_str();
        self.write(sql, params![pk, row.edge_id, row.item_id, row.kind, at, row.text])
    }

    fn remove_edge_item(&mut self, project: &ProjectId, edge: &str, item: &str) -> Result<bool> {
        let pk = self.or_none(project)?;
        self.touch_edge_item(pk, edge, item);
        let sql = "DELETE FROM edge_item WHERE project = ?1 AND edge_id = ?2 AND item_id = ?3";
        Ok(self.run(sql, (pk, edge, item))? > 0)
    }

    fn put_edge_decision(&mut self, row: &EdgeDecisionRow) -> Result<()> {
        let pk = self.must_find(&row.project_id)?;
        self.touch_decided(pk, &row.edge_id, &row.decision_id)?;
        self.touch_edge_item(pk, &row.edge_id, &row.item_id);
        let sql = "INSERT INTO edge_decision (project, edge_id, decision_id, item_id, decided_at,
            text) VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET
            item_id = excluded.item_id, decided_at = excluded.decided_at, text = excluded.text";
        let at = row.decided_at.as_str();
        self.write(sql, params![pk, row.edge_id, row.decision_id, row.item_id, at, row.text])
    }

    fn remove_edge_decision(
        &mut self,
        project: &ProjectId,
        edge: &str,
        decision: &str,
    ) -> Result<bool> {
        let pk = self.or_none(project)?;
        self.touch_decided(pk, edge, decision)?;
        let sql = "DELETE FROM edge_decision
            WHERE project = ?1 AND edge_id = ?2 AND decision_id = ?3";
        Ok(self.run(sql, (pk, edge, decision))? > 0)
    }
}

impl Unit<'_> {
    /// Touches the item that a decision is about.
    fn touch_decided(&self, project: i64, edge: &str, decision: &str) -> Result<()> {
        let sql = "SELECT item_id FROM edge_decision
            WHERE project = ?1 AND edge_id = ?2 AND decision_id = ?3";
        for item in self.many(sql, (project, edge, decision), |row| row.text(0))? {
            self.touch_edge_item(project, edge, &item);
        }
        Ok(())
    }
}

fn row(columns: &Row<'_>, project: &ProjectId) -> Result<EdgeRow> {
    Ok(EdgeRow {
        project_id: project.clone(),
        edge_id: columns.text(0)?,
        position: columns.count(1)?,
        text: columns.text(2)?,
    })
}

fn item_row(columns: &Row<'_>, (project, edge): (&ProjectId, &str)) -> Result<EdgeItemRow> {
    Ok(EdgeItemRow {
        project_id: project.clone(),
        edge_id: edge.to_owned(),
        item_id: columns.text(0)?,
        kind: columns.text(1)?,
        received_at: columns.time(2)?,
        text: columns.text(3)?,
    })
}
