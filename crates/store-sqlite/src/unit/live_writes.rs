//! Writes live sessions.

use accord_base::ProjectId;
use accord_contract::Time;
use accord_live_core::session::{Ask, Session};
use accord_live_core::{HandshakeId, SessionId};
use accord_store::{
    BlueprintRow, FrameEntry, HandshakeRow, LedgerEntry, LiveAdvance, LivePart, LiveSessionWrites,
    Result, StoreError,
};
use rusqlite::params;

use super::column::{Row, actor_columns};
use super::live::{millis, place};
use super::{Unit, number};
use crate::error::damaged;

/// Deletes everything of a session but its row.
const CLEAR: &[&str] = &[
    "DELETE FROM live_content WHERE session = ?1",
    "DELETE FROM live_event WHERE session = ?1",
    "DELETE FROM live_frame WHERE session = ?1",
    "DELETE FROM live_ask WHERE session = ?1",
];

/// Deletes what belongs to a project and to no session.
const OF_PROJECT: &[&str] = &[
    "DELETE FROM live_handshake WHERE project = ?1",
    "DELETE FROM live_blueprint WHERE project = ?1",
    "DELETE FROM live_code WHERE project = ?1",
];

impl LiveSessionWrites for Unit<'_> {
    fn put_live_session(&mut self, project: &ProjectId, session: &Session) -> Result<u64> {
        let pk = self.must_find(project)?;
        let head = &session.head;
        let sql = "INSERT INTO live_session (session_id, project, app_id, version, is_ended,
                ledger, horizon, stream, evicted, ring, epoch, revision, drained, has_pipe,
                is_asking, created_at, last_activity_at, expires_at)
            VALUES (?1, ?2, ?3, 1, ?17, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
            ON CONFLICT (session_id) DO UPDATE SET
                project = ?2, app_id = ?3, version = version + 1, is_ended = ?17,
                ledger = ?4, horizon = ?5, stream = ?6, evicted = ?7, ring = ?8, epoch = ?9,
                revision = ?10, drained = ?11, has_pipe = ?12, is_asking = ?13, created_at = ?14,
                last_activity_at = ?15, expires_at = ?16
            RETURNING version, pk";
        let values = params![
            session.id.as_str(),
            pk,
            session.app_id.as_str(),
            number(head.ledger),
            number(head.horizon),
            number(head.stream),
            number(head.evicted),
            head.ring,
            number(head.epoch),
            number(head.revision),
            number(head.drained),
            head.has_pipe,
            head.is_asking,
            millis(head.created_at),
            millis(head.last_activity_at),
            millis(head.expires_at),
            head.is_ended,
        ];
        let written = self.one(sql, values, |row| Ok((row.count(0)?, row.integer(1)?)))?;
        let (version, row) = written.ok_or_else(|| damaged("a version"))?;
        self.last_live.replace(Some((session.id.clone(), (row, true))));
        let (stream, began) = (head.stream, (head.created_at, head.horizon));
        let (session_id, is_ended) = (session.id.clone(), head.is_ended);
        self.touch_live(&session.id);
        self.advance_live(LiveAdvance { session_id, version, stream, began, is_ended });
        Ok(version)
    }

    fn clear_live_session(&mut self, session: &SessionId) -> Result<()> {
        let Some(pk) = self.find_live(session)? else { return Ok(()) };
        self.touch_live(session);
        self.clear_live(pk)
    }

    fn put_live_content(&mut self, session: &SessionId, part: LivePart, text: &str) -> Result<()> {
        let pk = self.must_find_live(session)?;
        if part == LivePart::Ui {
            self.touch_live(session);
        }
        let (part, epoch) = place(part);
        let sql = "INSERT INTO live_content (session, part, epoch, text) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET text = excluded.text";
        self.write(sql, (pk, part, epoch, text))
    }

    fn append_live_event(&mut self, session: &SessionId, entry: &LedgerEntry) -> Result<()> {
        let pk = self.must_find_live(session)?;
        // The number must follow the last one, if there is one.
        let sql = "INSERT INTO live_event (session, seq, at, kind, text, event_id, key)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
            WHERE coalesce((SELECT max(seq) FROM live_event WHERE session = ?1), ?2 - 1) = ?2 - 1";
        let LedgerEntry { seq, at, kind, text, event_id, key } = entry;
        let values = params![pk, number(*seq), millis(*at), kind, text, event_id, key];
        match self.run(sql, values)? {
            1 => Ok(()),
            _ => Err(StoreError::conflict("ledger event", "does not follow the last one")),
        }
    }

    fn put_live_frame(&mut self, session: &SessionId, entry: &FrameEntry) -> Result<()> {
        let pk = self.must_find_live(session)?;
        if entry.is_latest {
            let sql = "DELETE FROM live_frame WHERE session = ?1 AND channel = ?2 AND is_latest";
            self.run(sql, (pk, &entry.channel))?;
        }
        let sql = "INSERT INTO live_frame (session, seq, channel, is_latest, text)
            VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![pk, number(entry.seq), entry.channel, entry.is_latest, entry.text];
        self.write(sql, values)
    }

    fn remove_live_frame(&mut self, session: &SessionId, seq: u64) -> Result<()> {
        let Some(pk) = self.find_live(session)? else { return Ok(()) };
        self.write("DELETE FROM live_frame WHERE session = ?1 AND seq = ?2", (pk, number(seq)))
    }

    fn put_live_ask(&mut self, session: &SessionId, ask: Option<&Ask>) -> Result<()> {
        let pk = self.must_find_live(session)?;
        self.touch_live(session);
        let Some(ask) = ask else {
            return self.write("DELETE FROM live_ask WHERE session = ?1", (pk,));
        };
        let sql = "INSERT INTO live_ask (session, asked_by_type, asked_by_id, intent, since)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE
            SET asked_by_type = ?2, asked_by_id = ?3, intent = ?4, since = ?5";
        let (kind, id) = actor_columns(ask.asked_by.as_ref());
        self.write(sql, params![pk, kind, id, ask.intent, millis(ask.since)])
    }

    fn insert_live_handshake(&mut self, row: &HandshakeRow) -> Result<()> {
        let pk = self.must_find(&row.project_id)?;
        let sql = "INSERT INTO live_handshake (handshake_id, project, expires_at, text)
            VALUES (?1, ?2, ?3, ?4)";
        let values = params![row.handshake_id.as_str(), pk, millis(row.expires_at), row.text];
        self.write(sql, values)
    }

    fn remove_live_handshake(&mut self, handshake: &HandshakeId) -> Result<bool> {
        let sql = "DELETE FROM live_handshake WHERE handshake_id = ?1";
        Ok(self.run(sql, (handshake.as_str(),))? > 0)
    }

    fn trim_live_handshakes(&mut self, at: Time) -> Result<u64> {
        let sql = "DELETE FROM live_handshake WHERE expires_at <= ?1";
        Ok(self.run(sql, (millis(at),))? as u64)
    }

    fn put_live_blueprint(&mut self, row: &BlueprintRow) -> Result<()> {
        let pk = self.must_find(&row.project_id)?;
        let sql = "INSERT INTO live_blueprint (project, contract_hash, variant_key, code_hash,
                intent, at, text)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT DO UPDATE SET code_hash = ?4, intent = ?5, at = ?6, text = ?7";
        let BlueprintRow { key, code_hash, intent, text, .. } = row;
        let (hash, variant, at) = (&key.contract_hash, &key.variant_key, millis(row.at));
        let values = params![pk, hash, variant, code_hash, intent, at, text];
        self.write(sql, values)
    }

    fn put_live_code(&mut self, project: &ProjectId, hash: &str, text: &str) -> Result<()> {
        let pk = self.must_find(project)?;
        let sql = "INSERT INTO live_code (hash, project, text) VALUES (?1, ?2, ?3)
            ON CONFLICT DO NOTHING";
        self.write(sql, (hash, pk, text))
    }
}

impl Unit<'_> {
    fn clear_live(&self, session: i64) -> Result<()> {
        CLEAR.iter().try_for_each(|sql| self.write(sql, (session,)))
    }

    fn advance_live(&mut self, advance: LiveAdvance) {
        self.live_advanced_by_job.insert(advance.session_id.clone(), advance);
    }

    /// Deletes what a project has of live sessions. The rows of sessions stay, without a project.
    pub(super) fn remove_live(&mut self, project: i64) -> Result<()> {
        let sql = "SELECT pk FROM live_session WHERE project = ?1";
        for session in self.many(sql, (project,), |row| row.integer(0))? {
            self.clear_live(session)?;
            let sql = "UPDATE live_session SET project = NULL, is_ended = 1, is_asking = 0,
                expires_at = created_at, version = version + 1
                WHERE pk = ?1 RETURNING session_id, version, stream, created_at, horizon";
            // A damaged row has no followers.
            if let Some(Ok(advance)) = self.one(sql, (session,), |row| Ok(swept(row)))? {
                self.advance_live(advance);
            }
        }
        self.last_live.take();
        OF_PROJECT.iter().try_for_each(|sql| self.write(sql, (project,)))
    }
}

/// What listeners are notified of when a session was swept.
fn swept(row: &Row<'_>) -> Result<LiveAdvance> {
    Ok(LiveAdvance {
        session_id: row.id(0)?,
        version: row.count(1)?,
        stream: row.count(2)?,
        began: (Time::from_unix_millis(row.integer(3)?), row.count(4)?),
        is_ended: true,
    })
}
