//! Sessions.

use accord_base::{ProjectId, SessionId};
use accord_contract::Timestamp;
use accord_store::{
    Order, Result, SessionQuery, SessionRow, SessionWrites, Sessions, Stored, Table, time_key,
};
use rusqlite::params;
use rusqlite::types::Value;

use super::column::Row;
use super::damage::{examine, examine_of};
use super::select::{Select, text};
use super::{Unit, number};

/// The columns that [`row`] reads.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT s.session_id, s.pk, s.actor_type, s.actor_id, s.callsign, s.started_at, \
s.ended_at, s.text, s.started_key",
            $rest
        )
    };
}

impl Sessions for Unit<'_> {
    fn session(&self, project: &ProjectId, session: &SessionId) -> Result<Option<SessionRow>> {
        let pk = self.or_none(project)?;
        let sql = select!(" FROM session s WHERE s.session_id = ?1 AND s.project = ?2");
        self.one_sound(sql, (session.as_str(), pk), |columns| stored(columns, project))
    }

    fn sessions_named(&self, session: &SessionId) -> Result<Vec<SessionRow>> {
        let sql = select!(
            ", j.project_id FROM session s JOIN project j ON j.pk = s.project
             WHERE s.session_id = ?1 ORDER BY j.project_id"
        );
        self.many_sound(sql, (session.as_str(),), |columns| {
            examine_of(columns, Table::Session, 9, row)
        })
    }

    fn session_ids(
        &self,
        prefix: &str,
        within: Option<&ProjectId>,
        limit: usize,
    ) -> Result<Vec<(ProjectId, SessionId)>> {
        // The second condition ends the range in the index; the third is exact.
        let sql = "SELECT s.session_id, j.project_id
            FROM session s JOIN project j ON j.pk = s.project
            WHERE s.session_id >= ?1 AND s.session_id < ?1 || char(0x10ffff)
                AND substr(s.session_id, 1, length(?1)) = ?1
                AND (?2 IS NULL OR s.project = ?2)
            ORDER BY s.session_id, j.project_id LIMIT ?3";
        self.ids_with(Table::Session, sql, prefix, within, limit)
    }

    fn sessions(&self, project: &ProjectId, query: &SessionQuery<'_>) -> Result<Vec<SessionRow>> {
        let pk = self.or_none(project)?;
        let all = select!(" FROM session s WHERE s.project = ?");
        let mut select = Select::new(all, [pk.into()]);
        narrow(&mut select, query);
        let order = match query.order {
            Order::NewestFirst => "ORDER BY s.started_key DESC, s.pk DESC LIMIT ?",
            Order::OldestFirst => "ORDER BY s.started_key, s.pk LIMIT ?",
        };
        select.fill(self, query.limit, order, |columns| stored(columns, project))
    }
}

impl SessionWrites for Unit<'_> {
    fn insert_session(&mut self, row: &SessionRow) -> Result<u64> {
        let project = self.must_find(&row.project_id)?;
        let sql = "INSERT INTO session (project, session_id, actor_type, actor_id, callsign,
            started_key, started_at, ended_at, text)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let values = params![
            project,
            row.session_id.as_str(),
            row.actor.kind.as_str(),
            row.actor.id.as_str(),
            row.callsign,
            time_key::of(row.started_at.time()),
            row.started_at.as_str(),
            row.ended_at.as_ref().map(|at| at.as_str()),
            row.text,
        ];
        self.insert(sql, values)
    }

    fn end_session(
        &mut self,
        project: &ProjectId,
        session: &SessionId,
        ended_at: &Timestamp,
        text: &str,
    ) -> Result<()> {
        let pk = self.must_find(project)?;
        let sql = "UPDATE session SET ended_at = ?3, text = ?4
            WHERE session_id = ?1 AND project = ?2";
        self.change("session", sql, params![session.as_str(), pk, ended_at.as_str(), text])
    }
}

pub(super) fn narrow(select: &mut Select, query: &SessionQuery<'_>) {
    if let Some(callsign) = query.callsign {
        select.add("AND s.callsign = ?", [text(callsign)]);
    }
    if query.active {
        select.add("AND s.ended_at IS NULL", []);
    }
    if let Some(since) = query.active_since {
        let key = text(&time_key::of(since));
        select.add(
            "AND (s.started_key >= ? OR EXISTS (
                SELECT 1 FROM package p WHERE p.project = s.project
                AND p.session_id = s.session_id AND p.created_key >= ?))",
            [key.clone(), key],
        );
    }
    if let Some(after) = query.after {
        let behind = match query.order {
            Order::NewestFirst => "AND (s.started_key, s.pk) < (?, ?)",
            Order::OldestFirst => "AND (s.started_key, s.pk) > (?, ?)",
        };
        let key = text(&time_key::of(after.started_at));
        select.add(behind, [key, Value::Integer(number(after.seq))]);
    }
}

fn stored(columns: &Row<'_>, project: &ProjectId) -> Stored<SessionRow> {
    examine(columns, Table::Session, project, row)
}

fn row(columns: &Row<'_>, project: &ProjectId) -> Result<SessionRow> {
    let started_at = columns.time(5)?;
    columns.stands_at(8, started_at.time())?;
    Ok(SessionRow {
        project_id: project.clone(),
        session_id: columns.id(0)?,
        seq: columns.count(1)?,
        actor: columns.actor(2)?,
        callsign: columns.optional_text(4)?,
        started_at,
        ended_at: columns.optional_time(6)?,
        text: columns.text(7)?,
    })
}
