//! `GET /api/sessions/{session_id}/state`: what a page needs to begin, with a new token.

use accord_live_core::refuse;
use hyper::StatusCode;
use serde_json::json;

use super::fallback::Bearer;
use crate::slice;
use accord_serving::Reply;
use accord_serving::reply::{json as document, unstored};

/// Clauses: GGUI-HTTP-STATE.
pub(super) async fn state(Bearer { host, claims, base, .. }: Bearer) -> Reply {
    let found = host.live().found(&claims.session_id, None).await?;
    let now = host.live().now();
    let found = found.filter(|it| it.session.app_id == claims.app_id && it.session.is_active(now));
    // The new token is for the same as the old one, unless the project takes no changes.
    let extra = host.live().check_open(&claims.app_id).await.ok().map(|()| claims.extra);
    let slice = found.and_then(|found| slice(&host, Some(&base), &found, extra));
    let slice = slice.ok_or_else(|| refuse::session_not_found("there is no such session"))?;
    let body = json!({"ai.ggui/render": slice.document()});
    Ok(unstored(document(StatusCode::OK, body.to_string())))
}
