//! Sessions: periods of work of one actor.

use accord_base::{ActorKey, ProjectId, SessionId};
use accord_contract::{Time, Timestamp};
use accord_memory_core::query::SessionPosition;

use crate::{Order, Result};

/// The row of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionRow {
    /// The project that owns it.
    pub project_id: ProjectId,
    /// Its id, unique in the project.
    pub session_id: SessionId,
    /// Its number, which the store assigns and which grows with every session.
    pub seq: u64,
    /// Its actor.
    pub actor: ActorKey,
    /// Its callsign.
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
    /// Only those with this callsign.
    pub callsign: Option<&'a str>,
    /// Only those that have not ended.
    pub active: bool,
    /// Only those that began at this time or later, or have a package that was created then.
    pub active_since: Option<Time>,
    /// Only those after this position in the list.
    pub after: Option<SessionPosition>,
    /// The direction of the list.
    pub order: Order,
    /// The maximum number.
    pub limit: usize,
}

/// Reads sessions.
pub trait Sessions {
    /// The session of an id in a project.
    fn session(&self, project: &ProjectId, session: &SessionId) -> Result<Option<SessionRow>>;

    /// The sessions of an id in all projects, in the order of the projects' ids.
    fn sessions_named(&self, session: &SessionId) -> Result<Vec<SessionRow>>;

    /// The ids of sessions that begin with a text, in their order and that of the projects' ids;
    /// with `within`, only those of a project.
    fn session_ids(
        &self,
        prefix: &str,
        within: Option<&ProjectId>,
        limit: usize,
    ) -> Result<Vec<(ProjectId, SessionId)>>;

    /// A page of sessions, by start, then by number.
    fn sessions(&self, project: &ProjectId, query: &SessionQuery<'_>) -> Result<Vec<SessionRow>>;
}

/// Writes sessions.
pub trait SessionWrites {
    /// Adds a session. Returns its number; the one in `row` is ignored. It is a conflict when the
    /// project has a session of that id, or does not exist.
    fn insert_session(&mut self, row: &SessionRow) -> Result<u64>;

    /// Sets the end and the document of a session, which must exist.
    fn end_session(
        &mut self,
        project: &ProjectId,
        session: &SessionId,
        ended_at: &Timestamp,
        text: &str,
    ) -> Result<()>;
}

impl SessionRow {
    /// Its position in the order of the project's sessions.
    pub fn position(&self) -> SessionPosition {
        SessionPosition { started_at: self.started_at.time(), seq: self.seq }
    }
}
