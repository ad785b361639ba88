//! Edges in the model.

use accord_base::ProjectId;

use super::State;
use crate::{EdgeDecisionRow, EdgeItemRow, EdgeRow, EdgeWrites, Edges, Result};

impl Edges for State {
    fn edge(&self, project: &ProjectId, id: &str) -> Result<Option<EdgeRow>> {
        Ok(self.at(project).and_then(|project| project.edges.get(id)).cloned())
    }

    fn edges(&self, project: &ProjectId) -> Result<Vec<EdgeRow>> {
        let rows = self.at(project).into_iter().flat_map(|project| project.edges.values());
        Ok(rows.cloned().collect())
    }

    fn edge_item(
        &self,
        project: &ProjectId,
        edge: &str,
        item: &str,
    ) -> Result<Option<EdgeItemRow>> {
        let key = (edge.to_owned(), item.to_owned());
        Ok(self.at(project).and_then(|project| project.edge_items.get(&key)).cloned())
    }

    fn edge_items(&self, project: &ProjectId, edge: &str) -> Result<Vec<EdgeItemRow>> {
        let rows = self.at(project).into_iter().flat_map(|project| project.edge_items.values());
        Ok(rows.filter(|row| row.edge_id == edge).cloned().collect())
    }

    fn edge_decisions(&self, project: &ProjectId, edge: &str) -> Result<Vec<EdgeDecisionRow>> {
        let project = self.at(project).into_iter();
        let rows = project.flat_map(|project| project.edge_decisions.values());
        Ok(rows.filter(|row| row.edge_id == edge).cloned().collect())
    }
}

impl EdgeWrites for State {
    fn put_edge(&mut self, row: &EdgeRow) -> Result<()> {
        let edges = &mut self.at_mut(&row.project_id)?.edges;
        edges.insert(row.edge_id.clone(), row.clone());
        Ok(())
    }

    fn remove_edge(&mut self, project: &ProjectId, id: &str) -> Result<bool> {
        let Ok(project) = self.at_mut(project) else { return Ok(false) };
        project.edge_items.retain(|(edge, _), _| edge != id);
        project.edge_decisions.retain(|(edge, _), _| edge != id);
        Ok(project.edges.remove(id).is_some())
    }

    fn put_edge_item(&mut self, row: &EdgeItemRow) -> Result<()> {
        let items = &mut self.at_mut(&row.project_id)?.edge_items;
        items.insert((row.edge_id.clone(), row.item_id.clone()), row.clone());
        Ok(())
    }

    fn remove_edge_item(&mut self, project: &ProjectId, edge: &str, item: &str) -> Result<bool> {
        let Ok(project) = self.at_mut(project) else { return Ok(false) };
        Ok(project.edge_items.remove(&(edge.to_owned(), item.to_owned())).is_some())
    }

    fn put_edge_decision(&mut self, row: &EdgeDecisionRow) -> Result<()> {
        let decisions = &mut self.at_mut(&row.project_id)?.edge_decisions;
        decisions.insert((row.edge_id.clone(), row.decision_id.clone()), row.clone());
        Ok(())
    }

    fn remove_edge_decision(
        &mut self,
        project: &ProjectId,
        edge: &str,
        decision: &str,
    ) -> Result<bool> {
        let Ok(project) = self.at_mut(project) else { return Ok(false) };
        Ok(project.edge_decisions.remove(&(edge.to_owned(), decision.to_owned())).is_some())
    }
}
