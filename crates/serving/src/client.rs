//! Requests to a host in another process: through the socket of its data folder, or over the
//! network.
//!
//! Invariant: the key is sent in the `Authorization` header and appears nowhere else, neither in
//! messages nor in an address.

use std::path::Path;
use std::time::Duration;

use accord_client::{ClientError, ClientErrorKind, Endpoint, Timeouts};
use accord_contract::{Code, Failure};
use axum::body::Body;
use futures_util::future::BoxFuture;
use hyper::Uri;
use hyper::header::{AUTHORIZATION, HeaderValue};

use crate::listen::check_server;
use crate::{Api, Request, Response};

pub use accord_client::InactivityTimeout;

/// A host in another process.
pub struct Client {
    http: accord_client::Client,
    base: String,
    authorization: Option<HeaderValue>,
}

/// Options of a client that connects over the network.
#[derive(Clone, Default)]
pub struct ClientOptions {
    key: Option<String>,
    timeouts: Timeouts,
}

impl ClientOptions {
    /// Sends this key with every request.
    #[must_use]
    pub fn with_key(mut self, key: Option<String>) -> Self {
        self.key = key;
        self
    }

    /// The inactivity timeout: the host neither accepts nor sends a byte.
    #[must_use]
    pub fn with_inactivity_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.inactivity = timeout;
        self
    }
}

impl Client {
    /// The host that serves a data folder, by its socket.
    pub fn socket(path: &Path) -> Result<Self, Failure> {
        let endpoint = Endpoint::socket(path, check_server);
        let http = accord_client::Client::new(endpoint, Timeouts::default());
        Ok(Self { http: http.map_err(failure)?, base: String::new(), authorization: None })
    }

    /// The host at a URL such as `http://127.0.0.1:7171` or `https://memory.example.org`.
    pub fn url(url: &str, options: &ClientOptions) -> Result<Self, Failure> {
        let (endpoint, base) = parse_url(url)?;
        Ok(Self {
            http: accord_client::Client::new(endpoint, options.timeouts).map_err(failure)?,
            base,
            authorization: options.key.as_deref().map(bearer).transpose()?,
        })
    }

    /// Connects, to find out whether a host listens. The first request uses the connection.
    pub async fn connect(&self) -> Result<(), Failure> {
        self.http.connect().await.map_err(failure)
    }

    /// Whether requests cross a network without encryption.
    pub fn is_unencrypted(&self) -> bool {
        self.http.endpoint().is_unencrypted()
    }

    async fn send(&self, mut request: Request) -> Result<Response, Failure> {
        if !self.base.is_empty() {
            *request.uri_mut() = prefixed(&self.base, request.uri())?;
        }
        if let Some(authorization) = &self.authorization {
            let headers = request.headers_mut();
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let response = self.http.send(request).await.map_err(failure)?;
        Ok(response.map(Body::new))
    }
}

impl Api for Client {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        Box::pin(self.send(request))
    }
}

/// The failure that ended a response body before its end.
pub fn body_failure(error: axum::Error) -> Failure {
    let inner = match error.into_inner().downcast::<Failure>() {
        Ok(failure) => return *failure,
        Err(inner) => inner,
    };
    match inner.downcast::<ClientError>() {
        Ok(error) => failure(*error),
        Err(other) => {
            Failure::new(Code::HostUnreachable, format!("the response was interrupted: {other}"))
        }
    }
}

fn failure(error: ClientError) -> Failure {
    // A request body that the caller streams has its own failure.
    if let Some(own) = error.find_cause::<Failure>() {
        return own.clone();
    }
    let code = match error.kind() {
        ClientErrorKind::Usage => Code::Usage,
        ClientErrorKind::Timeout => Code::HostTimeout,
        ClientErrorKind::Tls => Code::HostTls,
        ClientErrorKind::Server => Code::NotForWorkers,
        ClientErrorKind::Protocol | ClientErrorKind::TooLarge => Code::HostProtocol,
        ClientErrorKind::Unreachable
        | ClientErrorKind::RequestBody
        | ClientErrorKind::Cancelled => Code::HostUnreachable,
    };
    let failure = Failure::new(code, error.to_string());
    match error.help() {
        Some(help) => failure.suggesting(help),
        None => failure,
    }
}

/// The endpoint and the base path of a host's URL.
fn parse_url(text: &str) -> Result<(Endpoint, String), Failure> {
    let invalid = |why: &str| {
        // A URL with a password must not appear in a log.
        let shown = if text.contains('@') { "the URL" } else { text };
        Failure::new(Code::Usage, format!("{shown} is not the URL of a host: {why}"))
            .suggesting("write it as http://127.0.0.1:7171 or https://memory.example.org")
    };
    let uri: Uri = text.trim().parse().map_err(|_| invalid("it is not a valid URL"))?;
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(invalid("put the key into ACCORD_KEY, not into the URL"));
    }
    if uri.query().is_some() || text.contains('#') {
        return Err(invalid("it has a query or a fragment"));
    }
    let endpoint = Endpoint::from_uri(&uri).map_err(|error| invalid(&error.to_string()))?;
    Ok((endpoint, uri.path().trim_end_matches('/').to_owned()))
}

fn prefixed(base: &str, uri: &Uri) -> Result<Uri, Failure> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    format!("{base}{path}").parse().map_err(|_| {
        Failure::new(Code::Usage, "an id, a name or a query is too long for a request")
    })
}

fn bearer(key: &str) -> Result<HeaderValue, Failure> {
    let mut header = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| {
        Failure::new(Code::Usage, "the key has characters that no key has, such as a line break")
    })?;
    // Keeps the key out of debug output of the HTTP library.
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_path_precedes_every_path() {
        let (endpoint, base) = parse_url("https://example.org/team/a/").expect("a URL");
        assert_eq!(endpoint.to_string(), "https://example.org");
        let asked: Uri = "/v1/projects?limit=1".parse().expect("a path");
        let target = prefixed(&base, &asked).expect("a target");
        assert_eq!(target.to_string(), "/team/a/v1/projects?limit=1");
    }

    #[test]
    fn other_texts_are_refused_without_repeating_a_password() {
        for text in [
            "",
            "127.0.0.1:7171",
            "ftp://example.org",
            "http://",
            "https://example.org/?a=b",
            "https://example.org/#a",
            "http://a b",
        ] {
            let failure = parse_url(text).expect_err(text);
            assert_eq!(failure.code, Code::Usage, "{text}");
        }
        let failure = parse_url("https://lead:secret@example.org").expect_err("a password");
        assert!(!failure.to_string().contains("secret"), "{failure}");
    }
}
