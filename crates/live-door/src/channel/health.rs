//! `GET /ggui/live`, `/ggui/health` and `/ggui/auth-check`: whether the channel works, and whether
//! a credential opens it.

use accord_contract::Failure;
use accord_live_core::{token::TokenKind, version::PROTOCOL_VERSION};
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use hyper::StatusCode;
use serde_json::json;

use super::access::Sent;
use crate::{LiveDoor, Rejection, TokenHolder, Visitor};
use accord_serving::reply::{Foreign, json as document};
use accord_serving::{Reply, query::Query};

/// Clauses: GGUI-HTTP-HEALTH.
pub(super) async fn alive(visitor: Visitor) -> Reply {
    visitor.check_origin()?;
    Ok(document(StatusCode::OK, json!({"status": "ok"}).to_string()))
}

/// Clauses: GGUI-HTTP-HEALTH.
pub(super) async fn health(visitor: Visitor) -> Reply {
    visitor.check_origin()?;
    let host = &visitor.host;
    // The keys are in the store, so this reads it.
    let store = host.keys().required().await.is_ok() && host.surroundings().can_write().await;
    let is_open = !host.streams().are_closing();
    let status = if store && is_open { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Ok(report(host, status, store, is_open))
}

fn report(host: &LiveDoor, status: StatusCode, store: bool, is_open: bool) -> Response {
    let (sockets, limits) = (host.sockets(), host.live().options().limits);
    let word = |is_fine: bool| if is_fine { "ok" } else { "failed" };
    let body = json!({
        "status": if status == StatusCode::OK { "ok" } else { "degraded" },
        "server": "accord",
        "version": env!("CARGO_PKG_VERSION"),
        "protocolVersion": PROTOCOL_VERSION,
        "tools": host.surroundings().tool_names(),
        "channel": {
            "path": "/ws",
            "subscribers": host.live().sockets(),
            "renders": host.live().followed(),
            "caps": {
                "sockets": host.settings().limits.live_sockets,
                "open": sockets.count(),
                "frameBytes": limits.frame_bytes,
                "preSubscribeBytes": limits.pre_subscribe_bytes,
                "preSubscribeIdleMs": limits.pre_subscribe_idle_ms,
                "preSubscribeSockets": limits.pre_subscribe_sockets,
                "preSubscribeRejections": {
                    "payload": sockets.rejections(Rejection::Payload),
                    "idle": sockets.rejections(Rejection::Idle),
                    "connection": sockets.rejections(Rejection::Connection),
                },
            },
        },
        "cors": "*",
        "checks": {"store": word(store), "channel": word(is_open)},
    });
    let mut response = document(status, body.to_string());
    // It is no refusal, so its body is kept.
    response.extensions_mut().insert(Foreign);
    response
}

/// Clauses: GGUI-HTTP-HEALTH.
pub(super) async fn auth_check(visitor: Visitor, query: Query, request: Request) -> Reply {
    let sent = Sent::of(&query, request.headers())?;
    sent.check_origin(&visitor)?;
    match &sent.ws_token {
        // A socket with a token is verified when it subscribes; here it is verified at once.
        Some(token) => {
            let claims = visitor.host.live().verify_token(token, TokenKind::Ws);
            let claims = claims.map_err(Failure::from)?;
            TokenHolder::of(&visitor.host, &claims).await?;
        }
        None => drop(sent.opener(&visitor).await?),
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}
