//! The sender of a request whose route checks Origin and credentials itself.

use std::convert::Infallible;
use std::net::IpAddr;

use accord_base::Caller;
use accord_contract::codes::Failure;
use axum::extract::FromRequestParts;
use hyper::http::request::Parts;

use super::peer::{self, Peer};
use super::{Correlation, Host};

/// What `exchange` knows about the sender.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    pub(super) peer: Peer,
    /// Whether the Origin is allowed.
    pub(super) origin: Result<(), Box<Failure>>,
}

/// The sender of a request, who is not authenticated yet. The header Host was checked.
#[derive(Clone)]
pub(crate) struct Visitor {
    /// The host.
    pub(crate) host: Host,
    /// The id that joins the answer to its request.
    pub(crate) correlation: Correlation,
    visit: Visit,
}

impl Visitor {
    /// Refuses a page of an origin that is not allowed.
    pub(crate) fn check_origin(&self) -> Result<(), Failure> {
        self.visit.origin.clone().map_err(|refused| *refused)
    }

    /// The address that the request comes from; `None` if it does not come from the network.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        match &self.visit.peer {
            Peer::Trusted(_) => None,
            Peer::Network(network) => Some(network.address()),
        }
    }

    /// The caller, if no key is needed: on a host without keys, and for the owner of the data
    /// folder.
    pub(crate) async fn without_key(&self) -> Result<Option<Caller>, Failure> {
        peer::without_key(&self.host, &self.visit.peer).await
    }
}

impl FromRequestParts<Host> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, host: &Host) -> Result<Self, Infallible> {
        let visit = parts.extensions.get().cloned();
        let visit = visit.expect("`exchange` sets it for routes that check requests themselves");
        let correlation = parts.extensions.get().cloned().expect("`exchange` sets the id");
        Ok(Self { host: host.clone(), correlation, visit })
    }
}
