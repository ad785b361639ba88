//! Sessions: stretches of work of one actor.

use accord_base::{ActorKey, ProjectId, SessionId};
use accord_contract::time::Timestamp;
use accord_memory_core::query::SessionPosition;

use crate::{Order, Result};

/// A session as it is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionRow {
    /// The project that owns it.
    pub project_id: ProjectId,
    /// Its id, unique in the project.
    pub session_id: SessionId,
    /// Its number in the store, which grows with every session; the store gives it.
    pub seq: u64,
    /// Who works in it.
    pub actor: ActorKey,
    /// What people call it.
    pub callsign: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The session as a JSON document.
    pub text: String,
}

/// Which sessions of a project, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionQuery<'a> {
    /// Only those that people call so.
    pub callsign: Option<&'a str>,
    /// Only those that go on.
    pub active: bool,
    /// Only those behind that place, in the order of the list.
    pub after: Option<SessionPosition>,
    /// Which way the list runs.
    pub order: Order,
    /// At most so many.
    pub limit: usize,
}

/// Reads sessions.
pub trait Sessions {
    /// The session of an id in a project.
    fn session(&self, project: &ProjectId, session: &SessionId) -> Result<Option<SessionRow>>;

    /// The sessions of an id in all projects, in the order of the projects' ids.
    fn sessions_named(&self, session: &SessionId) -> Result<Vec<SessionRow>>;

    /// A page of sessions, by when they began, then by the numbers that the store gave them.
    fn sessions(&self, project: &ProjectId, query: &SessionQuery<'_>) -> Result<Vec<SessionRow>>;
}

/// Writes sessions.
pub trait SessionWrites {
    /// Adds a session and gives the number that it got; the one in `row` counts for nothing.
    ///
    /// # Errors
    /// With a conflict when there is one of that id in the project, or no such project.
    fn insert_session(&mut self, row: &SessionRow) -> Result<u64>;

    /// Sets when a session ended, and its document with it.
    ///
    /// # Errors
    /// With a conflict when there is no such session.
    fn end_session(
        &mut self,
        project: &ProjectId,
        session: &SessionId,
        ended_at: &Timestamp,
        text: &str,
    ) -> Result<()>;
}

impl SessionRow {
    /// Its place in the order of the project's sessions.
    pub fn position(&self) -> SessionPosition {
        SessionPosition {
            started_at: self.started_at.time(),
            seq: self.seq,
        }
    }
}
