//! What handlers return.
//!
//! A handler never writes an error body. It returns a [`Refusal`]; the outermost layer (`exchange`)
//! knows the correlation id and the route's protocol, and writes the body.

use accord_base::ProjectId;
use accord_contract::{Code, Failure, Wire};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// The header with the ids of the packages that supersede a package, newest first. Bytes of an id
/// that a header cannot carry, and commas, are percent-encoded.
pub const SUPERSEDED_BY: HeaderName = HeaderName::from_static("x-superseded-by");
/// The header with the latest state of a package that has the note of a reviewer, as a JSON object
/// in ASCII.
pub const REVIEW: HeaderName = HeaderName::from_static("x-review");
/// The header with the id of the project that a write created, written as in [`SUPERSEDED_BY`].
pub const NEW_PROJECT: HeaderName = HeaderName::from_static("x-new-project");
/// The header with the warnings about a write, as a JSON list in ASCII, if the document that is
/// answered has a member `warnings` of its own.
pub const WARNINGS: HeaderName = HeaderName::from_static("x-accord-warnings");

/// A failure that a handler returns.
#[derive(Clone, Debug)]
pub struct Refusal(pub Failure);

/// In the extensions of an answer whose error body belongs to another protocol, and is not
/// replaced.
#[derive(Clone, Copy, Debug)]
pub struct Foreign;

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

pub fn status_of(code: Code) -> StatusCode {
    StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A response with a JSON document.
/// Clauses: AGENTIC-R-050.
pub fn json(status: StatusCode, text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let media_type = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

/// An ALX envelope with these members, for the exchange of a correlation id.
#[macro_export]
macro_rules! alx_envelope {
    ($correlation:expr, $name:ident { $($member:ident $(: $value:expr)?),+ $(,)? }) => {
        $name {
            ok: accord_contract::wire::True,
            correlation_id: $correlation.as_str().into(),
            protocol: accord_contract::alx::ProtocolInfo::ours(Default::default()),
            $($member $(: $value)?,)+
            extra: accord_contract::wire::Object::new(),
        }
    };
}

pub fn encoded(status: StatusCode, message: &impl Wire) -> Response {
    json(status, message.encode().to_string())
}

/// An answer that nobody keeps: it has a credential, or what a person entered.
pub fn unstored(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

pub const MARKDOWN: &str = "text/markdown; charset=utf-8";

pub fn markdown(text: impl Into<Body>) -> Response {
    let mut response = Response::new(text.into());
    let media_type = HeaderValue::from_static(MARKDOWN);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

/// The answer to a write, which names the project if the write created it.
pub fn naming_new(mut response: Response, new: bool, project: &ProjectId) -> Response {
    if new {
        let id = HeaderValue::try_from(escaped(project.as_str()));
        response.headers_mut().insert(NEW_PROJECT, id.expect("escaped text is plain"));
    }
    response
}

pub fn escaped(id: &str) -> String {
    const NOT_IN_HEADERS: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b',');
    utf8_percent_encode(id, NOT_IN_HEADERS).to_string()
}
