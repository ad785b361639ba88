//! Reading live sessions: lists, one session, what waits for a person, the ledger.

use std::time::Duration;

use accord_api::{Call, Envelope as _, Json};
use accord_contract::Failure;
use accord_live::PageQuery;
use accord_live_core::limits::{EVENTS_PAGE, SESSIONS_PAGE};
use accord_live_core::operations::{questions, watch};
use accord_live_core::session::EventsQuery;

use super::app_of;
use crate::{Context, channel::of_session};

pub(super) async fn sessions(
    Context { host, caller, correlation }: Context,
    Call { path, query, .. }: Call<questions::ListLiveSessions>,
) -> Result<Json<questions::LiveSessionsEnvelope>, Failure> {
    let page = page(query.cursor, query.limit);
    let found = host.live().overview(&caller, &app_of(&path.project)?, query.prefix, &page).await?;
    Ok(Json(questions::LiveSessionsEnvelope::wrap(found, correlation.as_str())))
}

pub(super) async fn asks(
    Context { host, caller, correlation }: Context,
    Call { path, query, .. }: Call<questions::ListLiveAsks>,
) -> Result<Json<questions::LiveAsksEnvelope>, Failure> {
    let page = page(query.cursor, query.limit);
    let found = host.live().pending_asks(&caller, &app_of(&path.project)?, &page).await?;
    Ok(Json(questions::LiveAsksEnvelope::wrap(found, correlation.as_str())))
}

pub(super) async fn answers(
    Context { host, caller, correlation }: Context,
    Call { path, .. }: Call<questions::ListLiveAnswers>,
) -> Result<Json<questions::LiveAnswersEnvelope>, Failure> {
    let found = host.live().unread(&caller, &app_of(&path.project)?).await?;
    Ok(Json(questions::LiveAnswersEnvelope::wrap(found, correlation.as_str())))
}

pub(super) async fn show(
    Context { host, caller, correlation }: Context,
    Call { path, .. }: Call<questions::ShowLiveSession>,
) -> Result<Json<questions::LiveSessionEnvelope>, Failure> {
    let found = host.live().view(&caller, &app_of(&path.project)?, &path.session).await;
    let found = found.map_err(of_session)?;
    Ok(Json(questions::LiveSessionEnvelope::wrap(found, correlation.as_str())))
}

pub(super) async fn events(
    Context { host, caller, correlation }: Context,
    Call { path, query, .. }: Call<watch::LiveSessionEvents>,
) -> Result<Json<watch::LiveEventsEnvelope>, Failure> {
    let limit = query.limit.map_or(EVENTS_PAGE.1, |limit| limit as usize);
    let asked = EventsQuery { since: query.since.unwrap_or(0), limit };
    let wait = Duration::from_secs(query.wait_seconds.unwrap_or(0).into());
    let (live, app, session) = (host.live(), app_of(&path.project)?, &path.session);
    let page = tokio::select! {
        page = live.event_page(&caller, &app, session, asked, wait) => page,
        // A host that shuts down keeps no client waiting.
        () = host.streams().closed() => {
            live.event_page(&caller, &app, session, asked, Duration::ZERO).await
        }
    };
    Ok(Json(watch::LiveEventsEnvelope::wrap(page.map_err(of_session)?, correlation.as_str())))
}

fn page(cursor: Option<String>, limit: Option<u32>) -> PageQuery {
    PageQuery { cursor, limit: limit.map_or(SESSIONS_PAGE.1 as usize, |limit| limit as usize) }
}
