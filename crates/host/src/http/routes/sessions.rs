//! Sessions: start, end, list, read.

use accord_base::{Need, SessionId};
use accord_contract::codes::Code;
use accord_contract::message;
use accord_contract::wire::Wire as _;
use accord_memory_core::query::{
    ACTIVE, CURSOR, LIST_LIMIT, PAGE_TOKENS, PROJECT_ID, SessionQuery, WITH_CALLSIGN,
};
use accord_memory_core::session::{Session, SessionEnd, SessionRequest};
use hyper::{Method, StatusCode};

use super::answer::{List, PAGE_BUDGET};
use super::{InProject, PathId, Query};
use crate::http::Route;
use crate::http::body::Document;
use crate::http::reply::json;
use crate::http::{Context, Reply};
use accord_serving::reply::naming_new;
use accord_serving::table::Content;

/// The sessions of a project.
const SESSIONS: &str = "/v1/projects/{project_id}/sessions";

/// One session.
const SESSION: &str = "/v1/sessions/{session_id}";

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

pub(crate) fn routes() -> Vec<Route> {
    let whose = "The project; needed if several projects have a session with this id.";
    vec![
        Route::post("start_session", SESSIONS, "Starts a session.", start)
            .needs(Need::Write)
            .may_take(Content::json::<SessionRequest>())
            .answers(201, "The session.", Content::json::<Session>())
            .refuses(&[
                Code::AgenticInvalidSchema,
                Code::AgenticProjectArchived,
                Code::XchainNotForWorkers,
            ]),
        Route::get("sessions", SESSIONS, "Lists sessions, newest first.", list)
            .query(WITH_CALLSIGN, "Only sessions with this callsign.")
            .query(ACTIVE, "Whether to list only sessions that have not ended.")
            .query(LIST_LIMIT, "The most items.")
            .query(CURSOR, "`next_cursor` of the previous page.")
            .query(PAGE_TOKENS, PAGE_BUDGET)
            .answers(200, "The sessions.", Content::json::<SessionList>())
            .refuses(&[
                Code::AgenticInvalidSchema,
                Code::AgenticInvalidCursor,
                Code::AgenticProjectNotFound,
            ]),
        Route::get("session", SESSION, "Reads one session.", one)
            .query(PROJECT_ID, whose)
            .answers(200, "The session.", Content::json::<Session>())
            .refuses(&[
                Code::AgenticSessionNotFound,
                Code::AgenticAmbiguousSessionId,
                Code::AgenticIntegrityError,
            ]),
        Route::new("end_session", Method::PATCH, SESSION, "Ends a session.", end)
            .needs(Need::Write)
            .query(PROJECT_ID, whose)
            .may_take(Content::json::<SessionEnd>())
            .answers(200, "The updated session.", Content::json::<Session>())
            .refuses(&[
                Code::AgenticInvalidSchema,
                Code::AgenticSessionNotFound,
                Code::AgenticAmbiguousSessionId,
                Code::AgenticProjectArchived,
            ]),
    ]
}

async fn start(
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    Document(sent): Document,
) -> Reply {
    let started = (host.memory()).start_session(&caller, &project, &sent).await?;
    let response = json(StatusCode::CREATED, started.session.encode().to_string());
    Ok(naming_new(response, started.new_project, &project))
}

async fn list(
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    let asked = SessionQuery::parse(&query.params()?, &project)?;
    let page = host.memory().sessions(&caller, &project, asked).await?;
    Ok(List::of("sessions", &page))
}

async fn one(
    Context { host, caller, .. }: Context,
    PathId(id): PathId<SessionId>,
    query: Query,
) -> Reply {
    let within = query.project()?;
    let session = host.memory().session(&caller, within, id).await?;
    Ok(json(StatusCode::OK, session.encode().to_string()))
}

async fn end(
    Context { host, caller, .. }: Context,
    PathId(id): PathId<SessionId>,
    query: Query,
    Document(sent): Document,
) -> Reply {
    let within = query.project()?;
    let session = (host.memory()).end_session(&caller, within, id, &sent).await?;
    Ok(json(StatusCode::OK, session.encode().to_string()))
}
