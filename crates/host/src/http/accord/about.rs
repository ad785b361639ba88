//! Routes about the server itself: health, metrics, documentation.

use accord_api::body::MediaType as _;
use accord_api::operations::about::{Health, Html, ReadDocs, ReadHealth, ReadMetrics, ReadOpenApi};
use accord_api::{Call, Json};
use accord_base::Verb;
use accord_contract::Object;
use accord_contract::wire::True;
use accord_serving::operation::{serve, serve_response};
use axum::response::{IntoResponse as _, Response};
use hyper::StatusCode;
use hyper::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};

use crate::http::reply::json;
use crate::http::streams::closing_down;
use crate::http::{Context, Route, openapi, page};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        serve(async |Context { host, .. }, _: Call<ReadHealth>| {
            if host.streams().are_closing() {
                return Err(closing_down());
            }
            Ok(Json(Health { ok: True, ready: true, extra: Object::new() }))
        }),
        serve(async |Context { host, caller, .. }, _: Call<ReadMetrics>| {
            caller.access().may_anywhere(Verb::Read)?;
            Ok(host.metrics().text().into())
        }),
        serve_response(async |_, call: Call<ReadOpenApi>| {
            Ok(match call.query.project {
                None => json(StatusCode::OK, openapi::text()),
                Some(project) => json(StatusCode::OK, openapi::text_for(&project)),
            })
        }),
        Route::serving::<ReadDocs, _>(docs),
    ]
}

async fn docs() -> Response {
    let headers = [(CONTENT_TYPE, Html::NAME), (CONTENT_SECURITY_POLICY, page::policy())];
    (headers, page::text()).into_response()
}
