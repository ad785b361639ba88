//! A question to a person in one call.

use std::convert::Infallible;

use accord_api::body::AnswerBody as _;
use accord_api::{Call, Envelope as _, Json};
use accord_live_core::operations::ask_person::{AskPerson, AskPersonAnswer, AskPersonEnvelope};
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use hyper::StatusCode;

use super::app_of;
use crate::tool_routes::{acting, asked_by, page_url};
use crate::{Context, Exchange};
use accord_serving::Reply;
use accord_serving::reply::{json, naming_new, unstored};

/// The answer is made when it is sent. A client that is gone by then leaves it in the session.
pub(super) async fn ask(exchange: Exchange, call: Call<AskPerson>) -> Reply {
    let Context { host, caller, correlation } = exchange.context;
    let Call { path, query, body } = call;
    let (project, app) = (path.project.clone(), app_of(&path.project)?);
    let by = asked_by(&host, &caller, acting(&caller, query.actor.as_deref())?).await?;
    let live = host.live();
    // First, so that a question that is refused creates no project.
    let asked = live.check_question(&caller, &app, body.0, by).await?;
    let is_new = host.surroundings().ensure_project(&caller, &project).await?;
    let once = asked.clone().at_once();
    let taken = tokio::select! {
        taken = live.ask_person(&caller, &app, asked) => taken?,
        // A host that shuts down keeps no client waiting.
        () = host.streams().closed() => live.ask_person(&caller, &app, once).await?,
    };
    let page_url = page_url(&host, &taken.answer().session_id);
    let answer = async move {
        let answer = AskPersonAnswer { page_url, ..taken.take() };
        let envelope = Json(AskPersonEnvelope::wrap(answer, correlation.as_str()));
        Ok::<_, Infallible>(Bytes::from(envelope.encode().text))
    };
    let response = json(StatusCode::OK, Body::from_stream(stream::once(answer)));
    Ok(naming_new(unstored(response), is_new, &project))
}
