//! What an agent does: handshake, render, change, emit, consume.

use std::convert::Infallible;

use accord_base::{Need, ProjectId};
use accord_contract::codes::Code;
use accord_contract::wire::{Value, Wire as _};
use accord_live::Waiting;
use accord_live_core::tools::{
    ConsumeAnswer, ConsumeRequest, EmitRequest, HandshakeAnswer, HandshakeRequest, PropsRequest,
    RenderBlueprintRequest, RenderRequest,
};
use accord_memory_core::query::Flag;
use axum::body::Body;
use bytes::Bytes;
use futures_util::{FutureExt as _, stream};
use hyper::StatusCode;

use super::envelopes::{Enveloped as _, RenderedUi};
use super::mount::rendered;
use super::{Asked, CHANGES, described, route, tool};
use crate::http::Route;
use crate::http::body::Document;
use crate::http::reply::{encoded, json, unstored};
use crate::http::routes::{Query, naming_new};
use crate::http::{Context, Reply};
use accord_serving::table::Content;

/// Whether a call goes on with the wait of the one before.
const GOES_ON: Flag = Flag::new("goes_on");

/// The failure codes of contracts.
const OF_CONTRACTS: &[Code] = &[
    Code::GguiToolContractSchemaInvalid,
    Code::GguiToolContractValidationFailed,
    Code::GguiToolCrossReferenceUnresolved,
    Code::GguiToolNameInvariantViolation,
    Code::GguiToolSchemaCompatIncompat,
];

/// The failure codes of a render.
const OF_RENDERS: &[Code] = &[
    Code::GguiToolHandshakeNotFound,
    Code::GguiToolContractViolation,
    Code::GguiRateLimitExceeded,
    Code::GguiSchemaMismatchError,
    Code::GguiToolDuplicateGadgetHook,
    Code::GguiToolGadgetNotRegistered,
    Code::GguiToolGadgetPackageMismatch,
    Code::GguiToolGadgetPublicEnvMissing,
];

pub(super) fn routes() -> Vec<Route> {
    vec![
        described::<HandshakeAnswer>(Route::post(
            "ggui_handshake",
            tool!("ggui_handshake"),
            "Checks the contract of a UI and keeps it for one render, for ten minutes. A project \
             that does not exist is created, unless the server forbids it.",
            handshake,
        ))
        .needs(Need::Write)
        .takes(Content::json::<HandshakeRequest>())
        .refuses(OF_CONTRACTS)
        .refuses(CHANGES)
        .refuses(&[Code::AgenticProjectNotFound]),
        route::<RenderRequest, RenderedUi>(
            "ggui_render",
            tool!("ggui_render"),
            "Begins a session with the UI of a handshake and its props. A render that is refused \
             leaves the handshake usable.",
            |asked, request| {
                async move {
                    let app = asked.app_of_handshake(&request.handshake_id).await?;
                    let (live, by) = (asked.host.live(), asked.asked_by().await?);
                    let answer = live.render(&asked.caller, &app, request, by).await?;
                    rendered(&asked.host, &asked.caller, answer).await
                }
                .boxed()
            },
        )
        .needs(Need::Write)
        .refuses(OF_RENDERS)
        .refuses(CHANGES)
        .refuses(&[Code::GguiToolOverrideContractInvalid]),
        route::<RenderBlueprintRequest, RenderedUi>(
            "ggui_render_blueprint",
            tool!("ggui_render_blueprint"),
            "Begins a session with a UI that was rendered before, by its id.",
            |asked, request| {
                async move {
                    let (app, by) = (asked.app().await?, asked.asked_by().await?);
                    let live = asked.host.live();
                    let answer = live.render_blueprint(&asked.caller, &app, request, by).await?;
                    rendered(&asked.host, &asked.caller, answer).await
                }
                .boxed()
            },
        )
        .needs(Need::Write)
        .refuses(OF_RENDERS)
        .refuses(CHANGES)
        .refuses(&[Code::GguiToolBlueprintNotFound]),
        route::<PropsRequest, _>(
            "ggui_update",
            tool!("ggui_update"),
            "Changes the props of a session. The page gets a new epoch.",
            |asked, request| {
                async move {
                    let app = asked.app_of(&request.session_id).await?;
                    asked.host.live().update(&asked.caller, &app, members(&request)).await
                }
                .boxed()
            },
        )
        .needs(Need::Write)
        .refuses(CHANGES)
        .refuses(&[Code::AgenticSessionNotFound, Code::GguiToolContractViolation]),
        route::<PropsRequest, _>(
            "ggui_amend",
            tool!("ggui_amend"),
            "Changes the props of a session in place: the page keeps its epoch and its state.",
            |asked, request| {
                async move {
                    let app = asked.app_of(&request.session_id).await?;
                    asked.host.live().amend(&asked.caller, &app, members(&request)).await
                }
                .boxed()
            },
        )
        .needs(Need::Write)
        .refuses(CHANGES)
        .refuses(&[Code::AgenticSessionNotFound, Code::GguiToolContractViolation]),
        described::<ConsumeAnswer>(Route::post(
            "ggui_consume",
            tool!("ggui_consume"),
            "Takes the events out of the pipe of a session; where there are none, waits for one as \
             long as the request says. A request that is cancelled takes nothing: its events stay \
             for the next one.",
            consume,
        ))
        .needs(Need::Write)
        .query(
            GOES_ON,
            "Whether the call goes on with the wait of an earlier one, so that the page \
             is not told again that an agent waits.",
        )
        .takes(Content::json::<ConsumeRequest>())
        .refuses(CHANGES)
        .refuses(&[Code::AgenticSessionNotFound, Code::GguiPipeNotFound]),
        route::<EmitRequest, _>(
            "ggui_emit",
            tool!("ggui_emit"),
            "Sends a payload on a channel of a session to its subscribers.",
            |asked, request| {
                async move {
                    let app = asked.app_of(&request.session_id).await?;
                    asked.host.live().emit(&asked.caller, &app, request).await
                }
                .boxed()
            },
        )
        .needs(Need::Write)
        .refuses(CHANGES)
        .refuses(&[Code::AgenticSessionNotFound, Code::GguiToolContractViolation]),
    ]
}

async fn handshake(context: Context, query: Query, body: Document) -> Reply {
    let asked = Asked::read(&context, &query)?;
    let request = body.read::<HandshakeRequest>()?;
    let (host, caller) = (&asked.host, &asked.caller);
    let app = asked.app().await?;
    let project = ProjectId::new(app.as_str())
        .map_err(|error| accord_live_core::refuse::app_mismatch(error.to_string()))?;
    // First, so that a handshake that is refused creates no project.
    let prepared = host.live().check_handshake(caller, &app, request).await?;
    let is_new = host.memory().ensure_project(caller, &project).await?;
    let answer = host.live().begin_handshake(caller, &app, prepared).await?;
    let response = encoded(StatusCode::OK, &answer.envelope(&context.correlation));
    Ok(naming_new(response, is_new, &project))
}

/// The answer is made when it is sent. A client that is gone by then leaves the events in the pipe.
async fn consume(context: Context, query: Query, body: Document) -> Reply {
    let asked = Asked::read(&context, &query)?;
    let goes_on = GOES_ON.read(&query.params()?)?;
    let request = body.read::<ConsumeRequest>()?;
    let (host, caller) = (&asked.host, &asked.caller);
    let app = asked.app_of(&request.session_id).await?;
    let once = request.at_once();
    let waiting = Waiting { asked_by: asked.actor.clone(), goes_on };
    let consumed = tokio::select! {
        consumed = host.live().consume(caller, &app, request, waiting) => consumed?,
        // A host that shuts down keeps no client waiting.
        () = host.streams().closed() => {
            let waiting = Waiting { asked_by: None, goes_on: true };
            host.live().consume(caller, &app, once, waiting).await?
        }
    };
    let correlation = context.correlation;
    let answer = async move {
        let envelope = consumed.take().envelope(&correlation);
        Ok::<_, Infallible>(Bytes::from(envelope.encode().to_string()))
    };
    Ok(unstored(json(StatusCode::OK, Body::from_stream(stream::once(answer)))))
}

/// The members of a request that the service reads together.
fn members(request: &PropsRequest) -> accord_contract::wire::Object {
    match request.encode() {
        Value::Object(members) => members,
        _ => accord_contract::wire::Object::new(),
    }
}
