//! Requests to a host, in this process or another.

use accord_contract::Failure;
use axum::body::Body;
use futures_util::future::BoxFuture;

/// A request: method, path with query, headers and body as on the wire.
pub type Request = hyper::Request<Body>;

pub type Response = hyper::Response<Body>;

/// A host in this process, behind a socket, or across a network.
pub trait Api: Send + Sync {
    /// Sends a request. Fails if there is no answer; a refusal by the host is an answer.
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>>;
}
