//! Live sessions: the channel between an agent and a person.
//!
//! Invariants:
//! - the id of a session is unique in the store. Its row is never deleted, so that its counters
//!   never restart. After the removal of its project it has expired and ended, belongs to no
//!   project and has nothing but its row;
//! - the numbers of a ledger have no gaps, and a key is used once;
//! - every write of a session row gets the next version, and listeners are notified of it
//!   ([`LiveAdvance`]);
//! - times have milliseconds.

use accord_base::ProjectId;
use accord_contract::Time;
use accord_live_core::handshake::BlueprintKey;
use accord_live_core::session::{Ask, DedupKey, Session};
use accord_live_core::{HandshakeId, SessionId};

use crate::Result;

/// The row of a live session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LiveSessionRow {
    /// The project that owns it; `None` after the project was removed.
    pub project_id: Option<ProjectId>,
    /// Its app, counters and times.
    pub session: Session,
    /// The number of writes of this row.
    pub version: u64,
}

/// A part of the content of a session.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum LivePart {
    /// The members of the UI.
    Ui,
    /// The props of an epoch.
    Props(u64),
    /// What a client knows about its host.
    HostContext,
    /// The values of the context slots.
    Context,
    /// The numbers of events that were taken out of the pipe and given back.
    Returned,
    /// The epoch whose ask was closed last, and the number of the event that closed it.
    Closed,
}

/// The row of an event of a ledger.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LedgerEntry {
    /// Its number.
    pub seq: u64,
    /// When it was appended.
    pub at: Time,
    /// Its type. An engine stores any text.
    pub kind: String,
    /// Its data, a JSON text.
    pub text: String,
    /// Its id in the pipe.
    pub event_id: Option<String>,
    /// What recognises it if it is sent again.
    pub key: Option<String>,
}

/// The row of a kept frame.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FrameEntry {
    /// Its number.
    pub seq: u64,
    /// Its channel.
    pub channel: String,
    /// Whether it is the only kept frame of its channel.
    pub is_latest: bool,
    /// The frame, a JSON text.
    pub text: String,
}

/// The row of a handshake.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HandshakeRow {
    /// The project that owns it.
    pub project_id: ProjectId,
    /// Its id, unique in the store.
    pub handshake_id: HandshakeId,
    /// When it expires.
    pub expires_at: Time,
    /// The handshake, a JSON text.
    pub text: String,
}

/// The row of a UI that was rendered, to be found by its contract and variance.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BlueprintRow {
    /// The project that owns it.
    pub project_id: ProjectId,
    /// Its identity, unique in the project.
    pub key: BlueprintKey,
    /// The hash of its code.
    pub code_hash: Option<String>,
    /// What it was made for.
    pub intent: String,
    /// When it was last rendered.
    pub at: Time,
    /// Its contract, a JSON text.
    pub text: String,
}

/// Which live sessions of a project, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct LiveSessionQuery<'a> {
    /// Only those that expire after this time.
    pub active_at: Option<Time>,
    /// Only those after this one in the list.
    pub after: Option<(Time, &'a SessionId)>,
    /// The maximum number.
    pub limit: usize,
}

/// A committed write of a session row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LiveAdvance {
    /// The session.
    pub session_id: SessionId,
    /// The version of its row.
    pub version: u64,
    /// The number of the last frame of its stream.
    pub stream: u64,
    /// When it began, and the last event before: an id that is used again is another session.
    pub began: (Time, u64),
    /// Whether the end of the session was recorded.
    pub is_ended: bool,
}

/// Reads live sessions.
pub trait LiveSessions {
    /// The session of an id.
    fn live_session(&self, session: &SessionId) -> Result<Option<LiveSessionRow>>;

    /// A page of the sessions of a project: the newest first, then by id.
    fn live_sessions(
        &self,
        project: &ProjectId,
        query: &LiveSessionQuery<'_>,
    ) -> Result<Vec<LiveSessionRow>>;

    /// The sessions of all projects that expired at a time or before and whose end is not recorded,
    /// in the order of their expiry, then by id.
    fn expired_live_sessions(&self, at: Time, limit: usize) -> Result<Vec<LiveSessionRow>>;

    /// A part of the content of a session.
    fn live_content(&self, session: &SessionId, part: LivePart) -> Result<Option<String>>;

    /// At most `limit` events of a ledger after a number, in the order of their numbers.
    fn live_ledger(&self, of: &SessionId, after: u64, limit: usize) -> Result<Vec<LedgerEntry>>;

    /// At most `limit` events of a pipe after a number: those that have an id.
    fn live_pipe(&self, of: &SessionId, after: u64, limit: usize) -> Result<Vec<LedgerEntry>>;

    /// The event of a key.
    fn live_event(&self, session: &SessionId, key: &DedupKey) -> Result<Option<LedgerEntry>>;

    /// At most `limit` kept frames after a number, in the order of their numbers.
    fn live_frames(&self, of: &SessionId, after: u64, limit: usize) -> Result<Vec<FrameEntry>>;

    /// The number of the oldest kept frame that is not the only one of its channel by rule.
    fn oldest_live_frame(&self, session: &SessionId) -> Result<Option<u64>>;

    /// What a session waits for.
    fn live_ask(&self, session: &SessionId) -> Result<Option<Ask>>;

    /// The sessions of a project that wait for an answer at a time, with what they wait for; the
    /// oldest ask first, then by id. Those after a position, at most `limit`.
    fn live_asks(
        &self,
        project: &ProjectId,
        at: Time,
        after: Option<(Time, &SessionId)>,
        limit: usize,
    ) -> Result<Vec<(LiveSessionRow, Ask)>>;

    /// The handshake of an id.
    fn live_handshake(&self, handshake: &HandshakeId) -> Result<Option<HandshakeRow>>;

    /// The UI of an identity.
    fn live_blueprint(&self, of: &ProjectId, key: &BlueprintKey) -> Result<Option<BlueprintRow>>;

    /// At most `limit` UIs of a project, the newest first, then by identity.
    fn live_blueprints(&self, project: &ProjectId, limit: usize) -> Result<Vec<BlueprintRow>>;

    /// The code of a hash, in any project.
    fn live_code(&self, hash: &str) -> Result<Option<String>>;
}

/// Writes live sessions. What must exist and does not, or must be new and is not, is a conflict.
/// What is written into a session needs one that belongs to a project.
pub trait LiveSessionWrites {
    /// Adds or replaces the row of a session. Returns its version.
    fn put_live_session(&mut self, project: &ProjectId, session: &Session) -> Result<u64>;

    /// Deletes the content, the ledger, the kept frames and the ask of a session.
    fn clear_live_session(&mut self, session: &SessionId) -> Result<()>;

    /// Sets a part of the content of a session.
    fn put_live_content(&mut self, session: &SessionId, part: LivePart, text: &str) -> Result<()>;

    /// Appends an event to the ledger of a session, with the next number and an unused key.
    fn append_live_event(&mut self, session: &SessionId, entry: &LedgerEntry) -> Result<()>;

    /// Keeps a frame with a new number. The only one of its channel replaces the one before it.
    fn put_live_frame(&mut self, session: &SessionId, entry: &FrameEntry) -> Result<()>;

    /// Deletes the frame of a number, if there is one.
    fn remove_live_frame(&mut self, session: &SessionId, seq: u64) -> Result<()>;

    /// Sets what a session waits for.
    fn put_live_ask(&mut self, session: &SessionId, ask: Option<&Ask>) -> Result<()>;

    /// Adds a handshake. It is a conflict when a handshake has that id.
    fn insert_live_handshake(&mut self, row: &HandshakeRow) -> Result<()>;

    /// Deletes a handshake. Returns whether there was one.
    fn remove_live_handshake(&mut self, handshake: &HandshakeId) -> Result<bool>;

    /// Deletes the handshakes that expired at a time or before. Returns their number.
    fn trim_live_handshakes(&mut self, at: Time) -> Result<u64>;

    /// Adds or replaces the UI of an identity.
    fn put_live_blueprint(&mut self, row: &BlueprintRow) -> Result<()>;

    /// Adds code under its hash, unless the project has it.
    fn put_live_code(&mut self, project: &ProjectId, hash: &str, text: &str) -> Result<()>;
}
