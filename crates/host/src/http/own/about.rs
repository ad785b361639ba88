//! Routes about the server itself: health, metrics, documentation.

use accord_base::{Caller, Verb};
use accord_contract::codes::Code;
use accord_contract::message;
use accord_contract::wire::{True, Wire as _};
use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use hyper::StatusCode;
use hyper::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};

use crate::http::reply::json;
use crate::http::streams::closing_down;
use crate::http::table::{Content, Route};
use crate::http::{Host, Refusal, Reply, openapi, page};

message! {
    /// The server answers.
    pub(crate) struct Health("Health", open) {
        /// The process answers.
        required ok: True = "ok", "success-flag";
        /// Whether it accepts requests.
        required ready: bool = "ready", "flag";
    }
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "health",
            "/healthz",
            "Reports whether the server accepts requests. Needs no key.",
            health,
        )
        .answers(200, "It does.", Content::json::<Health>())
        .refuses(&[Code::HostClosing]),
        Route::get(
            "metrics",
            "/metrics",
            "Returns metrics in the text format of Prometheus.",
            metrics,
        )
        .answers(200, "The metrics.", Content::Text)
        .refuses(&[Code::AgenticUnauthorized]),
        Route::get(
            "openapi",
            "/openapi.json",
            "Describes every route as an OpenAPI 3.1 document. Needs no key.",
            description,
        )
        .answers(200, "The document.", Content::Json(|| true.into())),
        Route::get("docs", "/docs", "Describes every route as an HTML page. Needs no key.", docs)
            .answers(200, "The page.", Content::Text),
    ]
}

async fn health(State(host): State<Host>) -> Reply {
    if host.streams().are_closing() {
        return Err(closing_down().into());
    }
    let health = Health { ok: True, ready: true, extra: accord_contract::wire::Object::new() };
    Ok(json(StatusCode::OK, health.encode().to_string()))
}

async fn metrics(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Refusal> {
    caller.access().may_anywhere(Verb::Read)?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(CONTENT_TYPE, kind)], host.metrics().text()).into_response())
}

async fn description() -> Response {
    json(StatusCode::OK, openapi::text())
}

async fn docs() -> Response {
    let headers =
        [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, page::policy())];
    (headers, page::text()).into_response()
}
