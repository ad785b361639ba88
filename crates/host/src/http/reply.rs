//! What handlers answer with.
//!
//! A handler never writes an error body. It gives back a [`Refusal`]; the outermost layer
//! (`exchange`) knows the correlation id and makes the one error body of it.

use accord_contract::codes::{Code, Failure};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};

/// A failure on its way out.
#[derive(Clone, Debug)]
pub struct Refusal(pub Failure);

/// In the extensions of an answer whose error body is that of another protocol, and stays as it is.
#[derive(Clone, Copy, Debug)]
pub struct Foreign;

/// What most handlers return.
pub type Reply<T = Response> = Result<T, Refusal>;

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status_of(self.0.code);
        response.extensions_mut().insert(self.0);
        response
    }
}

/// The HTTP status of a code.
pub fn status_of(code: Code) -> StatusCode {
    StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A JSON document.
///
/// Clauses: AGENTIC-R-050.
pub fn json(status: StatusCode, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let media_type = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}
