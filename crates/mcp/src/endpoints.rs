//! MCP over streamable HTTP: `/mcp` for the first set of tools, `/mcp/{set}` for each.
//!
//! The Host and Origin headers have been checked and the caller authenticated before. Requests of
//! MCP itself are answered here. Each tool call becomes a request to the host, as that caller.
//!
//! Clients of the revisions up to 2025-11-25 start a session and name it in a header. Those of
//! 2026-07-28 have no sessions: each request is independent, and the arguments name the session of
//! the memory.
//!
//! A request is answered with one JSON document, or with a stream of events if there is more to
//! send than its answer.

use std::{any::Any, sync::Arc};

use accord_base::Caller;
use accord_contract::{Code, Failure, Protocol};
use accord_memory_core::limits::MAX_PACKAGE_BYTES;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::{Router, body::Body, routing::any};
use futures_util::future::{BoxFuture, FutureExt as _};
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode};
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::server::{ApiFor, ApiSource, Server};
use super::sessions::{CurrentRequest, Outcome, SessionLimits, Sessions};
use super::watch::{IsAccepted, watched};
use super::{CallContext, Toolbox, Toolset, headers, refused};
use accord_serving::{Refusal, RouteName, body::read_body, errors, streams::closing_down};

/// The MCP endpoints of a host. Cheap to clone.
#[derive(Clone)]
pub struct McpEndpoints(Arc<Endpoints>);

struct Endpoints {
    endpoints: Vec<Endpoint>,
    /// Completes when the host closes. The first request takes it and waits for it.
    closing: Mutex<Option<BoxFuture<'static, ()>>>,
    keep_open: KeepOpen,
}

struct Endpoint {
    path: String,
    /// The protocol whose codes and error bodies refusals have.
    protocol: Protocol,
    service: StreamableHttpService<Server, Sessions>,
    sessions: Arc<Sessions>,
    is_accepted: IsAccepted,
}

#[derive(Clone)]
pub struct HostAccess {
    pub api_for: ApiFor,
    /// Says whether a caller is still accepted, while a stream of its is open.
    pub is_accepted: IsAccepted,
    /// Returns a value that keeps the store of the host open until it is dropped.
    pub keep_open: KeepOpen,
}

pub type KeepOpen = Arc<dyn Fn() -> Box<dyn Any + Send> + Send + Sync>;

/// The endpoints for sets of tools: `/mcp` for the first, and one for each. When `closing`
/// completes, all sessions end.
pub fn service(
    host: HostAccess,
    sets: &[&'static Toolset],
    limits: SessionLimits,
    closing: BoxFuture<'static, ()>,
) -> Result<McpEndpoints, Failure> {
    // Two sets may be offered together on standard input and output.
    Toolbox::join(sets)?;
    let default = sets.iter().take(1).map(|set| ("/mcp".to_owned(), *set));
    let named = sets.iter().map(|set| (format!("/mcp/{}", set.name), *set));
    let endpoints = default.chain(named).map(|(path, set)| Endpoint::new(path, set, &host, limits));
    let endpoints = endpoints.collect::<Result<_, Failure>>()?;
    let closing = Mutex::new(Some(closing));
    Ok(McpEndpoints(Arc::new(Endpoints { endpoints, closing, keep_open: host.keep_open })))
}

impl McpEndpoints {
    /// The routes. Every request must have a [`Caller`] in its extensions.
    pub fn router<S: Clone + Send + Sync + 'static>(&self) -> Router<S> {
        let mut router = Router::new();
        for (index, endpoint) in self.0.endpoints.iter().enumerate() {
            let answer = any(enter).with_state((self.clone(), index));
            router = router.route(&endpoint.path, answer);
        }
        router
    }

    /// The paths of the routes, with the protocol of their refusals.
    pub fn protocols(&self) -> impl Iterator<Item = (&str, Protocol)> {
        let endpoints = self.0.endpoints.iter();
        endpoints.map(|endpoint| (endpoint.path.as_str(), endpoint.protocol))
    }

    pub fn sessions(&self) -> usize {
        self.0.endpoints.iter().map(|endpoint| endpoint.sessions.count()).sum()
    }

    /// Waits for the end of the host, in a separate task. Does so once.
    fn end_with_host(&self) {
        if let Some(closing) = self.0.closing.lock().take() {
            let endpoints = self.clone();
            // Ending sessions writes to the store.
            let kept_open = (self.0.keep_open)();
            accord_system::spawn(async move {
                closing.await;
                endpoints.end().await;
                drop(kept_open);
            });
        }
    }

    /// Ends all sessions and their streams, and refuses new ones.
    async fn end(&self) {
        for endpoint in &self.0.endpoints {
            endpoint.service.config.cancellation_token.cancel();
            endpoint.sessions.end().await;
        }
    }
}

impl Endpoint {
    fn new(
        path: String,
        set: &'static Toolset,
        host: &HostAccess,
        limits: SessionLimits,
    ) -> Result<Self, Failure> {
        let toolbox = Arc::new(Toolbox::join(&[set])?);
        let api_source = ApiSource::Caller(Arc::clone(&host.api_for));
        let server = move || {
            let (toolbox, api_source) = (Arc::clone(&toolbox), api_source.clone());
            let connection = CurrentRequest::connection();
            Ok(Server { toolbox, api_source, defaults: CallContext::default(), connection })
        };
        let sessions = Arc::new(Sessions::new(limits));
        let config = StreamableHttpServerConfig::default()
            // The guard of the host has checked Host and Origin, with the names that the operator
            // allows.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_sse_retry(None)
            .with_max_request_body_bytes(LARGEST_MESSAGE);
        let service = StreamableHttpService::new(server, Arc::clone(&sessions), config);
        let is_accepted = Arc::clone(&host.is_accepted);
        Ok(Self { path, protocol: set.protocol, service, sessions, is_accepted })
    }

    async fn answer(&self, request: Request) -> Response {
        let answered = self.try_answer(request).await;
        answered.unwrap_or_else(|mut failure| {
            failure.code = errors::code_in(self.protocol, failure.code);
            Refusal(failure).into_response()
        })
    }

    async fn try_answer(&self, request: Request) -> Result<Response, Failure> {
        let unknown = || Failure::new(Code::AuthRequired, "the request has no caller");
        let caller = request.extensions().get::<Caller>().ok_or_else(unknown)?.clone();
        if self.service.config.cancellation_token.is_cancelled() {
            return Err(closing_down());
        }
        let (mut parts, body) = request.into_parts();
        headers::check(&parts.method, &mut parts.headers)?;
        // The transport requires the header, even over a socket, where nothing reads it.
        parts.headers.entry(HOST).or_insert(HeaderValue::from_static("localhost"));
        let body = read_body(body, LARGEST_MESSAGE as u64).await?;
        let ends = parts.method == Method::DELETE;
        let session = parts.headers.get(SESSION).cloned();
        let current = CurrentRequest::new(caller.label());
        let sent = Request::from_parts(parts, Full::new(body.clone()));
        let response = current.scope(self.service.handle(sent)).await;
        match current.outcome() {
            Some(Outcome::Refused(failure)) => Err(failure),
            Some(Outcome::Answered(message)) => {
                Ok(headers::with_session(refused::json(&message)?, response.headers()))
            }
            // Some clients take the 202 of the transport for a failure.
            None if ends && response.status().is_success() => {
                Ok(StatusCode::NO_CONTENT.into_response())
            }
            None if is_stream(response.headers()) => {
                Ok(response.map(|body| self.watched(Body::new(body), caller, session)))
            }
            None if response.status().is_success() => Ok(response.map(Body::new)),
            None => refused::answer(self.protocol, response.map(Body::new), &body).await,
        }
    }

    /// A stream that ends when its caller is no longer accepted, and its session with it.
    fn watched(&self, body: Body, caller: Caller, session: Option<HeaderValue>) -> Body {
        let sessions = Arc::clone(&self.sessions);
        let shut_out = async move {
            if let Some(id) = session.as_ref().and_then(|id| id.to_str().ok()) {
                drop(sessions.close(&id.into()).await);
            }
        };
        watched(body, caller, Arc::clone(&self.is_accepted), shut_out.boxed())
    }
}

pub const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The largest message: a call that deposits the largest package.
const LARGEST_MESSAGE: usize = MAX_PACKAGE_BYTES + 64 * 1024;

async fn enter(State((mcp, index)): State<(McpEndpoints, usize)>, request: Request) -> Response {
    mcp.end_with_host();
    let mut response = mcp.0.endpoints[index].answer(request).await;
    response.extensions_mut().insert(RouteName("mcp"));
    response
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}
