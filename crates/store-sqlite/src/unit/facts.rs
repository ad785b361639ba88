//! Facts.

use accord_base::ProjectId;
use accord_contract::{Time, Timestamp};
use accord_memory_core::FactId;
use accord_store::{
    FactKey, FactQuery, FactRow, FactWrites, Facts, Neighbours, Result, Stored, Table, When,
    time_key,
};
use rusqlite::params;
use rusqlite::types::Value;

use super::column::Row;
use super::damage::{examine, examine_of};
use super::select::{Select, text};
use super::{Unit, number};
use crate::error::damaged;

/// The columns that [`row`] reads.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT f.fact_id, f.pk, f.subject, f.predicate, f.value, f.valid_from, f.valid_to, \
         f.created_at, f.text, f.from_key, f.to_key",
            $rest
        )
    };
}

impl Facts for Unit<'_> {
    fn fact(&self, project: &ProjectId, fact: &FactId) -> Result<Option<FactRow>> {
        let pk = self.or_none(project)?;
        let sql = select!(" FROM fact f WHERE f.fact_id = ?1 AND f.project = ?2");
        self.one_sound(sql, (fact.as_str(), pk), |columns| stored(columns, project))
    }

    fn facts_named(&self, fact: &FactId) -> Result<Vec<FactRow>> {
        let sql = select!(
            ", j.project_id FROM fact f JOIN project j ON j.pk = f.project
             WHERE f.fact_id = ?1 ORDER BY j.project_id"
        );
        self.many_sound(sql, (fact.as_str(),), |columns| examine_of(columns, Table::Fact, 11, row))
    }

    fn current_fact(&self, project: &ProjectId, key: FactKey<'_>) -> Result<Option<FactRow>> {
        let pk = self.or_none(project)?;
        let sql = select!(
            " FROM fact f
              WHERE f.project = ?1 AND f.subject = ?2 AND f.predicate = ?3 AND f.to_key IS NULL"
        );
        self.one_sound(sql, (pk, key.subject, key.predicate), |columns| stored(columns, project))
    }

    fn fact_neighbours(&self, of: &ProjectId, key: FactKey<'_>, at: Time) -> Result<Neighbours> {
        let pk = self.or_none(of)?;
        // A fact that ended when it began was never valid, so it must not limit a new fact.
        let before = select!(
            " FROM fact f
              WHERE f.project = ?1 AND f.subject = ?2 AND f.predicate = ?3 AND f.from_key <= ?4
              AND (f.to_key IS NULL OR f.to_key > f.from_key)
              ORDER BY f.from_key DESC, f.pk DESC LIMIT 1"
        );
        let after = select!(
            " FROM fact f
              WHERE f.project = ?1 AND f.subject = ?2 AND f.predicate = ?3 AND f.from_key > ?4
              AND (f.to_key IS NULL OR f.to_key > f.from_key)
              ORDER BY f.from_key, f.pk LIMIT 1"
        );
        let values = params![pk, key.subject, key.predicate, time_key::of(at)];
        let beside = |sql| self.one_sound(sql, values, |columns| stored(columns, of));
        Ok(Neighbours { before: beside(before)?, after: beside(after)? })
    }

    fn facts(&self, project: &ProjectId, query: &FactQuery<'_>) -> Result<Vec<FactRow>> {
        let pk = self.or_none(project)?;
        let all = select!(" FROM fact f WHERE f.project = ?");
        let mut select = Select::new(all, [pk.into()]);
        narrow(&mut select, query);
        let order = match query.when {
            // There is one per chain.
            When::Current => "ORDER BY f.subject, f.predicate LIMIT ?",
            When::At(_) | When::Ever => "ORDER BY f.subject, f.predicate, f.from_key, f.pk LIMIT ?",
        };
        select.fill(self, query.limit, order, |columns| stored(columns, project))
    }

    fn fact_versions(&self, of: &ProjectId, key: FactKey<'_>, most: u64) -> Result<u64> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM fact INDEXED BY fact_chain
            WHERE project = ?1 AND subject = ?2 AND predicate = ?3 LIMIT ?4)";
        let values = (self.or_none(of)?, key.subject, key.predicate, number(most));
        Ok(self.one(sql, values, |row| row.count(0))?.unwrap_or_default())
    }

    fn newest_facts(&self, project: &ProjectId, wanted: usize) -> Result<Vec<FactRow>> {
        let pk = self.or_none(project)?;
        let sql = select!(
            " FROM fact f WHERE f.project = ?1 AND f.to_key IS NULL
              ORDER BY f.from_key DESC, f.pk DESC LIMIT ?2"
        );
        self.fill_sound(wanted, sql, |limit| (pk, limit), |columns| stored(columns, project))
    }
}

impl FactWrites for Unit<'_> {
    fn insert_fact(&mut self, row: &FactRow) -> Result<u64> {
        let project = self.must_find(&row.project_id)?;
        let sql = "INSERT INTO fact (project, fact_id, subject, predicate, value, from_key,
            valid_from, to_key, valid_to, created_at, text)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        let values = params![
            project,
            row.fact_id.as_str(),
            row.subject,
            row.predicate,
            row.value,
            time_key::of(row.valid_from.time()),
            row.valid_from.as_str(),
            row.valid_to.as_ref().map(|to| time_key::of(to.time())),
            row.valid_to.as_ref().map(|to| to.as_str()),
            row.created_at.as_str(),
            row.text,
        ];
        self.insert(sql, values)
    }

    fn end_fact(&mut self, of: &ProjectId, id: &FactId, to: &Timestamp, text: &str) -> Result<()> {
        let pk = self.must_find(of)?;
        let sql = "UPDATE fact SET to_key = ?3, valid_to = ?4, text = ?5
            WHERE fact_id = ?1 AND project = ?2";
        let values = params![id.as_str(), pk, time_key::of(to.time()), to.as_str(), text];
        self.change("fact", sql, values)
    }
}

pub(super) fn narrow(select: &mut Select, query: &FactQuery<'_>) {
    if let Some(subject) = query.subject {
        select.add("AND f.subject = ?", [text(subject)]);
    }
    if let Some(predicate) = query.predicate {
        select.add("AND f.predicate = ?", [text(predicate)]);
    }
    match query.when {
        When::Ever => {}
        When::Current => drop(select.add("AND f.to_key IS NULL", [])),
        When::At(instant) => {
            let at = text(&time_key::of(instant));
            let holds = "AND f.from_key <= ? AND (f.to_key IS NULL OR f.to_key > ?)";
            select.add(holds, [at.clone(), at]);
        }
    }
    if let Some(after) = query.after {
        select.add(
            "AND (f.subject, f.predicate, f.from_key, f.pk) > (?, ?, ?, ?)",
            [
                text(&after.subject),
                text(&after.predicate),
                text(&time_key::of(after.valid_from)),
                Value::Integer(number(after.seq)),
            ],
        );
    }
}

fn stored(columns: &Row<'_>, project: &ProjectId) -> Stored<FactRow> {
    examine(columns, Table::Fact, project, row)
}

fn row(columns: &Row<'_>, project: &ProjectId) -> Result<FactRow> {
    let valid_from = columns.time(5)?;
    columns.stands_at(9, valid_from.time())?;
    let valid_to = columns.optional_time(6)?;
    match &valid_to {
        Some(to) => columns.stands_at(10, to.time())?,
        // The two columns about its end contradict each other.
        None if columns.optional_text(10)?.is_some() => Err(damaged("the end of a fact"))?,
        None => {}
    }
    Ok(FactRow {
        project_id: project.clone(),
        fact_id: columns.id(0)?,
        seq: columns.count(1)?,
        subject: columns.text(2)?,
        predicate: columns.text(3)?,
        value: columns.text(4)?,
        valid_from,
        valid_to,
        created_at: columns.time(7)?,
        text: columns.text(8)?,
    })
}
