//! A request to a host.

use std::time::Duration;

use accord_api::Encoded;
use accord_contract::codes::Code;
use accord_contract::text::percent_encoded;
use accord_contract::wire::Value;
use accord_host::client::InactivityTimeout;
use accord_host::http::TERMINAL;
use accord_host::{Api, Request, Response};
use axum::body::Body;
use hyper::Method;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};

use super::answer::{self, Answer};
use crate::error::CliError;
use crate::terminal::can_ask;

/// How long a host may work before its first byte, where it reads a whole store.
const LONG: Duration = Duration::from_secs(600);

/// A request to a host.
pub(crate) struct HostRequest {
    method: Method,
    target: String,
    has_query: bool,
    accept: HeaderValue,
    content_type: Option<HeaderValue>,
    body: Body,
    inactivity: Option<InactivityTimeout>,
}

impl From<Encoded> for HostRequest {
    fn from(request: Encoded) -> Self {
        let method = request.method.as_str().as_bytes();
        let (content_type, body) = match request.body.clone() {
            None => (None, Body::empty()),
            Some((media_type, text)) => (Some(HeaderValue::from_static(media_type)), text.into()),
        };
        Self {
            method: Method::from_bytes(method).expect("the name of a method"),
            target: request.target(),
            has_query: !request.query.is_empty(),
            accept: HeaderValue::from_static(request.accept),
            content_type,
            body,
            inactivity: None,
        }
    }
}

impl HostRequest {
    /// A request with a method and the segments of a path.
    pub(crate) fn new(method: Method, path: &[&str]) -> Self {
        let mut target = String::new();
        for segment in path {
            target.push('/');
            target.extend(percent_encoded(segment));
        }
        Self {
            method,
            target,
            has_query: false,
            accept: HeaderValue::from_static("application/json"),
            content_type: None,
            body: Body::empty(),
            inactivity: None,
        }
    }

    /// A GET request.
    pub(crate) fn get(path: &[&str]) -> Self {
        Self::new(Method::GET, path)
    }

    /// A POST request with a document.
    pub(crate) fn post(path: &[&str], document: &Value) -> Self {
        Self::new(Method::POST, path).document(document.to_string())
    }

    /// Asks for the headers of the response alone.
    pub(crate) fn head(mut self) -> Self {
        self.method = Method::HEAD;
        self
    }

    /// Adds a document, byte for byte.
    pub(crate) fn document(self, text: impl Into<Body>) -> Self {
        self.with_body("application/json", text.into())
    }

    /// Adds a body of lines, one document each.
    pub(crate) fn lines(self, body: Body) -> Self {
        self.with_body("application/x-ndjson", body)
    }

    /// Adds a body of bytes with its media type.
    pub(crate) fn bytes(self, media_type: &'static str, body: Body) -> Self {
        self.with_body(media_type, body)
    }

    /// Adds a query parameter, if there is a value.
    pub(crate) fn with(mut self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        if let Some(value) = value {
            self.target.push(if self.has_query { '&' } else { '?' });
            self.has_query = true;
            self.target.push_str(name);
            self.target.push('=');
            self.target.extend(percent_encoded(value.as_ref()));
        }
        self
    }

    /// The same for a number.
    pub(crate) fn with_number(self, name: &str, value: Option<impl ToString>) -> Self {
        self.with(name, value.map(|value| value.to_string()))
    }

    /// Accepts a response in lines.
    pub(crate) fn for_lines(mut self) -> Self {
        self.accept = HeaderValue::from_static("application/x-ndjson");
        self
    }

    /// Gives the host more time before its first byte.
    pub(crate) fn takes_long(mut self) -> Self {
        self.inactivity = Some(InactivityTimeout(LONG));
        self
    }

    /// Sends the request, and waits for the whole response.
    pub(crate) async fn send(self, to: &dyn Api) -> Result<Answer, CliError> {
        answer::whole(self.call(to).await?).await
    }

    /// Sends the request, and returns at the first byte of the response.
    pub(super) async fn call(self, to: &dyn Api) -> Result<Response, CliError> {
        let request = self.request().map_err(|_| {
            CliError::new(
                Code::Usage,
                "an id, a name or a query is too long for the URL of a request",
            )
        })?;
        Ok(to.call(request).await?)
    }

    fn request(self) -> Result<Request, hyper::http::Error> {
        let mut request = hyper::Request::builder()
            .method(self.method)
            .uri(self.target)
            .header(ACCEPT, self.accept);
        if let Some(content_type) = self.content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        if can_ask() {
            request = request.header(TERMINAL, "yes");
        }
        if let Some(inactivity) = self.inactivity {
            request = request.extension(inactivity);
        }
        request.body(self.body)
    }

    fn with_body(mut self, content_type: &'static str, body: Body) -> Self {
        self.content_type = Some(HeaderValue::from_static(content_type));
        self.body = body;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_an_id_holds_stays_one_segment() {
        let request =
            HostRequest::get(&["v1", "packages", "日本/1 %?#"]).with("project_id", Some("a&b=c"));
        assert_eq!(
            request.target,
            "/v1/packages/%E6%97%A5%E6%9C%AC%2F1%20%25%3F%23?project_id=a%26b%3Dc"
        );
        let dots = HostRequest::get(&["v1", "packages", ".."]).with_number("limit", Some(3));
        assert_eq!(dots.target, "/v1/packages/..?limit=3");
    }
}
