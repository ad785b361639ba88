//! Requests to one endpoint, over connections that are kept.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{HOST, HeaderValue, USER_AGENT};
use hyper::{Request, Response, Uri};
use parking_lot::Mutex;

use crate::BoxError;
use crate::connect::Connector;
use crate::endpoint::Endpoint;
use crate::errors::ClientError;
use crate::inactivity::{Inactivity, ResponseBody};
use crate::reach::Reach;

pub(crate) type RequestBody = UnsyncBoxBody<Bytes, BoxError>;

/// How many connections are kept for later requests.
const MAX_IDLE: usize = 8;

pub struct Client {
    connector: Connector,
    inactivity: Duration,
    /// Connections whose last exchange has ended, or will end once its response has been read.
    idle: Mutex<Vec<SendRequest<RequestBody>>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For a connection, including the TLS handshake.
    pub connect: Duration,
    /// While the server neither accepts nor sends a byte.
    pub inactivity: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), inactivity: Duration::from_secs(60) }
    }
}

/// As an extension of a request: its own inactivity timeout.
#[derive(Clone, Copy, Debug)]
pub struct InactivityTimeout(pub Duration);

impl Client {
    /// A client of an endpoint. Opens no connection yet.
    pub fn new(endpoint: Endpoint, timeouts: Timeouts) -> Result<Self, ClientError> {
        Self::within(endpoint, timeouts, Reach::Any)
    }

    /// A client that connects only to some addresses of the endpoint.
    pub fn within(
        endpoint: Endpoint,
        timeouts: Timeouts,
        reach: Reach,
    ) -> Result<Self, ClientError> {
        Ok(Self {
            connector: Connector::new(endpoint, timeouts.connect, reach)?,
            inactivity: timeouts.inactivity,
            idle: Mutex::default(),
        })
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.connector.endpoint
    }

    /// Opens a connection, and keeps it for the first request.
    pub async fn connect(&self) -> Result<(), ClientError> {
        self.keep(self.connector.connect().await?);
        Ok(())
    }

    /// Sends a request and waits for the head of its response. Only path and query of its URI are
    /// used. A response with an error status is `Ok`.
    pub async fn send<B>(&self, request: Request<B>) -> Result<Response<ResponseBody>, ClientError>
    where
        B: hyper::body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let own = request.extensions().get::<InactivityTimeout>();
        let timeout = own.map_or(self.inactivity, |timeout| timeout.0);
        let inactivity = Inactivity::new(timeout);
        let mut request = self.prepare(request.map(|body| inactivity.watch(body)))?;
        loop {
            let kept = self.take_idle();
            let is_kept = kept.is_some();
            let mut connection = match kept {
                Some(connection) => connection,
                None => self.connector.connect().await?,
            };
            // Connecting has its own timeout and does not count as inactivity.
            inactivity.restart();
            let sent = tokio::select! {
                sent = connection.try_send_request(request) => sent,
                () = inactivity.exceeded() => {
                    return Err(ClientError::inactive(self.endpoint(), timeout));
                }
            };
            match sent {
                Ok(response) => {
                    self.keep(connection);
                    let endpoint = self.endpoint().clone();
                    return Ok(response.map(|body| ResponseBody::new(body, endpoint, timeout)));
                }
                // hyper gives the request back only if no byte of it was sent. Anything else may
                // have taken effect, so sending it again is up to the caller.
                Err(mut error) => match error.take_message() {
                    // The server closed a kept connection before it saw this request.
                    Some(unsent) if is_kept => request = unsent,
                    _ => return Err(ClientError::exchange(self.endpoint(), error.into_error())),
                },
            }
        }
    }

    /// The request as it goes over the wire: in origin form, with `Host` and `User-Agent`.
    fn prepare<B>(&self, request: Request<B>) -> Result<Request<B>, ClientError> {
        let (mut parts, body) = request.into_parts();
        // Not `path_and_query`: it has no leading slash in `http://host?query`.
        let (path, query) = (parts.uri.path(), parts.uri.query());
        let target = query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
        let too_long = |_| ClientError::usage("the path and query of the request are too long");
        parts.uri = target.parse::<Uri>().map_err(too_long)?;
        // Always replaced: a `Host` that differs from the endpoint would fail the server's check of
        // it.
        parts.headers.insert(HOST, self.endpoint().host_header());
        let agent = HeaderValue::from_static(concat!("accord/", env!("CARGO_PKG_VERSION")));
        parts.headers.entry(USER_AGENT).or_insert(agent);
        Ok(Request::from_parts(parts, body))
    }

    fn take_idle(&self) -> Option<SendRequest<RequestBody>> {
        let mut idle = self.idle.lock();
        idle.retain(|connection| !connection.is_closed());
        // A connection is kept before its response is read to the end; until then it is not ready.
        let ready = idle.iter().position(SendRequest::is_ready)?;
        Some(idle.swap_remove(ready))
    }

    fn keep(&self, connection: SendRequest<RequestBody>) {
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE {
            idle.push(connection);
        }
    }
}
