//! The door of a conformance server: `GET /conform/capabilities` and `POST /conform/execute`.
//!
//! Invariants:
//! - nobody learns or runs anything without the token;
//! - a connection carries one request, and connections, bodies, fixtures at once and the time of each are
//!   bounded;
//! - a fixture that takes too long, or whose client is gone, is ended with the programs that it started;
//! - a refusal reaches its client, also one that is still sending.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use accord_adapters::{Adapter as _, agentxchain};
use accord_contract::codes::{Code, Exchange, Failure, Protocol};
use accord_contract::fixture::{
    AdapterResult, CAPABILITIES_PATH, Capabilities, EXECUTE_PATH, HTTP_FIXTURE_V1, Status,
};
use accord_contract::wire::{Field, Value, Wire as _};
use accord_host::http::reply::{json, status_of};
use accord_host::http::{CORRELATION, Correlation};
use accord_process::Cancel;
use axum::response::Response;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{ALLOW, AUTHORIZATION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::token::Token;
use super::visits::{Pass, Visits};
use crate::error::CliError;

/// How many fixtures run at the same time; further ones wait.
const AT_ONCE: usize = 4;
/// The most bytes of a fixture.
const BODY_LIMIT: usize = 16 * 1024 * 1024;
/// How long the head of a request may take, and its body.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one fixture may take; the protocol's verifier waits for as long.
const FIXTURE_LIMIT: Duration = Duration::from_secs(30);
/// How long a connection may last: the whole exchange, with the wait for others' fixtures.
const VISIT_LIMIT: Duration = Duration::from_secs(120);
/// How many bytes that nobody wants are read after an answer, and how long to wait for each part of them.
const UNWANTED_LIMIT: usize = 64 * 1024 * 1024;
const UNWANTED_WAIT: Duration = Duration::from_secs(2);
/// How long fixtures may take to end when the server is told to.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// How long to wait when the machine has no more connections to give.
const BREATH: Duration = Duration::from_millis(50);

/// What Accord claims, as it says in its own folder.
const CLAIMS: &str = include_str!("../../../../../.agentxchain-conformance/capabilities.json");

/// A conformance server that listens.
pub(super) struct Door {
    listener: TcpListener,
    address: SocketAddr,
    inside: Arc<Inside>,
}

/// What every request is answered with.
struct Inside {
    token: Token,
    claims: String,
    running: Arc<Semaphore>,
}

impl Door {
    /// Listens on an address.
    pub(super) async fn open(listen: SocketAddr, token: Token) -> Result<Self, CliError> {
        let failed = |error: std::io::Error| {
            let message = format!("cannot listen on {listen}: {error}");
            CliError::new(Code::ServeListenFailed, message)
        };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        Ok(Self {
            address: listener.local_addr().map_err(failed)?,
            listener,
            inside: Arc::new(Inside {
                token,
                claims: claims()?,
                running: Arc::new(Semaphore::new(AT_ONCE)),
            }),
        })
    }

    /// Where it listens, with the real port.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `end`, then lets what runs come to its end, for a while.
    pub(super) async fn answer_until(self, end: impl Future<Output = ()>) {
        let mut visits = Visits::default();
        let mut end = std::pin::pin!(end);
        loop {
            tokio::select! {
                () = &mut end => break,
                accepted = self.listener.accept(), if visits.has_room() => match accepted {
                    Ok((stream, _)) => {
                        let inside = Arc::clone(&self.inside);
                        // Whoever does not come to an end within the limit is cut off.
                        let visit = |pass| async {
                            drop(timeout(VISIT_LIMIT, visit(stream, inside, pass)).await);
                        };
                        visits.begin(visit).await;
                    }
                    Err(_) => tokio::time::sleep(BREATH).await,
                },
                Some(()) = visits.one_ended() => {}
            }
        }
        drop(self.listener);
        drop(timeout(LAST_WORDS, visits.end()).await);
    }
}

/// One connection, with one request.
async fn visit(stream: TcpStream, inside: Arc<Inside>, pass: Pass) {
    let service = service_fn(|request| {
        let (inside, pass) = (Arc::clone(&inside), pass.clone());
        async move { Ok::<_, Infallible>(inside.answer(request, &pass).await) }
    });
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .keep_alive(false);
    let connection = protocol.serve_connection(TokioIo::new(stream), service);
    // A connection that broke off is its client's loss.
    if let Ok(ended) = connection.without_shutdown().await {
        drop(timeout(PATIENCE, hear_out(ended.io.into_inner())).await);
    }
}

/// Reads what a client still sends after its answer. Closed over bytes that nobody read, a connection is reset, and the
/// client finds that instead of the answer.
async fn hear_out(mut stream: TcpStream) {
    if stream.shutdown().await.is_err() {
        return;
    }
    let (mut unwanted, mut left) = (vec![0; 16 * 1024], UNWANTED_LIMIT);
    while let Ok(Ok(count @ 1..)) = timeout(UNWANTED_WAIT, stream.read(&mut unwanted)).await {
        left = left.saturating_sub(count);
        if left == 0 {
            return;
        }
    }
}

impl Inside {
    async fn answer(&self, request: Request<Incoming>, pass: &Pass) -> Response {
        let correlation = Correlation::of(request.headers());
        let mut response = match self.try_answer(request, pass).await {
            Ok(text) => json(StatusCode::OK, text),
            Err(failure) => refusal(&failure, correlation.exchange()),
        };
        let headers = response.headers_mut();
        headers.insert(CORRELATION, correlation.header());
        response
    }

    async fn try_answer(&self, request: Request<Incoming>, pass: &Pass) -> Result<String, Failure> {
        let wanted = match request.uri().path() {
            CAPABILITIES_PATH => Method::GET,
            EXECUTE_PATH => Method::POST,
            path => {
                let message = format!("there is no {path} here");
                return Err(Failure::new(Code::HttpRouteUnknown, message));
            }
        };
        if *request.method() != wanted {
            let message = format!("this route takes {wanted} alone");
            let failure = Failure::new(Code::HttpMethodNotAllowed, message);
            return Err(failure.with("allow", wanted.as_str()));
        }
        if !self.token.lets_in(request.headers().get(AUTHORIZATION)) {
            return Err(Failure::new(Code::Unauthorized, "Unauthorized"));
        }
        pass.grant();
        match wanted {
            Method::GET => Ok(self.claims.clone()),
            _ => {
                let fixture = body(request.into_body()).await?;
                Ok(self.execute(fixture).await.encode().to_string())
            }
        }
    }

    /// Carries a fixture out, once it is its turn.
    async fn execute(&self, fixture: Vec<u8>) -> AdapterResult {
        let closed = || AdapterResult::without_outcome(Status::Error, "the server is closing");
        let Ok(place) = Arc::clone(&self.running).acquire_owned().await else {
            return closed();
        };
        // Where the client goes away, this future is dropped, and the fixture must not run on.
        let ends_with_its_client = Ending(Cancel::new());
        let cancel = ends_with_its_client.0.clone();
        let adapter = agentxchain::Accord::default().cancelled_by(cancel);
        let work = tokio::task::spawn_blocking(move || {
            let result = adapter.answer(&fixture);
            // Also where nobody waits any more, the place is taken until here.
            drop(place);
            result
        });
        match timeout(FIXTURE_LIMIT, work).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => closed(),
            Err(_) => {
                let seconds = FIXTURE_LIMIT.as_secs();
                let message = format!("the fixture took more than {seconds} s and was given up");
                AdapterResult::without_outcome(Status::Error, message)
            }
        }
    }
}

/// Ends the programs of a fixture when it is dropped. Those that have ended are not touched.
struct Ending(Cancel);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The whole body of a request.
async fn body(body: Incoming) -> Result<Vec<u8>, Failure> {
    let too_large = || {
        let message = format!("the body is larger than the limit of {BODY_LIMIT} bytes");
        Failure::new(Code::InputTooLarge, message)
    };
    if body.size_hint().lower() > BODY_LIMIT as u64 {
        return Err(too_large());
    }
    match timeout(PATIENCE, Limited::new(body, BODY_LIMIT).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes().into()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Failure::new(
            Code::HttpBodyBroken,
            "the body of the request broke off before its end",
        )),
        Err(_) => {
            let message = format!("the body took more than {} s", PATIENCE.as_secs());
            Err(Failure::new(Code::HttpBodyTimeout, message))
        }
    }
}

fn refusal(failure: &Failure, exchange: Exchange) -> Response {
    let mut body = failure.body(Protocol::Accord, exchange);
    // Where the protocol's own verifier looks for words.
    body["message"] = failure.message.as_str().into();
    let mut response = json(status_of(failure.code), body.to_string());
    let allow = failure.details.as_ref().and_then(|all| all.get("allow"));
    if let Some(allow) = allow.and_then(Value::as_str)
        && let Ok(allow) = HeaderValue::from_str(allow)
    {
        response.headers_mut().insert(ALLOW, allow);
    }
    response
}

/// What Accord claims, for whoever asks over HTTP.
fn claims() -> Result<String, CliError> {
    let document = accord_canon::read(CLAIMS.as_bytes()).map_err(Failure::from)?;
    let mut claims = Capabilities::from_document(document).map_err(Failure::from)?;
    claims.adapter.protocol = HTTP_FIXTURE_V1.to_owned();
    claims.adapter.command = Field::Absent;
    Ok(claims.encode().to_string())
}
