//! Records of decisions.

use accord_base::ProjectId;
use accord_base::decision::{DecisionId, DecisionProtocol};
use accord_store::{
    DecisionQuery, DecisionRow, DecisionWrites, Decisions, Result, Stored, Table, time_key,
};
use rusqlite::params;
use rusqlite::types::Value;

use super::column::Row;
use super::damage::examine;
use super::select::{Select, text};
use super::{Unit, number};
use crate::error::damaged;

/// The columns that [`row`] reads.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT d.decision_id, d.pk, d.protocol, d.kind, d.subject, d.actor, d.decided_at, \
             d.text, d.decided_key FROM decision d WHERE d.project = ?",
            $rest
        )
    };
}

impl Decisions for Unit<'_> {
    fn decision(&self, project: &ProjectId, id: &DecisionId) -> Result<Option<DecisionRow>> {
        let pk = self.or_none(project)?;
        let sql = select!(" AND d.decision_id = ?");
        self.one_sound(sql, (pk, id.as_str()), |columns| stored(columns, project))
    }

    fn decisions(
        &self,
        project: &ProjectId,
        query: &DecisionQuery<'_>,
    ) -> Result<Vec<DecisionRow>> {
        let pk = self.or_none(project)?;
        let order = "ORDER BY d.decided_key DESC, d.pk DESC LIMIT ?";
        narrowed(pk, query).fill(self, query.limit, order, |columns| stored(columns, project))
    }
}

impl DecisionWrites for Unit<'_> {
    fn insert_decision(&mut self, row: &DecisionRow) -> Result<Option<u64>> {
        let project = self.must_find(&row.project_id)?;
        let sql = "INSERT INTO decision (project, decision_id, protocol, kind, subject, actor,
            decided_key, decided_at, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT (project, decision_id) DO NOTHING RETURNING pk";
        let values = params![
            project,
            row.decision_id.as_str(),
            row.protocol.as_str(),
            row.kind,
            row.subject,
            row.actor,
            time_key::of(row.decided_at.time()),
            row.decided_at.as_str(),
            row.text,
        ];
        self.one(sql, values, |row| row.count(0))
    }
}

fn narrowed(project: i64, query: &DecisionQuery<'_>) -> Select {
    let mut select = Select::new(select!(""), [project.into()]);
    if let Some(protocol) = query.protocol {
        select.add("AND d.protocol = ?", [text(protocol.as_str())]);
    }
    if let Some(kind) = query.kind {
        select.add("AND d.kind = ?", [text(kind)]);
    }
    if let Some(subject) = query.subject {
        // A zero follows a slash: the range in the index has the subject and every text that begins
        // with it and a slash. The second condition is exact.
        let (part, end) = (format!("{subject}/"), format!("{subject}0"));
        select.add("AND d.subject >= ? AND d.subject < ?", [text(subject), text(&end)]);
        select.add("AND (d.subject = ? OR d.subject >= ?)", [text(subject), text(&part)]);
    }
    if let Some(actor) = query.actor {
        select.add("AND d.actor = ?", [text(actor)]);
    }
    if let Some(after) = query.after {
        let key = text(&time_key::of(after.decided_at));
        let position = [key, Value::Integer(number(after.seq))];
        select.add("AND (d.decided_key, d.pk) < (?, ?)", position);
    }
    select
}

fn stored(columns: &Row<'_>, project: &ProjectId) -> Stored<DecisionRow> {
    examine(columns, Table::Decision, project, row)
}

fn row(columns: &Row<'_>, project: &ProjectId) -> Result<DecisionRow> {
    let decided_at = columns.time(6)?;
    columns.stands_at(8, decided_at.time())?;
    let protocol = DecisionProtocol::parse(&columns.text(2)?);
    Ok(DecisionRow {
        project_id: project.clone(),
        decision_id: columns.id(0)?,
        seq: columns.count(1)?,
        protocol: protocol.ok_or_else(|| damaged("a protocol"))?,
        kind: columns.text(3)?,
        subject: columns.text(4)?,
        actor: columns.text(5)?,
        decided_at,
        text: columns.text(7)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of all decisions is read from an index in its order; those about one thing are found
    /// by an index.
    #[test]
    fn lists_use_an_index() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        crate::migrate::migrate(&connection).unwrap();
        let about = DecisionQuery { subject: Some("TASK-1"), ..DecisionQuery::default() };
        for (query, index) in
            [(DecisionQuery::default(), "decision_order"), (about, "decision_subject")]
        {
            let mut select = narrowed(1, &query);
            select.add("ORDER BY d.decided_key DESC, d.pk DESC LIMIT ?", [Value::Integer(9)]);
            let plan = select.plan(&connection);
            assert!(plan.contains(index), "{query:?}: {plan}");
        }
    }
}
