//! `GET /ws`: opens the channel.

use accord_contract::{Code, Failure};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, extract::Request};
use hyper::header::{self, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, UPGRADE};
use hyper::{HeaderMap, Method, StatusCode, upgrade::OnUpgrade};
use hyper_util::rt::TokioIo;
use tungstenite::handshake::derive_accept_key;

use super::{access::Sent, socket::Socket, web_socket::WebSocket};
use crate::{Rejection, Visitor};
use accord_serving::{Reply, query::Query, reply::Foreign};

/// Answers an upgrade. The socket is served by a task of its own.
///
/// Clauses: GGUI-TRANSPORT-AUTH.
pub(super) async fn open(visitor: Visitor, query: Query, mut request: Request) -> Reply {
    let sent = Sent::of(&query, request.headers())?;
    sent.check_origin(&visitor)?;
    let opener = match sent.opener(&visitor).await {
        Ok(opener) => opener,
        Err(failure) if failure.code == Code::GguiUnauthenticated => {
            return Ok(unauthorized(&failure));
        }
        Err(failure) => return Err(failure.into()),
    };
    let is_known = sent.is_known(&visitor);
    let accept = accept_key(&request)?;
    let Some(upgrade) = request.extensions_mut().remove::<OnUpgrade>() else {
        return Err(no_upgrade("this connection cannot be upgraded").into());
    };
    let host = visitor.host.clone();
    // Before the answer, so that a host that closes waits for the socket.
    let work = host.streams().begin_work();
    if host.streams().are_closing() {
        return Err(accord_serving::streams::closing_down().into());
    }
    let permit = host.sockets().open()?;
    accord_system::spawn(async move {
        let _kept = (permit, work);
        match upgrade.await {
            Ok(upgraded) => {
                let waiting = host.sockets().wait(is_known);
                let limits = host.live().options().limits;
                let web = WebSocket::new(TokioIo::new(upgraded), limits.pre_subscribe_bytes);
                match waiting {
                    Ok(permit) => Socket::new(host, web, opener, permit).run().await,
                    Err(()) => {
                        host.sockets().rejected(Rejection::Connection);
                        web.close(accord_live_core::frame::Close::PRE_SUBSCRIBE_CEILING).await;
                    }
                }
            }
            Err(error) => tracing::debug!(%error, "an upgrade was not completed"),
        }
    });
    let headers = [
        (CONNECTION, HeaderValue::from_static("upgrade")),
        (UPGRADE, HeaderValue::from_static("websocket")),
        (header::SEC_WEBSOCKET_ACCEPT, accept),
    ];
    Ok((StatusCode::SWITCHING_PROTOCOLS, headers).into_response())
}

/// The answer to the key of a WebSocket handshake (RFC 6455, section 4.2).
fn accept_key(request: &Request) -> Result<HeaderValue, Failure> {
    let headers = request.headers();
    if request.method() != Method::GET
        || !has_word(headers, &CONNECTION, "upgrade")
        || !has_word(headers, &UPGRADE, "websocket")
    {
        return Err(no_upgrade("this route takes WebSocket upgrades"));
    }
    if !has_word(headers, &header::SEC_WEBSOCKET_VERSION, "13") {
        return Err(no_upgrade("the version of WebSockets is 13"));
    }
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|key| !key.is_empty());
    let key = key.ok_or_else(|| no_upgrade("the header Sec-WebSocket-Key is missing"))?;
    HeaderValue::from_str(&derive_accept_key(key.as_bytes()))
        .map_err(|_| no_upgrade("the header Sec-WebSocket-Key is not valid"))
}

fn no_upgrade(message: &str) -> Failure {
    Failure::new(Code::HttpMalformed, message)
}

/// Whether one of the comma-separated words of a header is this one, in any case.
fn has_word(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|found| found.trim().eq_ignore_ascii_case(word))
}

/// The refusal of an upgrade, in the form that ggui has for it.
fn unauthorized(failure: &Failure) -> Response {
    let headers = [(CONNECTION, "close"), (CONTENT_TYPE, "text/plain; charset=utf-8")];
    let body = format!("Unauthorized: {}", failure.message);
    (StatusCode::UNAUTHORIZED, headers, Extension(Foreign), body).into_response()
}
