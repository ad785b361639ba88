//! What every handler gets: the state of its door, who asks, and the id of the exchange.

use std::convert::Infallible;

use accord_base::Caller;
use axum::extract::FromRequestParts;
use hyper::http::request::Parts;

use crate::{Correlation, Door};

#[derive(Clone)]
pub struct Context<D> {
    pub host: D,
    /// Who asks, authenticated.
    pub caller: Caller,
    /// The id that joins the answer to its request.
    pub correlation: Correlation,
}

impl<D: Door> FromRequestParts<D> for Context<D> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, host: &D) -> Result<Self, Infallible> {
        let caller = parts.extensions.get().cloned().expect("`exchange` authenticates the caller");
        let correlation = parts.extensions.get().cloned().expect("`exchange` sets the id");
        Ok(Self { host: host.clone(), caller, correlation })
    }
}
