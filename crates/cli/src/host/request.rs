//! A request to a host.

use std::time::Duration;

use accord_api::Encoded;
use accord_contract::text::{percent_decoded, percent_encoded};
use accord_host::client::InactivityTimeout;
use accord_host::http::TERMINAL;
use accord_host::{Api, Request, Response};
use axum::body::Body;
use hyper::Method;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};

use super::answer::{self, Answer};
use crate::terminal::can_ask;
use crate::{CliError, Result};

/// How long a host may work before its first byte, where it reads a whole store.
const LONG: Duration = Duration::from_secs(600);

pub(crate) struct HostRequest {
    method: Method,
    target: String,
    has_query: bool,
    headers: Vec<(&'static str, String)>,
    accept: HeaderValue,
    content_type: Option<HeaderValue>,
    body: Body,
    inactivity: Option<InactivityTimeout>,
    most: usize,
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
            headers: request.headers,
            accept: HeaderValue::from_static(request.accept),
            content_type,
            body,
            inactivity: None,
            most: answer::MOST,
        }
    }
}

impl HostRequest {
    /// The project that its path names.
    pub(super) fn project(&self) -> Option<String> {
        let path = self.target.split('?').next()?;
        let mut segments = path.split('/').skip_while(|segment| *segment != "projects").skip(1);
        segments.next().and_then(percent_decoded)
    }

    pub(crate) fn head(mut self) -> Self {
        self.method = Method::HEAD;
        self
    }

    /// Adds a body of lines, one document each.
    pub(crate) fn lines(self, body: Body) -> Self {
        self.bytes("application/x-ndjson", body)
    }

    pub(crate) fn bytes(mut self, media_type: &'static str, body: Body) -> Self {
        self.content_type = Some(HeaderValue::from_static(media_type));
        self.body = body;
        self
    }

    pub(crate) fn with(mut self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        if let Some(value) = value {
            let mark = if self.has_query { '&' } else { '?' };
            self.has_query = true;
            self.target.push_str(&format!("{mark}{name}="));
            self.target.extend(percent_encoded(value.as_ref()));
        }
        self
    }

    pub(crate) fn for_lines(mut self) -> Self {
        self.accept = HeaderValue::from_static("application/x-ndjson");
        self
    }

    /// Gives the host more time before its first byte.
    pub(crate) fn takes_long(mut self) -> Self {
        self.inactivity = Some(InactivityTimeout(LONG));
        self
    }

    /// Refuses a longer answer.
    pub(super) fn reads_at_most(mut self, bytes: usize) -> Self {
        self.most = bytes;
        self
    }

    pub(crate) async fn send(self, to: &dyn Api) -> Result<Answer> {
        let most = self.most;
        answer::whole(self.call(to).await?, most).await
    }

    /// Sends the request, and returns at the first byte of the response.
    pub(super) async fn call(self, to: &dyn Api) -> Result<Response> {
        let too_long = "an id, a name or a query is too long for the URL of a request";
        Ok(to.call(self.request().map_err(|_| CliError::usage(too_long))?).await?)
    }

    fn request(self) -> Result<Request, hyper::http::Error> {
        let request = hyper::Request::builder().method(self.method).uri(self.target);
        let mut request = request.header(ACCEPT, self.accept);
        if let Some(content_type) = self.content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        if can_ask() {
            request = request.header(TERMINAL, "yes");
        }
        if let Some(inactivity) = self.inactivity {
            request = request.extension(inactivity);
        }
        request.body(self.body)
    }
}

#[cfg(test)]
mod tests {
    use accord_api::{Call, NoBody};
    use accord_memory_core::PackageId;
    use accord_memory_core::operations::{OfPackage, PackageWithin, ReadPackage};

    use super::*;

    #[test]
    fn whatever_an_id_holds_stays_one_segment() {
        let package = PackageId::new("日本/1 %?#").expect("an id");
        let call = |project: Option<&str>| {
            let project = project.map(|id| id.parse().expect("an id"));
            let path = OfPackage { package: package.clone() };
            HostRequest::from(
                Call::<ReadPackage>::new(path, PackageWithin { project }, NoBody).encode(),
            )
        };
        let path = "/v1/packages/%E6%97%A5%E6%9C%AC%2F1%20%25%3F%23";
        let alone = call(None).with("actor", Some("a&b=c"));
        assert_eq!(alone.target, format!("{path}?actor=a%26b%3Dc"));
        let second = call(Some("shop")).with("actor", Some("agent:x"));
        assert_eq!(second.target, format!("{path}?project_id=shop&actor=agent%3Ax"));
    }
}
