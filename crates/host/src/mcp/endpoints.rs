//! MCP over streamable HTTP: `/mcp` for all tools, `/mcp/{set}` for those of one set.
//!
//! The Host and Origin headers have been checked and the caller authenticated before. Requests of
//! MCP itself are answered here. Each tool call becomes a request to the host, as that caller.
//!
//! Clients of the revisions up to 2025-11-25 start a session and name it in a header. Those of
//! 2026-07-28 have no sessions: each request is independent, and the arguments name the session of
//! the memory.

use std::sync::Arc;

use accord_base::Caller;
use accord_contract::codes::{Code, Failure, Protocol};
use accord_memory_core::limits::MAX_PACKAGE_BYTES;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use futures_util::future::BoxFuture;
use hyper::header::{ALLOW, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, StatusCode};
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::call::CallContext;
use super::server::{ApiFor, ApiSource, Server};
use super::sessions::{CurrentRequest, SessionLimits, Sessions};
use super::toolset::{Toolbox, Toolset};
use crate::http::reply::Foreign;
use crate::http::streams::closing_down;
use crate::http::{Refusal, RouteName, errors};

/// The MCP endpoints of a host. Cheap to clone.
#[derive(Clone)]
pub struct McpEndpoints(Arc<Endpoints>);

struct Endpoints {
    endpoints: Vec<Endpoint>,
    /// Completes when the host closes. The first request takes it and waits for it.
    closing: Mutex<Option<BoxFuture<'static, ()>>>,
}

struct Endpoint {
    path: String,
    /// The protocol whose codes and error bodies refusals have.
    protocol: Protocol,
    service: StreamableHttpService<Server, Sessions>,
    sessions: Arc<Sessions>,
}

/// The endpoints for sets of tools: one for all of them, and one for each. `api_for` returns the
/// host as a caller may use it. When `closing` completes, all sessions end.
pub fn service(
    api_for: ApiFor,
    sets: &[&'static Toolset],
    limits: SessionLimits,
    closing: BoxFuture<'static, ()>,
) -> Result<McpEndpoints, Failure> {
    let endpoint = |path: String, sets: &[&'static Toolset]| {
        // With several protocols, refusals of the transport have Accord's own codes.
        let first = sets.first().map_or(Protocol::Accord, |set| set.protocol);
        let is_one = sets.iter().all(|set| set.protocol == first);
        let protocol = if is_one { first } else { Protocol::Accord };
        Ok::<_, Failure>(Endpoint::new(path, protocol, Toolbox::join(sets)?, &api_for, limits))
    };
    let mut endpoints = vec![endpoint("/mcp".into(), sets)?];
    for set in sets {
        endpoints.push(endpoint(format!("/mcp/{}", set.name), &[set])?);
    }
    Ok(McpEndpoints(Arc::new(Endpoints { endpoints, closing: Mutex::new(Some(closing)) })))
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

    /// The paths of the routes.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.endpoints.iter().map(|endpoint| endpoint.path.as_str())
    }

    /// The paths of the routes, with the protocol of their refusals.
    pub(crate) fn protocols(&self) -> impl Iterator<Item = (&str, Protocol)> {
        let endpoints = self.0.endpoints.iter();
        endpoints.map(|endpoint| (endpoint.path.as_str(), endpoint.protocol))
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.0.endpoints.iter().map(|endpoint| endpoint.sessions.count()).sum()
    }

    /// Waits for the end of the host, in a separate task. Does so once.
    fn end_with_host(&self) {
        if let Some(closing) = self.0.closing.lock().take() {
            let endpoints = self.clone();
            tokio::spawn(async move {
                closing.await;
                endpoints.end().await;
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
        protocol: Protocol,
        toolbox: Toolbox,
        api_for: &ApiFor,
        limits: SessionLimits,
    ) -> Self {
        let toolbox = Arc::new(toolbox);
        let api_source = ApiSource::Caller(Arc::clone(api_for));
        let server = move || {
            let toolbox = Arc::clone(&toolbox);
            Ok(Server::new(toolbox, api_source.clone(), CallContext::default()))
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
        Self { path, protocol, service, sessions }
    }

    async fn answer(&self, mut request: Request) -> Response {
        let Some(caller) = request.extensions().get::<Caller>() else {
            let failure = Failure::new(Code::AuthRequired, "the request has no caller");
            return Refusal(failure).into_response();
        };
        if self.service.config.cancellation_token.is_cancelled() {
            return Refusal(closing_down()).into_response();
        }
        let current = CurrentRequest::new(caller.label());
        let ends = request.method() == Method::DELETE;
        // The transport requires the header, even over a socket, where nothing reads it.
        let headers = request.headers_mut();
        headers.entry(HOST).or_insert(HeaderValue::from_static("localhost"));
        let response = current.scope(self.service.handle(request)).await;
        match current.refusal() {
            Some(failure) => Refusal(failure).into_response(),
            // Some clients take the 202 of the transport for a failure.
            None if ends && response.status().is_success() => {
                StatusCode::NO_CONTENT.into_response()
            }
            None => with_code(self.protocol, response.map(Body::new)).await,
        }
    }
}

/// The largest message: a call that deposits the largest package.
const LARGEST_MESSAGE: usize = MAX_PACKAGE_BYTES + 64 * 1024;

async fn enter(
    State((endpoints, index)): State<(McpEndpoints, usize)>,
    request: Request,
) -> Response {
    endpoints.end_with_host();
    let mut response = endpoints.0.endpoints[index].answer(request).await;
    response.extensions_mut().insert(RouteName("mcp"));
    response
}

/// Gives a refusal of the transport, which is plain text, a failure code. An answer to a JSON-RPC
/// message is JSON, and is not changed.
async fn with_code(protocol: Protocol, mut response: Response) -> Response {
    let status = response.status();
    let is_json = |value: &HeaderValue| value.as_bytes().starts_with(b"application/json");
    if status.is_success() {
        return response;
    }
    if response.headers().get(CONTENT_TYPE).is_some_and(is_json) {
        response.extensions_mut().insert(Foreign);
        return response;
    }
    let allow = response.headers().get(ALLOW).cloned();
    let body = axum::body::to_bytes(response.into_body(), 4096).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&body);
    let text = text.trim();
    let failure = match status {
        StatusCode::NOT_FOUND => {
            Failure::new(Code::McpSessionUnknown, "there is no such MCP session")
        }
        StatusCode::METHOD_NOT_ALLOWED => Failure::new(
            Code::HttpMethodNotAllowed,
            "this client has no session, so there is no stream to read and none to end",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => {
            Failure::new(errors::code_in(protocol, Code::InputTooLarge), text)
        }
        status if status.is_server_error() => {
            tracing::error!(%status, text, "the MCP transport failed");
            Failure::new(Code::HttpFault, "the MCP transport failed")
        }
        _ => Failure::new(Code::McpRequestInvalid, text),
    };
    let mut response = Refusal(failure).into_response();
    if let Some(allow) = allow {
        response.headers_mut().insert(ALLOW, allow);
    }
    response
}
