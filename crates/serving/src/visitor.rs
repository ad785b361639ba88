//! The sender of a request whose route checks Origin and credentials itself.

use std::convert::Infallible;
use std::net::IpAddr;

use accord_base::Caller;
use accord_contract::Failure;
use axum::extract::FromRequestParts;
use hyper::http::request::Parts;

use crate::peer::{self, Peer};
use crate::{Correlation, Door};

/// What `exchange` knows about the sender.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    pub peer: Peer,
    pub origin: Result<(), Box<Failure>>,
}

/// The sender of a request, who is not authenticated yet. The header Host was checked.
#[derive(Clone)]
pub struct Visitor<D> {
    pub host: D,
    /// The id that joins the answer to its request.
    pub correlation: Correlation,
    visit: Visit,
}

impl<D: Door> Visitor<D> {
    /// Refuses a page of an origin that is not allowed.
    pub fn check_origin(&self) -> Result<(), Failure> {
        self.visit.origin.clone().map_err(|refused| *refused)
    }

    /// The address that the request comes from; `None` if it does not come from the network.
    pub fn address(&self) -> Option<IpAddr> {
        match &self.visit.peer {
            Peer::Trusted(_) => None,
            Peer::Network(network) => Some(network.address()),
        }
    }

    /// The caller, if no key is needed: on a host without keys, and for the owner of the data
    /// folder.
    pub async fn without_key(&self) -> Result<Option<Caller>, Failure> {
        peer::without_key(&self.host, &self.visit.peer).await
    }

    /// Refuses a process that is seen to be a worker, whatever credential it has. Fails with
    /// `not_for_workers`.
    pub fn check_worker(&self) -> Result<(), Failure> {
        match &self.visit.peer {
            Peer::Trusted(caller) => caller.refuse_worker(),
            Peer::Network(network) => network.caller().refuse_worker(),
        }
    }
}

impl<D: Door> FromRequestParts<D> for Visitor<D> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, host: &D) -> Result<Self, Infallible> {
        let visit = parts.extensions.get().cloned();
        let visit = visit.expect("`exchange` sets it for routes that check requests themselves");
        let correlation = parts.extensions.get().cloned().expect("`exchange` sets the id");
        Ok(Self { host: host.clone(), correlation, visit })
    }
}
