//! Facts in the model.

use accord_base::ProjectId;
use accord_contract::{Time, Timestamp};
use accord_memory_core::FactId;
use accord_memory_core::query::FactPosition;

use super::{State, insert};
use crate::{FactKey, FactQuery, FactRow, FactWrites, Facts, Neighbours, Result, StoreError, When};

impl Facts for State {
    fn fact(&self, project: &ProjectId, fact: &FactId) -> Result<Option<FactRow>> {
        Ok(self.at(project).and_then(|project| project.facts.get(fact)).cloned())
    }

    fn facts_named(&self, fact: &FactId) -> Result<Vec<FactRow>> {
        let found = self.projects.values().filter_map(|project| project.facts.get(fact));
        Ok(found.cloned().collect())
    }

    fn current_fact(&self, project: &ProjectId, key: FactKey<'_>) -> Result<Option<FactRow>> {
        Ok(self.chain(project, key)?.into_iter().find(|fact| fact.valid_to.is_none()))
    }

    fn fact_neighbours(&self, of: &ProjectId, key: FactKey<'_>, at: Time) -> Result<Neighbours> {
        let mut neighbours = Neighbours::default();
        let chain = self.chain(of, key)?;
        for fact in chain.into_iter().filter(|fact| !fact.never_held()) {
            if fact.valid_from.time() <= at {
                neighbours.before = Some(fact);
            } else if neighbours.after.is_none() {
                neighbours.after = Some(fact);
            }
        }
        Ok(neighbours)
    }

    fn facts(&self, project: &ProjectId, query: &FactQuery<'_>) -> Result<Vec<FactRow>> {
        let fits = |fact: &&FactRow| {
            query.subject.is_none_or(|subject| fact.subject == subject)
                && query.predicate.is_none_or(|predicate| fact.predicate == predicate)
                && query.after.is_none_or(|after| place(fact) > of(after))
                && match query.when {
                    When::Current => fact.valid_to.is_none(),
                    When::At(instant) => fact.holds_at(instant),
                    When::Ever => true,
                }
        };
        let facts = self.at(project).into_iter().flat_map(|project| project.facts.values());
        let mut facts: Vec<FactRow> = facts.filter(fits).cloned().collect();
        facts.sort_by(|a, b| place(a).cmp(&place(b)));
        facts.truncate(query.limit);
        Ok(facts)
    }

    fn fact_versions(&self, of: &ProjectId, key: FactKey<'_>, most: u64) -> Result<u64> {
        let (subject, predicate) = (Some(key.subject), Some(key.predicate));
        let query = FactQuery { subject, predicate, ..FactQuery::every(None, usize::MAX) };
        Ok((self.facts(of, &query)?.len() as u64).min(most))
    }

    fn newest_facts(&self, project: &ProjectId, limit: usize) -> Result<Vec<FactRow>> {
        let query = FactQuery { limit: usize::MAX, ..FactQuery::default() };
        let mut facts = self.facts(project, &query)?;
        facts.sort_by_key(|fact| std::cmp::Reverse((fact.valid_from.time(), fact.seq)));
        facts.truncate(limit);
        Ok(facts)
    }
}

impl FactWrites for State {
    fn insert_fact(&mut self, row: &FactRow) -> Result<u64> {
        let key = FactKey { subject: &row.subject, predicate: &row.predicate };
        if row.valid_to.is_none() && self.current_fact(&row.project_id, key)?.is_some() {
            return Err(StoreError::conflict("current fact", row.fact_id.as_str()));
        }
        let seq = self.number();
        let facts = &mut self.at_mut(&row.project_id)?.facts;
        insert(facts, row.fact_id.clone(), FactRow { seq, ..row.clone() }, "fact")?;
        Ok(seq)
    }

    fn end_fact(&mut self, of: &ProjectId, id: &FactId, to: &Timestamp, text: &str) -> Result<()> {
        let found = self.at_mut(of)?.facts.get_mut(id);
        let row = found.ok_or_else(|| StoreError::conflict("no fact", id.as_str()))?;
        row.valid_to = Some(to.clone());
        row.text = text.to_owned();
        Ok(())
    }
}

fn place(fact: &FactRow) -> (&str, &str, Time, u64) {
    let from = fact.valid_from.time();
    (&fact.subject, &fact.predicate, from, fact.seq)
}

fn of(position: &FactPosition) -> (&str, &str, Time, u64) {
    let from = position.valid_from;
    (&position.subject, &position.predicate, from, position.seq)
}

impl State {
    fn chain(&self, project: &ProjectId, key: FactKey<'_>) -> Result<Vec<FactRow>> {
        let (subject, predicate) = (Some(key.subject), Some(key.predicate));
        let every = FactQuery::every(None, usize::MAX);
        self.facts(project, &FactQuery { subject, predicate, ..every })
    }
}
