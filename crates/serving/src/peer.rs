//! Who is at the other end of a connection, and authentication.

use accord_base::Caller;
use accord_contract::{Code, Failure};
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use crate::Serving;
use crate::listen::NetworkPeer;

/// Where a request comes from. It is in the extensions of every request; a request without it is
/// refused.
#[derive(Clone, Debug)]
pub enum Peer {
    /// This process, or the socket in the data folder: the caller is known.
    Trusted(Caller),
    Network(NetworkPeer),
}

/// Paths that need no key, because their answers contain no user data.
pub(crate) const OPEN_PATHS: [&str; 4] = ["/", "/healthz", "/openapi.json", "/docs"];

pub(crate) async fn authenticate(
    host: &Serving,
    peer: &Peer,
    path: &str,
    headers: &HeaderMap,
) -> Result<Caller, Failure> {
    let is_open = OPEN_PATHS.contains(&path) || path == "/metrics" && host.settings().metrics_open;
    if let (true, Peer::Network(network)) = (is_open, peer) {
        return Ok(network.caller());
    }
    match without_key(host, peer).await? {
        Some(caller) => Ok(caller),
        None => host.keys().authenticate(credential(headers)?).await,
    }
}

/// The caller, if no key is needed: on a host without keys, and for the owner of the data folder.
pub(crate) async fn without_key(host: &Serving, peer: &Peer) -> Result<Option<Caller>, Failure> {
    match peer {
        Peer::Trusted(caller) => Ok(Some(caller.clone())),
        Peer::Network(_) if host.keys().required().await? => Ok(None),
        Peer::Network(network) => Ok(Some(network.caller())),
    }
}

/// The key in the `Authorization` header.
/// Clauses: AGENTIC-R-112, AGENTIC-A-26.
fn credential(headers: &HeaderMap) -> Result<&str, Failure> {
    let missing = || {
        Failure::new(Code::AuthRequired, "this server needs a key")
            .suggesting("send the header Authorization: Bearer KEY")
    };
    let sent = headers.get(AUTHORIZATION).ok_or_else(missing)?;
    let (scheme, key) =
        (sent.to_str().ok()).and_then(|sent| sent.split_once(' ')).ok_or_else(missing)?;
    // Another scheme is answered like a missing key, because that answer names the scheme to use.
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(missing());
    }
    Ok(key.trim())
}
