//! `GET /api/sessions/{session_id}/events`: the ledger of a session, in pages.

use accord_contract::codes::{Code, Protocol};
use accord_contract::wire::{Object, Shape, Value};
use accord_live_core::limits::EVENTS_PAGE;
use accord_live_core::session::events_query;
use accord_memory_core::query::Described;
use axum::response::Response;
use hyper::StatusCode;
use serde_json::json;

use super::fallback::{Bearer, of_session};
use super::upgrade::text;
use crate::http::Reply;
use crate::http::Route;
use crate::http::reply::{Foreign, json as document, unstored};
use accord_serving::table::Content;

pub(super) fn route() -> Route {
    let limit = Described {
        name: "limit",
        shape: Shape::Integer { minimum: Some(1), maximum: Some(EVENTS_PAGE.0 as i64) },
        default: Some(Value::from(EVENTS_PAGE.1)),
    };
    Route::get(
        "live_events",
        "/api/sessions/{live_session_id}/events",
        "Reads the ledger of a live session, for a client that cannot open the channel.",
        events,
    )
    .of(Protocol::Ggui)
    .admits_itself(true)
    .required_query(text("wsToken"), "A token for the session.")
    .required_query(number("sinceSequence"), "The number of the last event that was received.")
    .query(limit, "The most events.")
    .answers(200, "A page of events.", Content::Json(page_schema))
    .refuses(&[
        Code::GguiUnauthenticated,
        Code::GguiBootstrapInvalid,
        Code::GguiBootstrapExpired,
        Code::GguiSessionNotFound,
        Code::GguiInvalidMessage,
        Code::GguiInvalidSinceSequence,
        Code::GguiReplayHorizonPassed,
    ])
}

/// A whole number from zero in the query.
pub(super) fn number(name: &'static str) -> Described {
    let shape = Shape::Integer { minimum: Some(0), maximum: None };
    Described { name, shape, default: None }
}

fn page_schema() -> Value {
    json!({
        "type": "object",
        "description": "events, lastSequence and hasMore, as ggui_runtime_pull answers them.",
    })
}

/// Clauses: GGUI-HTTP-EVENTS, GGUI-REPLAY-HORIZON.
async fn events(Bearer { host, claims, query, .. }: Bearer) -> Reply {
    let params = query.params()?;
    let asked = events_query(params.text("sinceSequence"), params.text("limit"))?;
    match host.live().events(&claims.app_id, &claims.session_id, asked).await {
        Ok(page) => {
            let body = Value::Object(page.document()).to_string();
            Ok(unstored(document(StatusCode::OK, body)))
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
    let body = json!({
        "reason": Code::GguiReplayHorizonPassed.as_str(),
        "currentSequence": current,
    });
    let mut response = document(StatusCode::GONE, body.to_string());
    response.extensions_mut().insert(Foreign);
    response
}
