//! Through which door a request came in, and what follows for who asks.

use std::net::SocketAddr;

use accord_base::Caller;
use accord_contract::codes::{Code, Failure};
use axum::extract::Request;
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use super::Host;

/// Through which door a request came in. A door puts it into the request's extensions; a request
/// without it is refused.
#[derive(Clone, Debug)]
pub(crate) enum Entrance {
    /// A door that knows who asks: this process, or the socket in the data folder.
    Known(Caller),
    /// The network. The address is our own end of the connection.
    Network(SocketAddr),
}

/// Where no key is needed: what says nothing about anybody's data.
pub(super) const OPEN_PATHS: [&str; 3] = ["/healthz", "/openapi.json", "/docs"];

/// Who asks.
///
/// # Errors
/// Without a key where one is needed, and with one that is not valid.
pub(super) fn recognise(
    host: &Host,
    entrance: &Entrance,
    request: &Request,
) -> Result<Caller, Failure> {
    if let Entrance::Known(caller) = entrance {
        return Ok(caller.clone());
    }
    let path = request.uri().path();
    let open = OPEN_PATHS.contains(&path) || path == "/metrics" && host.settings().metrics_open;
    if !host.keys().required() || open {
        return Ok(Caller::local());
    }
    host.keys().recognise(credential(request.headers())?)
}

/// The key that a request carries.
///
/// Clauses: AGENTIC-R-112, AGENTIC-A-26.
fn credential(headers: &HeaderMap) -> Result<&str, Failure> {
    let missing = || {
        Failure::new(Code::AuthRequired, "this server needs a key")
            .suggesting("send the header Authorization: Bearer KEY")
    };
    let sent = headers.get(AUTHORIZATION).ok_or_else(missing)?;
    let (scheme, key) = (sent.to_str().ok())
        .and_then(|sent| sent.split_once(' '))
        .ok_or_else(missing)?;
    match scheme.eq_ignore_ascii_case("bearer") {
        true => Ok(key.trim()),
        false => Err(missing()),
    }
}
