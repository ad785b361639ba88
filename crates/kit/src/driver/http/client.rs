//! Sends requests over HTTP.
//!
//! Every request has a connection of its own: one that was kept could have been closed by the
//! server meanwhile, and nobody could tell that from a fault.

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

pub(super) struct Client {
    agent: Agent,
    /// Without a slash at its end.
    base: String,
    /// Whether TLS protects what is sent, or it does not leave the machine.
    protected: bool,
    token: Option<String>,
    second_token: Option<String>,
    body_limit: u64,
}

impl Client {
    pub(super) fn new(options: &HttpOptions) -> Result<Self, ServerError> {
        let (base, protected) = base(&options.url).map_err(|why| ServerError::BadUrl {
            url: options.url.clone(),
            why,
        })?;
        let config = Agent::config_builder()
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

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Finds out whether anybody is there. Whatever is answered will do.
    pub(super) fn greet(&self, limit: Duration) -> Result<(), ExchangeError> {
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

    fn key(&self, credential: Credential) -> Option<&str> {
        match credential {
            Credential::Main => self.token.as_deref(),
            Credential::Second => self.second_token.as_deref(),
            Credential::Wrong => Some(WRONG_KEY),
            Credential::Nobody => None,
        }
    }

    fn read(
        &self,
        request: &Outgoing,
        response: http::Response<Body>,
    ) -> Result<Answer, ureq::Error> {
        let status = response.status().as_u16();
        let mut headers = BTreeMap::<String, String>::new();
        for (name, value) in response.headers() {
            let value = String::from_utf8_lossy(value.as_bytes());
            headers
                .entry(name.as_str().to_owned())
                .and_modify(|all| {
                    all.push_str(", ");
                    all.push_str(&value);
                })
                .or_insert_with(|| value.into_owned());
        }
        let mut body = response.into_body();
        let bytes = match request.answer {
            AnswerForm::Events if (200..300).contains(&status) => {
                self.read_events(&mut body, request.events)?
            }
            _ => body.with_config().limit(self.body_limit).read_to_vec()?,
        };
        Ok(Answer {
            status,
            headers,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            protected: self.protected,
        })
    }

    /// Reads a stream that need not end, up to so many events. When the time is over, what has come
    /// is the answer.
    fn read_events(&self, body: &mut Body, wanted: u64) -> Result<Vec<u8>, ureq::Error> {
        let mut reader = body.with_config().limit(self.body_limit).reader();
        let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
        while (events::read(&String::from_utf8_lossy(&bytes)).len() as u64) < wanted {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(&buffer[..count]),
                Err(error) => match ureq::Error::from(error) {
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
        let has = |name: &str| {
            let mut headers = outgoing.headers.iter();
            headers.any(|(given, _)| given.eq_ignore_ascii_case(name))
        };
        if !has("accept") {
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
                // A server that refuses a large body can say so before it comes.
                if body.text.len() > LARGE {
                    request = request.header("expect", "100-continue");
                }
                let request = request.body(body.text.as_str());
                self.run(request.map_err(|error| broken(&error))?, limit)
            }
        };
        response
            .and_then(|response| self.read(outgoing, response))
            .map_err(|error| trouble(error, limit))
    }
}

/// The base of all URLs, and whether what is sent there is protected.
fn base(url: &str) -> Result<(String, bool), &'static str> {
    let uri: Uri = url.parse().map_err(|_| "it cannot be read")?;
    let scheme = uri.scheme_str().unwrap_or_default();
    if !matches!(scheme, "http" | "https") {
        return Err("it must begin with http:// or https://");
    }
    let authority = uri.authority().ok_or("it names no host")?;
    if authority.as_str().contains('@') {
        return Err("a key does not belong into it; hand it over as a token");
    }
    if uri.query().is_some() || url.contains('#') {
        return Err("it must end with its path");
    }
    let host = authority.host().trim_matches(['[', ']']);
    let loopback = host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    let base = format!("{scheme}://{authority}{}", uri.path().trim_end_matches('/'));
    Ok((base, scheme == "https" || loopback))
}

fn trouble(error: ureq::Error, limit: Duration) -> ExchangeError {
    match error {
        ureq::Error::Timeout(_) => ExchangeError::TimedOut(format!(
            "there was no whole answer within {} ms",
            limit.as_millis()
        )),
        ureq::Error::BodyExceedsLimit(limit) => {
            ExchangeError::Broken(format!("the answer has more than {limit} bytes"))
        }
        ureq::Error::Io(error) if is_broken_off(&error) => ExchangeError::BrokenOff(format!(
            "the connection broke before a whole answer: {error}"
        )),
        error @ (ureq::Error::Io(_)
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Tls(_)
        | ureq::Error::Rustls(_)) => ExchangeError::Unreachable(error.to_string()),
        other => ExchangeError::Broken(format!("the answer cannot be read: {other}")),
    }
}

/// Whether the other side ended a connection that there was. One that never came about has other
/// words.
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

/// A key in the form of keys, which no server has given out.
const WRONG_KEY: &str = "accord-check-not-a-key-0000000000000000";
/// Bodies past this size are announced before they are sent.
const LARGE: usize = 1024 * 1024;
