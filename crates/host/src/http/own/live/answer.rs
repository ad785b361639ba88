//! Answering what a live session asks.

use accord_base::{Decision, Need};
use accord_contract::codes::{Code, Failure};
use accord_live::answers::LiveAnswerRequest;
use accord_live_core::SessionId;
use hyper::StatusCode;

use super::envelopes::LiveAckEnvelope;
use super::{app_of, session};
use crate::http::Route;
use crate::http::body::Document;
use crate::http::reply::encoded;
use crate::http::routes::{InProject, PathId, Query};
use crate::http::{Context, Reply};
use accord_serving::acting::{ABOUT_ACTOR, ABOUT_DOOR, ACTOR, DOOR, Who};
use accord_serving::alx_envelope;
use accord_serving::table::Content;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "answer_live_session",
            session!("actions"),
            "Records an action of a person in a live session, as the channel does: the contract \
             checks it, and it is answered when it is durable. With client_id and client_seq, an \
             action that is sent again counts once.",
            answer,
        )
        .needs(Need::Decide(Decision::Answer))
        .query(ACTOR, ABOUT_ACTOR)
        .query(DOOR, ABOUT_DOOR)
        .takes(Content::json::<LiveAnswerRequest>())
        .answers(200, "The action is recorded.", Content::json::<LiveAckEnvelope>())
        .refuses(&[
            Code::AgenticUnauthorized,
            Code::AofPersonRequired,
            Code::XchainNotForWorkers,
            Code::AgenticProjectArchived,
            Code::GguiSessionNotFound,
            Code::GguiInvalidMessage,
            Code::GguiContractViolation,
            Code::GguiAppendFailed,
        ]),
    ]
}

async fn answer(
    Context { host, caller, correlation }: Context,
    InProject(project): InProject,
    PathId(session): PathId<SessionId>,
    query: Query,
    document: Document,
) -> Reply {
    // A wrong parameter is named before a wrong body.
    let who = Who::read(&caller, &query.params()?)?;
    let request: LiveAnswerRequest = document.read()?;
    let by = who.acting(&caller, &project, Need::Decide(Decision::Answer), None)?;
    let app = app_of(&project)?;
    let answered = host.live().answer(&caller, &app, &session, request, by).await;
    let result = answered.map_err(with_help)?;
    Ok(encoded(StatusCode::OK, &alx_envelope!(correlation, LiveAckEnvelope { result })))
}

/// A refusal says how to find the names and schemas of the actions.
fn with_help(failure: Failure) -> Failure {
    match failure.code {
        Code::GguiContractViolation => failure
            .suggesting("read the session: session.actionSpec has the actions with their schemas"),
        _ => failure,
    }
}
