//! Sends requests over HTTP, each on its own connection: a server that closed a reused one could
//! not be distinguished from a fault.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read as _};
use std::time::Duration;

use ureq::http::{self, Uri};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::{Agent, Body};

use super::connect::Persistent;
use super::{HttpOptions, ServerError};
use crate::case::Credential;
use crate::corpus::AnswerForm;
use crate::exchange::answer::Answer;
use crate::exchange::compose::Outgoing;
use crate::exchange::{ExchangeError, Transport, events};

pub(in crate::driver) struct Client {
    agent: Agent,
    /// Without a trailing slash.
    base: String,
    /// Whether TLS protects the connection, or it is local.
    protected: bool,
    token: Option<String>,
    second_token: Option<String>,
    body_limit: u64,
}

impl Client {
    pub(in crate::driver) fn new(options: &HttpOptions) -> Result<Self, ServerError> {
        let (base, protected) = base(&options.url)
            .map_err(|why| ServerError::BadUrl { url: options.url.clone(), why })?;
        let config = Agent::config_builder()
            // A redirect or a proxy would send the key to another server than the named one.
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .proxy(None)
            .user_agent(concat!("accord-check/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self {
            agent: Agent::with_parts(config, Persistent::default(), DefaultResolver::default()),
            base,
            protected,
            token: options.token.clone(),
            second_token: options.second_token.clone(),
            body_limit: options.body_limit,
        })
    }

    pub(in crate::driver) fn base(&self) -> &str {
        &self.base
    }

    /// Checks whether a server answers, with any status.
    pub(in crate::driver) fn greet(&self, limit: Duration) -> Result<(), ExchangeError> {
        let request = http::Request::get(format!("{}/", self.base));
        let request = request.body(()).map_err(|error| broken(&error))?;
        let answered = self.run(request, limit);
        answered.map(|_| ()).map_err(|error| trouble(error, limit))
    }

    fn run<B: ureq::AsSendBody>(
        &self,
        request: http::Request<B>,
        limit: Duration,
    ) -> Result<http::Response<Body>, ureq::Error> {
        let request = self.agent.configure_request(request);
        self.agent.run(request.timeout_global(Some(limit)).build())
    }

    pub(in crate::driver) fn key(&self, credential: Credential) -> Option<&str> {
        match credential {
            Credential::Main => self.token.as_deref(),
            Credential::Second => self.second_token.as_deref(),
            Credential::Wrong => Some(WRONG_KEY),
            Credential::None => None,
        }
    }

    fn read(
        &self,
        request: &Outgoing,
        response: http::Response<Body>,
    ) -> Result<Answer, ureq::Error> {
        let status = response.status().as_u16();
        // Several headers of one name mean the same as one with a list (RFC 9110, section 5.3).
        let mut headers = BTreeMap::<String, String>::new();
        for (name, value) in response.headers() {
            let value = String::from_utf8_lossy(value.as_bytes());
            let entry = headers.entry(name.as_str().to_owned());
            let entry = entry.and_modify(|all| *all += &format!(", {value}"));
            entry.or_insert_with(|| value.into_owned());
        }
        let mut body = response.into_body();
        let bytes = match request.answer {
            // A refused stream is one document, which ends by itself.
            AnswerForm::Events if (200..300).contains(&status) => {
                self.read_events(&mut body, request.events)?
            }
            _ => body.with_config().limit(self.body_limit).read_to_vec()?,
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Answer { status, headers, text, protected: self.protected })
    }

    /// Reads a stream until it has this many events or the time is over.
    fn read_events(&self, body: &mut Body, wanted: u64) -> Result<Vec<u8>, ureq::Error> {
        let mut reader = body.with_config().limit(self.body_limit).reader();
        let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
        while (events::read(&String::from_utf8_lossy(&bytes)).len() as u64) < wanted {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(&buffer[..count]),
                Err(error) => match ureq::Error::from(error) {
                    // A stream has no end. What has arrived by then is judged.
                    ureq::Error::Timeout(_) => break,
                    other => return Err(other),
                },
            }
        }
        Ok(bytes)
    }
}

impl Transport for Client {
    fn send(&self, outgoing: &Outgoing, limit: Duration) -> Result<Answer, ExchangeError> {
        let method = outgoing.method.as_str();
        let url = format!("{}{}", self.base, outgoing.target);
        let mut request = http::Request::builder().method(method).uri(url);
        let is_accept = |(name, _): &(String, String)| name.eq_ignore_ascii_case("accept");
        if !outgoing.headers.iter().any(is_accept) {
            request = request.header("accept", "application/json");
        }
        if let Some(key) = self.key(outgoing.credential) {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        for (name, value) in &outgoing.headers {
            request = request.header(name, value);
        }
        let response = match &outgoing.body {
            None => {
                let request = request.body(()).map_err(|error| broken(&error))?;
                self.run(request, limit)
            }
            Some(body) => {
                request = request.header("content-type", &body.content_type);
                // A server can refuse a large body before it is sent.
                if body.text.len() > LARGE {
                    request = request.header("expect", "100-continue");
                }
                let request = request.body(body.text.as_str());
                self.run(request.map_err(|error| broken(&error))?, limit)
            }
        };
        let answer = response.and_then(|response| self.read(outgoing, response));
        answer.map_err(|error| trouble(error, limit))
    }
}

/// The base URL, and whether the connection is protected.
fn base(url: &str) -> Result<(String, bool), &'static str> {
    let uri: Uri = url.parse().map_err(|_| "it cannot be read")?;
    let scheme = uri.scheme_str().unwrap_or_default();
    if !matches!(scheme, "http" | "https") {
        return Err("it must begin with http:// or https://");
    }
    let authority = uri.authority().ok_or("it names no host")?;
    // The URL is printed in reports, and a key must not be.
    if authority.as_str().contains('@') {
        return Err("it must not contain a key; pass the key as a token");
    }
    if uri.query().is_some() || url.contains('#') {
        return Err("it must not have a query or a fragment");
    }
    // `IpAddr` does not parse the brackets of an IPv6 host.
    let host = authority.host().trim_matches(['[', ']']);
    let loopback = host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    let base = format!("{scheme}://{authority}{}", uri.path().trim_end_matches('/'));
    Ok((base, scheme == "https" || loopback))
}

fn trouble(error: ureq::Error, limit: Duration) -> ExchangeError {
    match error {
        ureq::Error::Timeout(_) => {
            ExchangeError::TimedOut(format!("no complete answer within {} ms", limit.as_millis()))
        }
        ureq::Error::BodyExceedsLimit(limit) => {
            ExchangeError::Broken(format!("the answer has more than {limit} bytes"))
        }
        // Kept apart from `Unreachable`: the server is there, and other requests may succeed.
        ureq::Error::Io(error) if is_broken_off(&error) => ExchangeError::BrokenOff(format!(
            "the connection broke before the answer was complete: {error}"
        )),
        error @ (ureq::Error::Io(_)
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Tls(_)
        | ureq::Error::Rustls(_)) => ExchangeError::Unreachable(error.to_string()),
        other => ExchangeError::Broken(format!("the answer cannot be read: {other}")),
    }
}

/// Whether the other side closed an established connection. Errors while connecting are different.
fn is_broken_off(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof
    )
}

fn broken(error: &http::Error) -> ExchangeError {
    ExchangeError::Broken(format!("the request cannot be sent: {error}"))
}

/// A key that has the right form and that no server has issued.
const WRONG_KEY: &str = "accord-check-not-a-key-0000000000000000";
/// Larger bodies are sent with `Expect: 100-continue`.
const LARGE: usize = 1024 * 1024;
