//! What a conformance server answers: `GET /conform/capabilities` and `POST /conform/execute`.
//!
//! Invariants:
//! - Nothing is answered or executed without the token.
//! - The size of a fixture, the number of fixtures at once and the time of each are limited.
//! - A fixture that takes too long, or whose client has disconnected, is ended together with the
//!   programs that it started.

use std::sync::Arc;
use std::time::Duration;

use accord_adapters::{Adapter as _, agentxchain};
use accord_contract::fixture::{
    AdapterResult, CAPABILITIES_PATH, Capabilities, EXECUTE_PATH, HTTP_FIXTURE_V1, Status,
};
use accord_contract::{Code, Failure, Field, Wire as _};
use accord_host::http::body::read_body;
use accord_host::http::reply::json;
use accord_host::serve::{Authenticated, Service};
use accord_host::{Request, Response};
use accord_process::Cancel;
use axum::body::Bytes;
use futures_util::future::BoxFuture;
use hyper::header::AUTHORIZATION;
use hyper::{Method, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::token::Token;
use crate::Result;

/// How many fixtures run at the same time; further ones wait.
const MAX_RUNNING: usize = 4;
/// The largest fixture, in bytes.
const BODY_LIMIT: u64 = 16 * 1024 * 1024;
/// How long one fixture may take. The protocol's verifier waits for as long.
const FIXTURE_TIMEOUT: Duration = Duration::from_secs(30);

/// What Accord claims, as its own repository says.
const CLAIMS: &str = include_str!("../../../../../.agentxchain-conformance/capabilities.json");

/// Executes fixtures for clients that have the token.
pub(super) struct FixtureService {
    token: Token,
    claims: String,
    running: Arc<Semaphore>,
}

impl FixtureService {
    pub(super) fn new(token: Token) -> Result<Self> {
        Ok(Self { token, claims: claims()?, running: Arc::new(Semaphore::new(MAX_RUNNING)) })
    }

    async fn try_answer(
        &self,
        request: Request,
        connection: &Authenticated,
    ) -> Result<Response, Failure> {
        // Before the route is looked up: a stranger learns nothing about the server.
        if !self.token.matches(request.headers().get(AUTHORIZATION)) {
            return Err(Failure::new(Code::Unauthorized, "Unauthorized"));
        }
        // Only now: a connection that has not authenticated can be closed to make room for others.
        connection.set();
        let expected = match request.uri().path() {
            CAPABILITIES_PATH => Method::GET,
            EXECUTE_PATH => Method::POST,
            path => {
                let message = format!("there is no route {path}");
                return Err(Failure::new(Code::HttpRouteUnknown, message));
            }
        };
        if *request.method() != expected {
            let message = format!("this route accepts only {expected}");
            let failure = Failure::new(Code::HttpMethodNotAllowed, message);
            return Err(failure.with("allow", expected.as_str()));
        }
        if expected == Method::GET {
            return Ok(json(StatusCode::OK, self.claims.clone()));
        }
        // After the token was checked, so that a stranger cannot make the server read a large body.
        let fixture = read_body(request.into_body(), BODY_LIMIT).await?;
        Ok(json(StatusCode::OK, self.execute(fixture).await.encode().to_string()))
    }

    async fn execute(&self, fixture: Bytes) -> AdapterResult {
        let closed = || AdapterResult::without_outcome(Status::Error, "the server is closing");
        let Ok(permit) = Arc::clone(&self.running).acquire_owned().await else { return closed() };
        // If the client disconnects, this future is dropped, and the fixture must end.
        let cancel_on_drop = CancelOnDrop(Cancel::new());
        let adapter = agentxchain::Accord::default().cancelled_by(cancel_on_drop.0.clone());
        let work = tokio::task::spawn_blocking(move || {
            let result = adapter.answer(&fixture);
            // A cancelled fixture keeps its permit until it has ended.
            drop(permit);
            result
        });
        match timeout(FIXTURE_TIMEOUT, work).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => closed(),
            Err(_) => {
                let seconds = FIXTURE_TIMEOUT.as_secs();
                let message = format!("the fixture took more than {seconds} s and was cancelled");
                AdapterResult::without_outcome(Status::Error, message)
            }
        }
    }
}

impl Service for FixtureService {
    fn answer<'a>(
        &'a self,
        request: Request,
        connection: &'a Authenticated,
    ) -> BoxFuture<'a, Result<Response, Failure>> {
        Box::pin(self.try_answer(request, connection))
    }
}

struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// What Accord claims when it is judged over HTTP.
fn claims() -> Result<String> {
    let document = accord_canon::read(CLAIMS.as_bytes()).map_err(Failure::from)?;
    let mut claims = Capabilities::from_document(document).map_err(Failure::from)?;
    claims.adapter.protocol = HTTP_FIXTURE_V1.to_owned();
    // The file describes the local adapter. A server has no command.
    claims.adapter.command = Field::Absent;
    Ok(claims.encode().to_string())
}
