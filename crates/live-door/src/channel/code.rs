//! `GET /code/{file}`: component code, for hosts that mount a session.
//!
//! The name of code is its digest. A client that knows it was given it. No credential is looked at,
//! so that a page of every origin may load it. The code is an agent's: opened as a document it is
//! sandboxed, and no page of Accord loads it.

use accord_live_core::resource::ReadCode;
use axum::response::{IntoResponse as _, Response};
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use hyper::http::request::Parts;

use crate::Visitor;
use accord_serving::{Reply, query::path_params};

const MODULE: &str = "text/javascript; charset=utf-8";

/// Clauses: GGUI-HTTP-CODE.
pub(super) async fn code(visitor: Visitor, mut parts: Parts) -> Reply {
    let params = path_params(&mut parts).await?;
    let hash = params.iter().last().and_then(|(_, file)| file.strip_suffix(".js"));
    let found = match hash {
        Some(hash) => visitor.host.live().code(hash).await?,
        None => None,
    };
    Ok(module(found.ok_or_else(|| ReadCode::NotFound.failure())?))
}

/// A module that never changes.
pub(super) fn module(text: String) -> Response {
    let headers = [
        (CONTENT_TYPE, MODULE),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (CONTENT_SECURITY_POLICY, "sandbox"),
    ];
    (headers, text).into_response()
}
