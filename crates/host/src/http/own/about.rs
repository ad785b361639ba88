//! Routes about the server itself: health, metrics, documentation.

use accord_base::Verb;
use accord_contract::codes::Code;
use accord_contract::message;
use accord_contract::wire::{Object, True, Wire as _};
use accord_memory_core::query::PROJECT_ID;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use hyper::StatusCode;
use hyper::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};

use crate::http::Route;
use crate::http::reply::json;
use crate::http::routes::Query;
use crate::http::streams::closing_down;
use crate::http::{Context, Host, Refusal, Reply, openapi, page};
use accord_serving::table::Content;

/// The media type of metrics.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The media type of the page.
const PAGE: &str = "text/html; charset=utf-8";

message! {
    /// The server answers.
    pub(crate) struct Health("Health", open) {
        /// The process answers.
        required ok: True = "ok", "success-flag";
        /// Whether it accepts requests.
        required ready: bool = "ready", "flag";
    }
}

pub(crate) fn routes() -> Vec<Route> {
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
        .answers(200, "The metrics.", Content::Text(METRICS))
        .refuses(&[Code::AgenticUnauthorized]),
        Route::get(
            "openapi",
            "/openapi.json",
            "Describes every route as an OpenAPI 3.1 document. Needs no key.",
            description,
        )
        .query(
            PROJECT_ID,
            "Describe requests for this project alone: a tool that generates requests from the \
             document can then use nothing but the document.",
        )
        .answers(200, "The document.", Content::json::<Object>()),
        Route::get("docs", "/docs", "Describes every route as an HTML page. Needs no key.", docs)
            .answers(200, "The page.", Content::Text(PAGE)),
    ]
}

async fn health(State(host): State<Host>) -> Reply {
    if host.streams().are_closing() {
        return Err(closing_down().into());
    }
    let health = Health { ok: True, ready: true, extra: Object::new() };
    Ok(json(StatusCode::OK, health.encode().to_string()))
}

async fn metrics(Context { host, caller, .. }: Context) -> Result<Response, Refusal> {
    caller.access().may_anywhere(Verb::Read)?;
    Ok(([(CONTENT_TYPE, METRICS)], host.metrics().text()).into_response())
}

async fn description(query: Query) -> Reply {
    Ok(match query.project()? {
        None => json(StatusCode::OK, openapi::text()),
        Some(project) => json(StatusCode::OK, openapi::text_for(&project)),
    })
}

async fn docs() -> Response {
    let headers = [(CONTENT_TYPE, PAGE), (CONTENT_SECURITY_POLICY, page::policy())];
    (headers, page::text()).into_response()
}
