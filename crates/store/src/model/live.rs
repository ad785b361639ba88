//! Live sessions in the model. The maps share their unchanged parts with earlier states, because a
//! busy session is written thousands of times a second.

use std::collections::BTreeMap;
use std::sync::Arc;

use accord_base::ProjectId;
use accord_contract::Time;
use accord_live_core::handshake::BlueprintKey;
use accord_live_core::session::{Ask, DedupKey, Session};
use accord_live_core::{HandshakeId, SessionId};

use super::{Shared, State};
use crate::{
    BlueprintRow, FrameEntry, HandshakeRow, LedgerEntry, LiveAdvance, LivePart, LiveSessionQuery,
    LiveSessionRow, LiveSessionWrites, LiveSessions, Result, StoreError,
};

#[derive(Clone, Debug, Default)]
pub(super) struct Live {
    sessions: Shared<SessionId, Arc<Entry>>,
    handshakes: Shared<HandshakeId, HandshakeRow>,
    blueprints: Shared<(ProjectId, BlueprintKey), BlueprintRow>,
    code: Shared<(ProjectId, String), Arc<str>>,
    /// The session rows that the unit wrote.
    pub(super) advanced: BTreeMap<SessionId, LiveAdvance>,
}

#[derive(Clone, Debug)]
struct Entry {
    row: LiveSessionRow,
    content: BTreeMap<LivePart, Arc<str>>,
    ledger: Shared<u64, Arc<LedgerEntry>>,
    /// The numbers of events, by their keys.
    keys: Shared<String, u64>,
    frames: Shared<u64, Arc<FrameEntry>>,
    ask: Option<Ask>,
}

impl Entry {
    fn new(row: LiveSessionRow) -> Self {
        Self {
            row,
            content: BTreeMap::new(),
            ledger: Shared::default(),
            keys: Shared::default(),
            frames: Shared::default(),
            ask: None,
        }
    }

    /// The entry with nothing but its row.
    fn cleared(&self) -> Self {
        Self::new(self.row.clone())
    }
}

impl State {
    /// The ids of all sessions.
    pub(super) fn live_ids(&self) -> Vec<SessionId> {
        self.live.sessions.iter().map(|(id, _)| id.clone()).collect()
    }

    fn entry(&self, session: &SessionId) -> Option<&Entry> {
        self.live.sessions.get(session).map(|entry| &**entry)
    }

    /// The entry of a session that belongs to a project: that of a project that was removed has
    /// nothing but its row.
    fn entry_mut(&mut self, session: &SessionId) -> Result<&mut Entry> {
        let found = self.live.sessions.get_mut(session).map(Arc::make_mut);
        let found = found.filter(|entry| entry.row.project_id.is_some());
        found.ok_or_else(|| StoreError::conflict("no live session", session.as_str()))
    }

    fn advance(&mut self, row: &LiveSessionRow) {
        let session_id = row.session.id.clone();
        let advance = LiveAdvance {
            session_id: session_id.clone(),
            version: row.version,
            stream: row.session.head.stream,
            began: (row.session.head.created_at, row.session.head.horizon),
            is_ended: row.session.head.is_ended,
        };
        self.live.advanced.insert(session_id, advance);
    }

    fn project_must_exist(&self, project: &ProjectId) -> Result<()> {
        let found = self.at(project).map(drop);
        found.ok_or_else(|| StoreError::conflict("no project", project.as_str()))
    }

    /// How many sessions of a project have not ended.
    pub(super) fn live_sessions_of(&self, project: &ProjectId) -> u64 {
        let rows = self.live.sessions.values().map(|entry| &entry.row);
        let rows = rows.filter(|row| row.project_id.as_ref() == Some(project));
        rows.filter(|row| !row.session.head.is_ended).count() as u64
    }

    /// The rows of live sessions of a project that is removed. Only the rows of its sessions stay.
    pub(super) fn remove_live(&mut self, project: &ProjectId) {
        let of_project = |row: &LiveSessionRow| row.project_id.as_ref() == Some(project);
        let sessions = self.live.sessions.values().filter(|entry| of_project(&entry.row));
        let sessions: Vec<Entry> = sessions.map(|entry| entry.cleared()).collect();
        for mut entry in sessions {
            entry.row.project_id = None;
            entry.row.version += 1;
            let head = &mut entry.row.session.head;
            (head.is_ended, head.is_asking) = (true, false);
            head.expires_at = head.created_at;
            self.advance(&entry.row);
            self.live.sessions.insert(entry.row.session.id.clone(), Arc::new(entry));
        }
        let live = &mut self.live;
        live.handshakes.retain(|_, row| row.project_id != *project);
        live.blueprints.retain(|(owner, _), _| owner != project);
        live.code.retain(|(owner, _), _| owner != project);
    }
}

impl LiveSessions for State {
    fn live_session(&self, session: &SessionId) -> Result<Option<LiveSessionRow>> {
        Ok(self.entry(session).map(|entry| entry.row.clone()))
    }

    fn live_sessions(
        &self,
        project: &ProjectId,
        query: &LiveSessionQuery<'_>,
    ) -> Result<Vec<LiveSessionRow>> {
        let place = |row: &LiveSessionRow| {
            (std::cmp::Reverse(row.session.head.created_at), row.session.id.clone())
        };
        let after = query.after.map(|(at, id)| (std::cmp::Reverse(at), id.clone()));
        let fits = |row: &&LiveSessionRow| {
            row.project_id.as_ref() == Some(project)
                && query.active_at.is_none_or(|at| row.session.is_active(at))
                && after.as_ref().is_none_or(|after| place(row) > *after)
        };
        let rows = self.live.sessions.values().map(|entry| &entry.row);
        let mut rows: Vec<_> = rows.filter(fits).cloned().collect();
        rows.sort_by_key(place);
        rows.truncate(query.limit);
        Ok(rows)
    }

    fn expired_live_sessions(&self, at: Time, limit: usize) -> Result<Vec<LiveSessionRow>> {
        let rows = self.live.sessions.values().map(|entry| &entry.row);
        let expired = rows.filter(|row| !row.session.head.is_ended && !row.session.is_active(at));
        let mut rows: Vec<_> = expired.cloned().collect();
        rows.sort_by_key(|row| (row.session.head.expires_at, row.session.id.clone()));
        rows.truncate(limit);
        Ok(rows)
    }

    fn live_content(&self, session: &SessionId, part: LivePart) -> Result<Option<String>> {
        let entry = self.entry(session);
        Ok(entry.and_then(|entry| entry.content.get(&part)).map(|text| text.as_ref().to_owned()))
    }

    fn live_ledger(&self, of: &SessionId, after: u64, limit: usize) -> Result<Vec<LedgerEntry>> {
        let Some(entry) = self.entry(of) else { return Ok(Vec::new()) };
        Ok(entry.ledger.after(&after).take(limit).map(|row| row.as_ref().clone()).collect())
    }

    fn live_pipe(&self, of: &SessionId, after: u64, limit: usize) -> Result<Vec<LedgerEntry>> {
        let Some(entry) = self.entry(of) else { return Ok(Vec::new()) };
        let rows = entry.ledger.after(&after).filter(|row| row.event_id.is_some());
        Ok(rows.take(limit).map(|row| row.as_ref().clone()).collect())
    }

    fn live_event(&self, session: &SessionId, key: &DedupKey) -> Result<Option<LedgerEntry>> {
        let entry = self.entry(session);
        let found = entry.and_then(|entry| entry.ledger.get(entry.keys.get(key.as_str())?));
        Ok(found.map(|row| row.as_ref().clone()))
    }

    fn live_frames(&self, of: &SessionId, after: u64, limit: usize) -> Result<Vec<FrameEntry>> {
        let Some(entry) = self.entry(of) else { return Ok(Vec::new()) };
        Ok(entry.frames.after(&after).take(limit).map(|row| row.as_ref().clone()).collect())
    }

    fn oldest_live_frame(&self, session: &SessionId) -> Result<Option<u64>> {
        let frames = self.entry(session).into_iter().flat_map(|entry| entry.frames.values());
        Ok(frames.filter(|frame| !frame.is_latest).map(|frame| frame.seq).next())
    }

    fn live_ask(&self, session: &SessionId) -> Result<Option<Ask>> {
        Ok(self.entry(session).and_then(|entry| entry.ask.clone()))
    }

    fn live_asks(
        &self,
        project: &ProjectId,
        at: Time,
        after: Option<(Time, &SessionId)>,
        limit: usize,
    ) -> Result<Vec<(LiveSessionRow, Ask)>> {
        let place = |(row, ask): &(LiveSessionRow, Ask)| (ask.since, row.session.id.clone());
        let entries = self.live.sessions.values();
        let asking = entries.filter(|entry| {
            entry.row.project_id.as_ref() == Some(project) && entry.row.session.is_active(at)
        });
        let asks = asking.filter_map(|entry| Some((entry.row.clone(), entry.ask.clone()?)));
        let after = after.map(|(since, id)| (since, id.clone()));
        let behind = asks.filter(|ask| after.as_ref().is_none_or(|after| place(ask) > *after));
        let mut asks: Vec<_> = behind.collect();
        asks.sort_by_key(place);
        asks.truncate(limit);
        Ok(asks)
    }

    fn live_handshake(&self, handshake: &HandshakeId) -> Result<Option<HandshakeRow>> {
        Ok(self.live.handshakes.get(handshake).cloned())
    }

    fn live_blueprint(&self, of: &ProjectId, key: &BlueprintKey) -> Result<Option<BlueprintRow>> {
        Ok(self.live.blueprints.get(&(of.clone(), key.clone())).cloned())
    }

    fn live_blueprints(&self, project: &ProjectId, limit: usize) -> Result<Vec<BlueprintRow>> {
        let rows = self.live.blueprints.values().filter(|row| row.project_id == *project);
        let mut rows: Vec<_> = rows.cloned().collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.at), row.key.clone()));
        rows.truncate(limit);
        Ok(rows)
    }

    fn live_code(&self, hash: &str) -> Result<Option<String>> {
        let found = self.live.code.iter().find(|((_, known), _)| known == hash);
        Ok(found.map(|(_, text)| text.as_ref().to_owned()))
    }
}

impl LiveSessionWrites for State {
    fn put_live_session(&mut self, project: &ProjectId, session: &Session) -> Result<u64> {
        self.project_must_exist(project)?;
        let stored = self.live.sessions.get(&session.id);
        let version = stored.map_or(0, |entry| entry.row.version) + 1;
        let (project_id, session_row) = (Some(project.clone()), session.clone());
        let row = LiveSessionRow { project_id, session: session_row, version };
        self.advance(&row);
        match self.live.sessions.get_mut(&session.id).map(Arc::make_mut) {
            Some(entry) => entry.row = row,
            None => self.live.sessions.insert(session.id.clone(), Arc::new(Entry::new(row))),
        }
        Ok(version)
    }

    fn clear_live_session(&mut self, session: &SessionId) -> Result<()> {
        if let Some(entry) = self.entry(session).map(Entry::cleared) {
            self.live.sessions.insert(session.clone(), Arc::new(entry));
        }
        Ok(())
    }

    fn put_live_content(&mut self, session: &SessionId, part: LivePart, text: &str) -> Result<()> {
        self.entry_mut(session)?.content.insert(part, text.into());
        Ok(())
    }

    fn append_live_event(&mut self, session: &SessionId, new: &LedgerEntry) -> Result<()> {
        let entry = self.entry_mut(session)?;
        let is_used = new.key.as_ref().is_some_and(|key| entry.keys.get(key.as_str()).is_some());
        if is_used || entry.ledger.last().is_some_and(|(last, _)| last + 1 != new.seq) {
            return Err(StoreError::conflict("ledger event", "exists already"));
        }
        if let Some(key) = &new.key {
            entry.keys.insert(key.clone(), new.seq);
        }
        entry.ledger.insert(new.seq, Arc::new(new.clone()));
        Ok(())
    }

    fn put_live_frame(&mut self, session: &SessionId, new: &FrameEntry) -> Result<()> {
        let entry = self.entry_mut(session)?;
        if new.is_latest {
            entry.frames.retain(|_, frame| !frame.is_latest || frame.channel != new.channel);
        }
        if entry.frames.get(&new.seq).is_some() {
            return Err(StoreError::conflict("frame", "exists already"));
        }
        entry.frames.insert(new.seq, Arc::new(new.clone()));
        Ok(())
    }

    fn remove_live_frame(&mut self, session: &SessionId, seq: u64) -> Result<()> {
        if let Some(entry) = self.live.sessions.get_mut(session) {
            Arc::make_mut(entry).frames.remove(&seq);
        }
        Ok(())
    }

    fn put_live_ask(&mut self, session: &SessionId, ask: Option<&Ask>) -> Result<()> {
        self.entry_mut(session)?.ask = ask.cloned();
        Ok(())
    }

    fn insert_live_handshake(&mut self, row: &HandshakeRow) -> Result<()> {
        self.project_must_exist(&row.project_id)?;
        if self.live.handshakes.get(&row.handshake_id).is_some() {
            return Err(StoreError::conflict("handshake", "exists already"));
        }
        self.live.handshakes.insert(row.handshake_id.clone(), row.clone());
        Ok(())
    }

    fn remove_live_handshake(&mut self, handshake: &HandshakeId) -> Result<bool> {
        Ok(self.live.handshakes.remove(handshake))
    }

    fn trim_live_handshakes(&mut self, at: Time) -> Result<u64> {
        let before = self.live.handshakes.len();
        self.live.handshakes.retain(|_, row| row.expires_at > at);
        Ok((before - self.live.handshakes.len()) as u64)
    }

    fn put_live_blueprint(&mut self, row: &BlueprintRow) -> Result<()> {
        self.project_must_exist(&row.project_id)?;
        self.live.blueprints.insert((row.project_id.clone(), row.key.clone()), row.clone());
        Ok(())
    }

    fn put_live_code(&mut self, project: &ProjectId, hash: &str, text: &str) -> Result<()> {
        self.project_must_exist(project)?;
        self.live.code.insert((project.clone(), hash.to_owned()), text.into());
        Ok(())
    }
}
