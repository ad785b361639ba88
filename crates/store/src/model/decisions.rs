//! Decisions in the model.

use std::cmp::Reverse;

use accord_base::ProjectId;
use accord_base::decision::DecisionId;
use accord_contract::Time;

use super::State;
use crate::{DecisionQuery, DecisionRow, DecisionWrites, Decisions, Result};

impl Decisions for State {
    fn decision(&self, project: &ProjectId, id: &DecisionId) -> Result<Option<DecisionRow>> {
        Ok(self.at(project).and_then(|project| project.decisions.get(id)).cloned())
    }

    fn decisions(
        &self,
        project: &ProjectId,
        query: &DecisionQuery<'_>,
    ) -> Result<Vec<DecisionRow>> {
        let fits = |row: &&DecisionRow| {
            query.protocol.is_none_or(|protocol| row.protocol == protocol)
                && query.kind.is_none_or(|kind| row.kind == kind)
                && query.is_about(&row.subject)
                && query.actor.is_none_or(|actor| row.actor == actor)
                && query.after.is_none_or(|after| place(row) < (after.decided_at, after.seq))
        };
        let rows = self.at(project).into_iter().flat_map(|project| project.decisions.values());
        let mut rows: Vec<DecisionRow> = rows.filter(fits).cloned().collect();
        rows.sort_by_key(|row| Reverse(place(row)));
        rows.truncate(query.limit);
        Ok(rows)
    }
}

impl DecisionWrites for State {
    fn insert_decision(&mut self, row: &DecisionRow) -> Result<Option<u64>> {
        let seq = self.number();
        let decisions = &mut self.at_mut(&row.project_id)?.decisions;
        if decisions.contains_key(&row.decision_id) {
            return Ok(None);
        }
        decisions.insert(row.decision_id.clone(), DecisionRow { seq, ..row.clone() });
        Ok(Some(seq))
    }
}

fn place(row: &DecisionRow) -> (Time, u64) {
    (row.decided_at.time(), row.seq)
}
