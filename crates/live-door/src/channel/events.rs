//! `GET /api/sessions/{session_id}/events`: the ledger of a session, in pages.

use accord_api::parameter::Definition as _;
use accord_contract::{Code, Object, Value};
use accord_live_core::operations::channel::{LIMIT, SINCE_SEQUENCE};
use accord_live_core::session::events_query;
use axum::response::Response;
use hyper::StatusCode;
use serde_json::json;

use super::fallback::{Bearer, of_session};
use accord_serving::Reply;
use accord_serving::reply::{Foreign, json as document, unstored};

/// Clauses: GGUI-HTTP-EVENTS, GGUI-REPLAY-HORIZON.
pub(super) async fn events(Bearer { host, claims, query, .. }: Bearer) -> Reply {
    let params = query.params()?;
    let asked = events_query(params.text(SINCE_SEQUENCE.name()), params.text(LIMIT.name()))?;
    match host.live().events(&claims.app_id, &claims.session_id, asked).await {
        Ok(page) => {
            Ok(unstored(document(StatusCode::OK, Value::Object(page.document()).to_string())))
        }
        Err(failure) if failure.code == Code::GguiReplayHorizonPassed => {
            Ok(horizon_passed(failure.details.map(|details| *details)))
        }
        Err(failure) => Err(of_session(failure).into()),
    }
}

/// The refusal of a position, in the form that ggui has for it.
fn horizon_passed(details: Option<Object>) -> Response {
    let current = details.and_then(|details| details.get("currentSequence").cloned());
    let reason = Code::GguiReplayHorizonPassed.as_str();
    let body = json!({"reason": reason, "currentSequence": current});
    let mut response = document(StatusCode::GONE, body.to_string());
    response.extensions_mut().insert(Foreign);
    response
}
