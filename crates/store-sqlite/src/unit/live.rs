//! Reads live sessions.

use accord_base::ProjectId;
use accord_contract::Time;
use accord_live_core::handshake::BlueprintKey;
use accord_live_core::session::{Ask, DedupKey, Head, Session};
use accord_live_core::{HandshakeId, SessionId};
use accord_store::{
    BlueprintRow, FrameEntry, HandshakeRow, LedgerEntry, LivePart, LiveSessionQuery,
    LiveSessionRow, LiveSessions, Result, StoreError, Stored, Table,
};
use rusqlite::types::Value;

use super::column::Row;
use super::damage::{examine, examine_of};
use super::select::{Select, text};
use super::{Unit, number};
use crate::error::damaged;

/// Selects the columns that [`session`] reads, and further ones.
macro_rules! select {
    ($rest:literal $(, $further:literal)?) => {
        concat!(
            "SELECT s.session_id, j.project_id, s.app_id, s.version, s.is_ended, s.ledger, \
             s.horizon, s.stream, s.evicted, s.ring, s.epoch, s.revision, s.drained, s.has_pipe, \
             s.is_asking, s.created_at, s.last_activity_at, s.expires_at",
            $($further,)?
            " FROM live_session s LEFT JOIN project j ON j.pk = s.project ",
            $rest
        )
    };
}

/// Selects the columns that [`event`] reads.
macro_rules! select_events {
    ($rest:literal) => {
        concat!("SELECT seq, at, kind, text, event_id, key FROM live_event ", $rest)
    };
}

impl LiveSessions for Unit<'_> {
    fn live_session(&self, id: &SessionId) -> Result<Option<LiveSessionRow>> {
        let sql = select!("WHERE s.session_id = ?1");
        self.one_sound(sql, (id.as_str(),), stored)
    }

    fn live_sessions(
        &self,
        project: &ProjectId,
        query: &LiveSessionQuery<'_>,
    ) -> Result<Vec<LiveSessionRow>> {
        let Some(pk) = self.find(project)? else { return Ok(Vec::new()) };
        let all = select!("WHERE s.project = ?");
        let mut select = Select::new(all, [pk.into()]);
        if let Some(at) = query.active_at {
            select.add("AND s.expires_at > ?", [Value::Integer(millis(at))]);
        }
        if let Some((at, id)) = query.after {
            let (at, id) = (Value::Integer(millis(at)), text(id.as_str()));
            let behind = "AND (s.created_at < ? OR (s.created_at = ? AND s.session_id > ?))";
            select.add(behind, [at.clone(), at, id]);
        }
        select.fill(self, query.limit, "ORDER BY s.created_at DESC, s.session_id LIMIT ?", stored)
    }

    fn expired_live_sessions(&self, at: Time, wanted: usize) -> Result<Vec<LiveSessionRow>> {
        let sql = select!(
            "WHERE s.is_ended = 0 AND s.expires_at <= ?1
             ORDER BY s.expires_at, s.session_id LIMIT ?2"
        );
        self.fill_sound(wanted, sql, |limit| (millis(at), limit), stored)
    }

    fn live_content(&self, session: &SessionId, part: LivePart) -> Result<Option<String>> {
        let Some(pk) = self.find_live(session)? else { return Ok(None) };
        let (part, epoch) = place(part);
        let sql = "SELECT text FROM live_content WHERE session = ?1 AND part = ?2 AND epoch = ?3";
        self.one_sound(sql, (pk, part, epoch), |columns| {
            let text = columns.text(0);
            text.map_err(|error| wrong(Table::LiveContent, session.as_str(), &error))
        })
    }

    fn live_ledger(&self, of: &SessionId, after: u64, limit: usize) -> Result<Vec<LedgerEntry>> {
        let sql = select_events!("WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3");
        self.ledger_rows(sql, of, after, limit)
    }

    fn live_pipe(&self, of: &SessionId, after: u64, limit: usize) -> Result<Vec<LedgerEntry>> {
        let sql = select_events!(
            "WHERE session = ?1 AND seq > ?2 AND event_id IS NOT NULL ORDER BY seq LIMIT ?3"
        );
        self.ledger_rows(sql, of, after, limit)
    }

    fn live_event(&self, session: &SessionId, key: &DedupKey) -> Result<Option<LedgerEntry>> {
        let Some(pk) = self.find_live(session)? else { return Ok(None) };
        let sql = select_events!("WHERE session = ?1 AND key = ?2");
        let values = (pk, key.as_str());
        self.one_sound(sql, values, |columns| unowned(columns, Table::LiveEvent, event))
    }

    fn live_frames(&self, of: &SessionId, after: u64, wanted: usize) -> Result<Vec<FrameEntry>> {
        let Some(pk) = self.find_live(of)? else { return Ok(Vec::new()) };
        let sql = "SELECT seq, channel, is_latest, text FROM live_frame
            WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
        let values = |limit| (pk, number(after), limit);
        self.fill_sound(wanted, sql, values, |columns| unowned(columns, Table::LiveFrame, frame))
    }

    fn oldest_live_frame(&self, session: &SessionId) -> Result<Option<u64>> {
        let Some(pk) = self.find_live(session)? else { return Ok(None) };
        let sql = "SELECT seq FROM live_frame WHERE session = ?1 AND is_latest = 0
            ORDER BY seq LIMIT 1";
        self.one(sql, (pk,), |columns| columns.count(0))
    }

    fn live_ask(&self, session: &SessionId) -> Result<Option<Ask>> {
        let Some(pk) = self.find_live(session)? else { return Ok(None) };
        let sql = "SELECT s.session_id, a.asked_by_type, a.asked_by_id, a.intent, a.since
            FROM live_ask a JOIN live_session s ON s.pk = a.session WHERE a.session = ?1";
        self.one_sound(sql, (pk,), |row| unowned(row, Table::LiveAsk, |row| ask(row, 1)))
    }

    fn live_asks(
        &self,
        project: &ProjectId,
        at: Time,
        after: Option<(Time, &SessionId)>,
        wanted: usize,
    ) -> Result<Vec<(LiveSessionRow, Ask)>> {
        let Some(pk) = self.find(project)? else { return Ok(Vec::new()) };
        let sql = select!(
            "JOIN live_ask a ON a.session = s.pk
             WHERE s.project = ?1 AND s.expires_at > ?2
                 AND (?3 IS NULL OR a.since > ?3 OR (a.since = ?3 AND s.session_id > ?4))
             ORDER BY a.since, s.session_id LIMIT ?5",
            ", a.asked_by_type, a.asked_by_id, a.intent, a.since"
        );
        let (since, id) = after.map(|(since, id)| (millis(since), id.as_str())).unzip();
        let values = |limit| (pk, millis(at), since, id, limit);
        self.fill_sound(wanted, sql, values, |columns| {
            unowned(columns, Table::LiveAsk, |row| Ok((session(row)?, ask(row, 18)?)))
        })
    }

    fn live_handshake(&self, handshake: &HandshakeId) -> Result<Option<HandshakeRow>> {
        let sql = "SELECT h.handshake_id, j.project_id, h.expires_at, h.text
            FROM live_handshake h JOIN project j ON j.pk = h.project WHERE h.handshake_id = ?1";
        self.one_sound(sql, (handshake.as_str(),), |columns| {
            examine_of(columns, Table::LiveHandshake, 1, |row, project| {
                Ok(HandshakeRow {
                    project_id: project.clone(),
                    handshake_id: row.id(0)?,
                    expires_at: time(row, 2)?,
                    text: row.text(3)?,
                })
            })
        })
    }

    fn live_blueprint(&self, of: &ProjectId, key: &BlueprintKey) -> Result<Option<BlueprintRow>> {
        let Some(pk) = self.find(of)? else { return Ok(None) };
        let sql = "SELECT contract_hash, variant_key, code_hash, intent, at, text
            FROM live_blueprint WHERE project = ?1 AND contract_hash = ?2 AND variant_key = ?3";
        self.one_sound(sql, (pk, &key.contract_hash, &key.variant_key), |columns| {
            examine(columns, Table::LiveBlueprint, of, blueprint)
        })
    }

    fn live_blueprints(&self, project: &ProjectId, wanted: usize) -> Result<Vec<BlueprintRow>> {
        let Some(pk) = self.find(project)? else { return Ok(Vec::new()) };
        let sql = "SELECT contract_hash, variant_key, code_hash, intent, at, text
            FROM live_blueprint WHERE project = ?1
            ORDER BY at DESC, contract_hash, variant_key LIMIT ?2";
        let read = |columns: &Row<'_>| examine(columns, Table::LiveBlueprint, project, blueprint);
        self.fill_sound(wanted, sql, |limit| (pk, limit), read)
    }

    fn live_code(&self, hash: &str) -> Result<Option<String>> {
        let sql = "SELECT text FROM live_code WHERE hash = ?1 LIMIT 1";
        self.one(sql, (hash,), |columns| columns.text(0))
    }
}

impl Unit<'_> {
    pub(super) fn find_live(&self, session: &SessionId) -> Result<Option<i64>> {
        Ok(self.find_live_row(session)?.map(|(pk, _)| pk))
    }

    /// The number of a session, which must exist and belong to a project: that of a project that
    /// was removed has nothing but its row.
    pub(super) fn must_find_live(&self, session: &SessionId) -> Result<i64> {
        let found = self.find_live_row(session)?.filter(|(_, is_owned)| *is_owned);
        let found = found.map(|(pk, _)| pk);
        found.ok_or_else(|| StoreError::conflict("no live session", session.as_str()))
    }

    /// The number of a session, and whether it belongs to a project.
    fn find_live_row(&self, session: &SessionId) -> Result<Option<(i64, bool)>> {
        if let Some((known, found)) = &*self.last_live.borrow()
            && known == session
        {
            return Ok(Some(*found));
        }
        let sql = "SELECT pk, project IS NOT NULL FROM live_session WHERE session_id = ?1";
        let read = |row: &Row<'_>| Ok((row.integer(0)?, row.integer(1)? != 0));
        let found = self.one(sql, (session.as_str(),), read)?;
        if let Some(found) = found {
            self.last_live.replace(Some((session.clone(), found)));
        }
        Ok(found)
    }

    fn ledger_rows(
        &self,
        sql: &str,
        session: &SessionId,
        after: u64,
        wanted: usize,
    ) -> Result<Vec<LedgerEntry>> {
        let Some(pk) = self.find_live(session)? else { return Ok(Vec::new()) };
        let values = |limit| (pk, number(after), limit);
        self.fill_sound(wanted, sql, values, |columns| unowned(columns, Table::LiveEvent, event))
    }

    /// Sessions whose counters are not those of their rows.
    pub(super) fn wrong_live_sessions(&self, project: i64) -> Result<Vec<super::derived::Wrong>> {
        let sql = "SELECT s.session_id,
            (SELECT count(*) FROM live_event e WHERE e.session = s.pk) <> s.ledger - s.horizon
            OR (SELECT coalesce(max(e.seq), s.ledger) FROM live_event e WHERE e.session = s.pk)
                <> s.ledger,
            (SELECT count(*) FROM live_frame f WHERE f.session = s.pk AND f.is_latest = 0) <> s.ring
            OR (SELECT coalesce(max(f.seq), 0) FROM live_frame f WHERE f.session = s.pk) > s.stream,
            EXISTS (SELECT 1 FROM live_ask a WHERE a.session = s.pk) <> s.is_asking
            FROM live_session s WHERE s.project = ?1 AND s.is_ended = 0 ORDER BY s.session_id";
        let checks = [
            (1, "the number of its ledger events is not that of its ledger"),
            (2, "the number of its frames is not that of its stream"),
            (3, "it says that it waits for an answer, and has no ask, or the reverse"),
        ];
        let mut found = Vec::new();
        let read = |row: &Row<'_>| {
            for (column, what) in checks {
                if row.integer(column)? != 0 {
                    found.push((Table::LiveSession, row.label(0), what.to_owned()));
                }
            }
            Ok(())
        };
        self.each(sql, (project,), read, |()| true)?;
        Ok(found)
    }
}

/// A row that names no project.
fn unowned<T>(row: &Row<'_>, table: Table, read: impl FnOnce(&Row<'_>) -> Result<T>) -> Stored<T> {
    read(row).map_err(|error| wrong(table, &row.label(0), &error))
}

fn wrong(table: Table, id: &str, error: &StoreError) -> accord_store::DamagedRow {
    let what = error.detail().to_owned();
    accord_store::DamagedRow { table, project_id: None, id: id.to_owned(), what }
}

fn stored(columns: &Row<'_>) -> Stored<LiveSessionRow> {
    unowned(columns, Table::LiveSession, session)
}

fn session(row: &Row<'_>) -> Result<LiveSessionRow> {
    let flag = |at: usize| Ok::<_, StoreError>(row.integer(at)? != 0);
    let head = Head {
        ledger: row.count(5)?,
        horizon: row.count(6)?,
        stream: row.count(7)?,
        evicted: row.count(8)?,
        ring: u32::try_from(row.integer(9)?).map_err(|_| damaged("a number"))?,
        epoch: row.count(10)?,
        revision: row.count(11)?,
        drained: row.count(12)?,
        has_pipe: flag(13)?,
        is_asking: flag(14)?,
        is_ended: flag(4)?,
        created_at: time(row, 15)?,
        last_activity_at: time(row, 16)?,
        expires_at: time(row, 17)?,
    };
    Ok(LiveSessionRow {
        project_id: row.optional_id(1)?,
        session: Session { id: row.id(0)?, app_id: row.id(2)?, head },
        version: row.count(3)?,
    })
}

fn event(row: &Row<'_>) -> Result<LedgerEntry> {
    Ok(LedgerEntry {
        seq: row.count(0)?,
        at: time(row, 1)?,
        kind: row.text(2)?,
        text: row.text(3)?,
        event_id: row.optional_text(4)?,
        key: row.optional_text(5)?,
    })
}

fn frame(row: &Row<'_>) -> Result<FrameEntry> {
    Ok(FrameEntry {
        seq: row.count(0)?,
        channel: row.text(1)?,
        is_latest: row.integer(2)? != 0,
        text: row.text(3)?,
    })
}

fn ask(row: &Row<'_>, at: usize) -> Result<Ask> {
    Ok(Ask {
        asked_by: row.optional_actor(at)?,
        intent: row.text(at + 2)?,
        since: time(row, at + 3)?,
    })
}

fn blueprint(row: &Row<'_>, project: &ProjectId) -> Result<BlueprintRow> {
    Ok(BlueprintRow {
        project_id: project.clone(),
        key: BlueprintKey { contract_hash: row.text(0)?, variant_key: row.text(1)? },
        code_hash: row.optional_text(2)?,
        intent: row.text(3)?,
        at: time(row, 4)?,
        text: row.text(5)?,
    })
}

/// The part of a content row, and its epoch.
pub(super) fn place(part: LivePart) -> (i64, i64) {
    match part {
        LivePart::Ui => (0, 0),
        LivePart::Props(epoch) => (1, number(epoch)),
        LivePart::HostContext => (2, 0),
        LivePart::Context => (3, 0),
        LivePart::Returned => (4, 0),
        LivePart::Closed => (5, 0),
    }
}

pub(super) fn millis(time: Time) -> i64 {
    time.unix_millis()
}

fn time(row: &Row<'_>, at: usize) -> Result<Time> {
    Ok(Time::from_unix_millis(row.integer(at)?))
}
