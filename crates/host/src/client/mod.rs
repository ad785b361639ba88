//! Asking a host in another process: through the socket of its data folder, or across a network.
//!
//! Invariants:
//! - a request is sent again by itself only when nothing of it has left this process;
//! - no wait is without an end: connecting has a time limit, and so has every stretch in which the
//!   host neither takes nor gives a byte. Waiting for our own side of a body is no silence of the host;
//! - the key goes into one header and nowhere else: not into messages, not into an address.

mod address;
mod connect;
mod patience;
mod tls;
mod trouble;

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use axum::body::Body;
use futures_util::future::BoxFuture;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{AUTHORIZATION, HOST, HeaderValue, USER_AGENT};

use self::address::Address;
use self::connect::Connector;
use self::patience::{Answered, Patience};
use crate::{Api, Request, Response};

pub use self::trouble::body_failure;

/// How long a host may be silent unless the caller says otherwise.
pub const DEFAULT_SILENCE: Duration = Duration::from_secs(60);

/// How many connections are kept for later requests.
const IDLE: usize = 8;

/// A host in another process.
pub struct Client {
    address: Address,
    connector: Connector,
    authorization: Option<HeaderValue>,
    silence: Duration,
    /// Connections whose last exchange is over, or will be once its answer has been read.
    idle: Mutex<Vec<SendRequest<Body>>>,
}

/// As an extension of a request: how long the host may be silent this once, for work that takes long
/// before its first word.
#[derive(Clone, Copy, Debug)]
pub struct Silence(pub Duration);

/// How a host across a network is asked.
#[derive(Clone, Default)]
pub struct ClientOptions {
    key: Option<String>,
    silence: Option<Duration>,
}

impl ClientOptions {
    /// With this key.
    #[must_use]
    pub fn with_key(mut self, key: Option<String>) -> Self {
        self.key = key;
        self
    }

    /// With another limit on the host's silence.
    #[must_use]
    pub fn with_silence(mut self, silence: Duration) -> Self {
        self.silence = Some(silence);
        self
    }
}

impl Client {
    /// The host that serves a data folder, by its socket.
    pub fn socket(path: &Path) -> Self {
        Self {
            address: Address::socket(path),
            connector: Connector::plain(),
            authorization: None,
            silence: DEFAULT_SILENCE,
            idle: Mutex::default(),
        }
    }

    /// The host at a URL such as `http://127.0.0.1:7171` or `https://memory.example.org`.
    ///
    /// # Errors
    /// When the text is no such URL, or the key cannot stand in a header.
    pub fn url(url: &str, options: &ClientOptions) -> Result<Self, Failure> {
        let address = Address::url(url)?;
        let connector = Connector::to(&address)?;
        let authorization = options.key.as_deref().map(bearer).transpose()?;
        Ok(Self {
            address,
            connector,
            authorization,
            silence: options.silence.unwrap_or(DEFAULT_SILENCE),
            idle: Mutex::default(),
        })
    }

    /// Makes sure that somebody listens.
    ///
    /// # Errors
    /// When no connection comes about.
    pub async fn reach(&self) -> Result<(), Failure> {
        let connection = self.connector.connect(&self.address).await?;
        self.keep(connection);
        Ok(())
    }

    /// Whether what is sent can be read on its way to another machine.
    pub fn is_readable_on_the_way(&self) -> bool {
        self.address.is_readable_on_the_way()
    }

    async fn exchange(&self, request: Request) -> Result<Response, Failure> {
        let silence = request.extensions().get().copied();
        let Silence(silence) = silence.unwrap_or(Silence(self.silence));
        let patience = Patience::new(silence);
        let mut request = self.addressed(request)?.map(|body| patience.watch(body));
        loop {
            let kept = self.take_idle();
            let is_kept = kept.is_some();
            let mut connection = match kept {
                Some(connection) => connection,
                None => self.connector.connect(&self.address).await?,
            };
            patience.begin();
            let sent = tokio::select! {
                sent = connection.try_send_request(request) => sent,
                () = patience.exhausted() => return Err(trouble::silent(&self.address, silence)),
            };
            match sent {
                Ok(response) => {
                    self.keep(connection);
                    let address = self.address.clone();
                    let answered = |body| Body::new(Answered::new(body, address, silence));
                    return Ok(response.map(answered));
                }
                Err(mut error) => match error.take_message() {
                    // The host had closed a connection that was kept, which is its right.
                    Some(unsent) if is_kept => request = unsent,
                    _ => return Err(trouble::broken(&self.address, error.error())),
                },
            }
        }
    }

    /// The request as it goes over the wire.
    fn addressed(&self, request: Request) -> Result<Request, Failure> {
        let (mut parts, body) = request.into_parts();
        parts.uri = self.address.target(&parts.uri)?;
        parts.headers.insert(HOST, self.address.host_header());
        let agent = HeaderValue::from_static(concat!("accord/", env!("CARGO_PKG_VERSION")));
        parts.headers.entry(USER_AGENT).or_insert(agent);
        if let Some(authorization) = &self.authorization {
            parts.headers.insert(AUTHORIZATION, authorization.clone());
        }
        Ok(Request::from_parts(parts, body))
    }

    fn take_idle(&self) -> Option<SendRequest<Body>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|connection| !connection.is_closed());
        let ready = idle.iter().position(SendRequest::is_ready)?;
        Some(idle.swap_remove(ready))
    }

    fn keep(&self, connection: SendRequest<Body>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE {
            idle.push(connection);
        }
    }
}

impl Api for Client {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        Box::pin(self.exchange(request))
    }
}

fn bearer(key: &str) -> Result<HeaderValue, Failure> {
    let header = HeaderValue::try_from(format!("Bearer {key}"));
    let mut header = header.map_err(|_| {
        Failure::new(
            Code::Usage,
            "the key has characters that no key has, such as a line break",
        )
    })?;
    header.set_sensitive(true);
    Ok(header)
}
