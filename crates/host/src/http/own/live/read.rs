//! Reading live sessions: lists, one session, what waits for a person, the ledger.

use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::TextForm;
use accord_live::PageQuery;
use accord_live_core::SessionId;
use accord_live_core::limits::{EVENTS_PAGE, PULL_WAIT_SECONDS, SESSIONS_PAGE};
use accord_live_core::session::EventsQuery;
use accord_memory_core::query::{CURSOR, Number, Params, Text};
use hyper::StatusCode;

use super::envelopes::{
    LiveAsksEnvelope, LiveEventsEnvelope, LiveSessionEnvelope, LiveSessionsEnvelope,
};
use super::{SESSIONS, app_of, session};
use crate::http::Route;
use crate::http::live::of_session;
use crate::http::reply::encoded;
use crate::http::routes::{InProject, PathId, Query};
use crate::http::{Context, Reply};
use accord_serving::alx_envelope;
use accord_serving::table::Content;

const PREFIX: Text = Text::new("prefix", TextForm::ANY.chars(1, 256).without_nul());
const LIMIT: Number = Number::new("limit", 1, SESSIONS_PAGE.0 as u32).or(SESSIONS_PAGE.1 as u32);
const SINCE: Text = Text::new("since", TextForm::ANY.pattern("^[0-9]{1,15}$").example("42"));
const EVENTS: Number = Number::new("limit", 1, EVENTS_PAGE.0 as u32).or(EVENTS_PAGE.1 as u32);
const WAIT: Number = Number::new("wait_seconds", 0, PULL_WAIT_SECONDS as u32).or(0);

/// The failure codes of a list.
const OF_LISTS: &[Code] =
    &[Code::AgenticUnauthorized, Code::AgenticProjectNotFound, Code::AgenticInvalidCursor];

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "live_sessions",
            SESSIONS,
            "Lists the live sessions that have not expired, the newest first, with what each of \
             them waits for.",
            sessions,
        )
        .query(PREFIX, "Only those whose ids begin so.")
        .query(LIMIT, "The most sessions.")
        .query(CURSOR, "`next_cursor` of the previous page.")
        .answers(200, "The sessions.", Content::json::<LiveSessionsEnvelope>())
        .refuses(OF_LISTS),
        Route::get(
            "live_asks",
            "/accord/v1/projects/{project_id}/live/asks",
            "Lists what live sessions wait for a person to answer, the oldest first: who asks, for \
             what, and until when.",
            asks,
        )
        .query(LIMIT, "The most entries.")
        .query(CURSOR, "`next_cursor` of the previous page.")
        .answers(200, "What they wait for.", Content::json::<LiveAsksEnvelope>())
        .refuses(OF_LISTS),
        Route::get(
            "live_session",
            session!(),
            "Shows a live session as its subscribers see it: props, contract, and what it waits \
             for.",
            show,
        )
        .answers(200, "The session.", Content::json::<LiveSessionEnvelope>())
        .refuses(&[Code::AgenticUnauthorized, Code::GguiSessionNotFound]),
        Route::get(
            "live_session_events",
            session!("events"),
            "Reads the ledger of a live session after a number, in its order.",
            events,
        )
        .query(SINCE, "The number after which events are read. Default: from the first one.")
        .query(EVENTS, "The most events.")
        .query(WAIT, "How long the request waits for an event if there is none yet.")
        .answers(200, "The events.", Content::json::<LiveEventsEnvelope>())
        .refuses(&[
            Code::AgenticUnauthorized,
            Code::GguiSessionNotFound,
            Code::GguiReplayHorizonPassed,
        ]),
    ]
}

async fn sessions(
    Context { host, caller, correlation }: Context,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    let params = query.params()?;
    let prefix = PREFIX.read(&params)?.map(str::to_owned);
    let page = page(&params)?;
    let result = host.live().overview(&caller, &app_of(&project)?, prefix, &page).await?;
    Ok(encoded(StatusCode::OK, &alx_envelope!(correlation, LiveSessionsEnvelope { result })))
}

async fn asks(
    Context { host, caller, correlation }: Context,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    let page = page(&query.params()?)?;
    let result = host.live().pending_asks(&caller, &app_of(&project)?, &page).await?;
    Ok(encoded(StatusCode::OK, &alx_envelope!(correlation, LiveAsksEnvelope { result })))
}

async fn show(
    Context { host, caller, correlation }: Context,
    InProject(project): InProject,
    PathId(session): PathId<SessionId>,
) -> Reply {
    let found = host.live().view(&caller, &app_of(&project)?, &session).await;
    let result = found.map_err(of_session)?;
    Ok(encoded(StatusCode::OK, &alx_envelope!(correlation, LiveSessionEnvelope { result })))
}

async fn events(
    Context { host, caller, correlation }: Context,
    InProject(project): InProject,
    PathId(session): PathId<SessionId>,
    query: Query,
) -> Reply {
    let params = query.params()?;
    let limit = EVENTS.read_or_default(&params)? as usize;
    let asked = EventsQuery { since: number(SINCE, &params)?.unwrap_or(0), limit };
    let wait = Duration::from_secs(WAIT.read_or_default(&params)?.into());
    let (live, app) = (host.live(), app_of(&project)?);
    let page = tokio::select! {
        page = live.event_page(&caller, &app, &session, asked, wait) => page,
        // A host that shuts down keeps no client waiting.
        () = host.streams().closed() => {
            live.event_page(&caller, &app, &session, asked, Duration::ZERO).await
        }
    };
    let result = page.map_err(of_session)?;
    Ok(encoded(StatusCode::OK, &alx_envelope!(correlation, LiveEventsEnvelope { result })))
}

fn page(params: &Params<'_>) -> Result<PageQuery, Failure> {
    let limit = LIMIT.read_or_default(params)? as usize;
    Ok(PageQuery { cursor: params.text(CURSOR.name()).map(str::to_owned), limit })
}

/// A number of a ledger or a stream.
pub(super) fn number(parameter: Text, params: &Params<'_>) -> Result<Option<u64>, Failure> {
    let number = parameter.read(params)?.map(str::parse).transpose();
    number.map_err(|_| {
        Failure::new(Code::AgenticInvalidSchema, "must be a whole number from zero")
            .at(format!("/{}", parameter.name()))
    })
}
