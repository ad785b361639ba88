//! What every handler gets: the host, who asks, and the id of the exchange.

use std::convert::Infallible;

use accord_base::Caller;
use axum::extract::FromRequestParts;
use hyper::http::request::Parts;

use super::{Correlation, Host};

/// The context of a request.
#[derive(Clone)]
pub(crate) struct Context {
    /// The host.
    pub(crate) host: Host,
    /// Who asks, authenticated.
    pub(crate) caller: Caller,
    /// The id that joins the answer to its request.
    pub(crate) correlation: Correlation,
}

impl FromRequestParts<Host> for Context {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, host: &Host) -> Result<Self, Infallible> {
        let caller = parts.extensions.get().cloned().expect("`exchange` authenticates the caller");
        let correlation = parts.extensions.get().cloned().expect("`exchange` sets the id");
        Ok(Self { host: host.clone(), caller, correlation })
    }
}
