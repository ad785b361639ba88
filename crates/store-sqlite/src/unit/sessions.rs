//! Sessions.

use accord_base::{ProjectId, SessionId};
use accord_contract::time::Timestamp;
use accord_store::{
    Order, Result, SessionQuery, SessionRow, SessionWrites, Sessions, Stored, Table, fill, time_key,
};
use rusqlite::params;
use rusqlite::types::Value;

use super::column::Row;
use super::damage::{examine, examine_of};
use super::select::{Select, text};
use super::{Unit, limit, number};
use crate::error::damaged;

/// The columns that [`row`] reads.
macro_rules! columns {
    () => {
        "s.session_id, s.pk, s.actor_type, s.actor_id, s.callsign, s.started_at, s.ended_at, \
        s.text, \
         s.started_key"
    };
}

impl Sessions for Unit<'_> {
    fn session(&self, project: &ProjectId, session: &SessionId) -> Result<Option<SessionRow>> {
        let Some(pk) = self.find(project)? else {
            return Ok(None);
        };
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM session s WHERE s.session_id = ?1 AND s.project = ?2"
        );
        let found =
            self.one(sql, (session.as_str(), pk), |columns| Ok(stored(columns, project)))?;
        self.refuse_damaged(found)
    }

    fn sessions_named(&self, session: &SessionId) -> Result<Vec<SessionRow>> {
        let sql = concat!(
            "SELECT ",
            columns!(),
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
        let project = match within.map(|within| self.find(within)).transpose()? {
            Some(None) => return Ok(Vec::new()),
            found => found.flatten(),
        };
        // The second condition ends the range in the index; the third is exact.
        let sql = "SELECT s.session_id, j.project_id
            FROM session s JOIN project j ON j.pk = s.project
            WHERE s.session_id >= ?1 AND s.session_id < ?1 || char(0x10ffff)
                AND substr(s.session_id, 1, length(?1)) = ?1
                AND (?2 IS NULL OR s.project = ?2)
            ORDER BY s.session_id, j.project_id LIMIT ?3";
        self.many_sound(sql, params![prefix, project, super::limit(limit)], |columns| {
            examine_of(columns, Table::Session, 1, |row, project| Ok((project.clone(), row.id(0)?)))
        })
    }

    fn sessions(&self, project: &ProjectId, query: &SessionQuery<'_>) -> Result<Vec<SessionRow>> {
        let Some(pk) = self.find(project)? else {
            return Ok(Vec::new());
        };
        let all = concat!("SELECT ", columns!(), " FROM session s WHERE s.project = ?");
        let mut select = Select::new(all, [pk.into()]);
        narrow(&mut select, query);
        let order = match query.order {
            Order::NewestFirst => "ORDER BY s.started_key DESC, s.pk DESC LIMIT ?",
            Order::OldestFirst => "ORDER BY s.started_key, s.pk LIMIT ?",
        };
        fill(query.limit, |wanted| {
            let mut select = select.clone();
            select.add(order, [Value::Integer(limit(wanted))]);
            select.run(self, |columns| Ok(self.keep(stored(columns, project))))
        })
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
        self.run(sql, values)?;
        let session = self.connection.last_insert_rowid();
        u64::try_from(session).map_err(|_| damaged("a number"))
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
        let values = params![session.as_str(), pk, ended_at.as_str(), text];
        self.change("session", sql, values)
    }
}

/// Adds the conditions of a query.
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
