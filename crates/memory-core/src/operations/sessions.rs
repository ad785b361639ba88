//! Sessions: start, end, list, read.

use accord_api::parameter::{CURSOR, Flag, Id, Number, Opaque, Segment, Text};
use accord_api::{Json, Maybe, Need, Verbatim, operation, params};
use accord_contract::{Code, message};

use super::{InProject, at_project};
use crate::limits::CALLSIGN;
use crate::query::{LIST_LIMIT, PAGE_TOKENS, PROJECT_ID};
use crate::session::{Session, SessionEnd, SessionRequest};
use crate::{ProjectId, SessionId};

params! {
    /// Which sessions are listed.
    #[derive(Default)]
    pub struct SessionParams {
        /// Only sessions with this callsign.
        optional callsign: Text = Text::new("callsign", CALLSIGN);
        /// Whether to list only sessions that have not ended.
        flag active: Flag = Flag::new("active");
        /// The most items.
        optional limit: Number = LIST_LIMIT;
        /// `next_cursor` of the previous page.
        optional cursor: Opaque = CURSOR;
        /// The most tokens of the page. It ends before the first item that does not fit.
        /// `x-remaining` counts what follows, and `x-too_large` has id, title and size of items
        /// that no page of this budget can hold.
        optional max_tokens: Number = PAGE_TOKENS;
    }

    /// A session.
    pub struct OfSession {
        /// The session's id.
        required session: Segment<SessionId> = Segment::new("session_id");
    }

    /// Which session is meant.
    #[derive(Default)]
    pub struct SessionWithin {
        /// The project; needed if several projects have a session with this id.
        optional project: Id<ProjectId> = PROJECT_ID;
    }
}

message! {
    /// A page of sessions.
    pub struct SessionList("SessionList", open) {
        /// The sessions.
        required sessions: Vec<Session> = "sessions", "sessions";
        /// The cursor of the next page; null on the last page.
        required_or_null next_cursor: String = "next_cursor", "cursor";
        /// The ids of sessions that are left out because they are damaged.
        optional integrity_warnings: Vec<SessionId> = "x-integrity_warnings", "session-ids";
    }
}

operation! {
    /// Starts a session.
    pub struct StartSession("start_session", Post at_project!("/sessions")) of Agentic {
        path InProject;
        body Maybe<Verbatim<SessionRequest>>;
        needs Need::Write;
        answers 201 "The session.", Json<Session>;
        refuses [&[Code::AgenticInvalidSchema, Code::AgenticProjectArchived, Code::NotForWorkers]];
    }

    /// Lists sessions, newest first.
    pub struct ListSessions("sessions", Get at_project!("/sessions")) of Agentic {
        path InProject;
        query SessionParams;
        needs Need::Read;
        answers 200 "The sessions.", Json<SessionList>;
        refuses [&[Code::AgenticInvalidSchema, Code::AgenticInvalidCursor,
            Code::AgenticProjectNotFound]];
    }

    /// Reads one session.
    pub struct ReadSession("session", Get "/v1/sessions/{session_id}") of Agentic {
        path OfSession;
        query SessionWithin;
        needs Need::Read;
        answers 200 "The session.", Json<Session>;
        refuses [&[Code::AgenticSessionNotFound, Code::AgenticAmbiguousSessionId,
            Code::AgenticIntegrityError]];
    }

    /// Ends a session.
    pub struct EndSession("end_session", Patch "/v1/sessions/{session_id}") of Agentic {
        path OfSession;
        query SessionWithin;
        body Maybe<Verbatim<SessionEnd>>;
        needs Need::Write;
        answers 200 "The updated session.", Json<Session>;
        refuses [&[Code::AgenticInvalidSchema, Code::AgenticSessionNotFound,
            Code::AgenticAmbiguousSessionId, Code::AgenticProjectArchived]];
    }
}
