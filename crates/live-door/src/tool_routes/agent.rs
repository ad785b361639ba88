//! What an agent does: handshake, render, change, emit, consume.

use std::convert::Infallible;

use accord_api::{Envelope as _, Json, body::AnswerBody as _};
use accord_base::ProjectId;
use accord_contract::{Object, Value, Wire as _};
use accord_live::Waiting;
use accord_live_core::operations::tools::{self, GguiConsumeEnvelope, GguiHandshakeEnvelope};
use accord_live_core::tools::{ConsumeRequest, HandshakeRequest, PropsRequest};
use accord_live_core::{refuse, violation::Source};
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use hyper::StatusCode;

use super::{Asked, mount::rendered, responding, tool};
use crate::Route;
use accord_serving::reply::{json, naming_new, unstored};
use accord_serving::{Reply, operation::respond};

pub(super) fn routes() -> Vec<Route> {
    vec![
        responding::<tools::Handshake, _, _>(handshake),
        tool(tools::Render, |asked, request| async move {
            let app = asked.app_of_handshake(&request.handshake_id).await?;
            let (live, by) = (asked.host.live(), asked.asked_by().await?);
            let answer = live.render(&asked.caller, &app, request, by).await?;
            rendered(&asked.host, &asked.caller, answer).await
        }),
        tool(tools::RenderBlueprint, |asked, request| async move {
            let (app, by) = (asked.app().await?, asked.asked_by().await?);
            let live = asked.host.live();
            let answer = live.render_blueprint(&asked.caller, &app, request, by).await?;
            rendered(&asked.host, &asked.caller, answer).await
        }),
        tool(tools::Update, |asked, request| async move {
            let app = asked.app_of(&request.session_id).await?;
            let live = asked.host.live();
            live.set_props(&asked.caller, &app, members(&request), Source::Update).await
        }),
        tool(tools::Amend, |asked, request| async move {
            let app = asked.app_of(&request.session_id).await?;
            let live = asked.host.live();
            live.set_props(&asked.caller, &app, members(&request), Source::Amend).await
        }),
        responding::<tools::Consume, _, _>(consume),
        tool(tools::Emit, |asked, request| async move {
            let app = asked.app_of(&request.session_id).await?;
            asked.host.live().emit(&asked.caller, &app, request).await
        }),
    ]
}

async fn handshake(asked: Asked, request: HandshakeRequest) -> Reply {
    let (host, caller) = (&asked.host, &asked.caller);
    let app = asked.app().await?;
    let project =
        ProjectId::new(app.as_str()).map_err(|error| refuse::app_mismatch(error.to_string()))?;
    // First, so that a handshake that is refused creates no project.
    let prepared = host.live().check_handshake(caller, &app, request).await?;
    let is_new = host.surroundings().ensure_project(caller, &project).await?;
    let answer = host.live().begin_handshake(caller, &app, prepared).await?;
    let envelope = GguiHandshakeEnvelope::wrap(answer, asked.correlation.as_str());
    Ok(naming_new(respond(200, Json(envelope).encode()), is_new, &project))
}

/// The answer is made when it is sent. A client that is gone by then leaves the events in the pipe.
async fn consume(asked: Asked, request: ConsumeRequest) -> Reply {
    let (host, caller) = (&asked.host, &asked.caller);
    if asked.confirm {
        let app = asked.app_to_confirm(&request.session_id).await?;
        let ConsumeRequest { session_id, after, .. } = request;
        let answer = host.live().confirm(caller, &app, session_id, after.unwrap_or(0)).await?;
        let envelope = GguiConsumeEnvelope::wrap(answer, asked.correlation.as_str());
        return Ok(unstored(json(StatusCode::OK, envelope.encode().to_string())));
    }
    let app = asked.app_of(&request.session_id).await?;
    let once = request.at_once();
    let waiting = Waiting { asked_by: asked.actor.clone(), goes_on: asked.goes_on };
    let consumed = tokio::select! {
        consumed = host.live().consume(caller, &app, request, waiting) => consumed?,
        // A host that shuts down keeps no client waiting.
        () = host.streams().closed() => {
            let waiting = Waiting { asked_by: None, goes_on: true };
            host.live().consume(caller, &app, once, waiting).await?
        }
    };
    let correlation = asked.correlation;
    let answer = async move {
        let envelope = GguiConsumeEnvelope::wrap(consumed.take(), correlation.as_str());
        Ok::<_, Infallible>(Bytes::from(envelope.encode().to_string()))
    };
    Ok(unstored(json(StatusCode::OK, Body::from_stream(stream::once(answer)))))
}

/// The members of a request that the service reads together.
fn members(request: &PropsRequest) -> Object {
    match request.encode() {
        Value::Object(members) => members,
        _ => Object::new(),
    }
}
