//! The one way to ask a host for something, in this process or another.

use accord_contract::codes::Failure;
use axum::body::Body;
use futures_util::future::BoxFuture;

/// What is asked: method, path with query, headers and body as on the wire.
pub type Request = hyper::Request<Body>;

/// What is answered.
pub type Response = hyper::Response<Body>;

/// Something that answers requests as a host does: a host in this process, one behind a
/// socket, or one across a network.
pub trait Api: Send + Sync {
    /// Asks.
    ///
    /// # Errors
    /// When no answer came about. A refusal by the host is an answer.
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>>;
}
