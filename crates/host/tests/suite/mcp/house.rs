//! A host's MCP endpoints over HTTP, in this process.

use std::sync::{Arc, Mutex};

use accord_base::{Caller, KeyScope, Verb};
use accord_contract::Failure;
use accord_host::Api;
use accord_host::mcp::{self, HostAccess, McpEndpoints, SessionLimits, TOOLSETS, parse_actor};
use axum::Router;
use axum::body::Body;
use futures_util::FutureExt as _;
use hyper::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::client::initialize;
use super::fake::Fake;
use crate::support::wait_until;

/// A host's endpoints behind a layer that has authenticated the caller.
pub(crate) struct House {
    pub(crate) endpoints: McpEndpoints,
    pub(crate) router: Router,
    pub(crate) fake: Arc<Fake>,
    pub(crate) callers: Arc<Mutex<Vec<String>>>,
    /// The callers who are no longer accepted.
    pub(crate) shut_out: Arc<Mutex<Vec<String>>>,
    pub(crate) close: Mutex<Option<tokio::sync::oneshot::Sender<()>>>,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) session: Option<String>,
    pub(crate) failure: Option<Failure>,
    pub(crate) media_type: Option<String>,
    pub(crate) message: Value,
}

impl House {
    pub(crate) fn new(limits: SessionLimits) -> Self {
        Self::over(Fake::echoing(), limits)
    }

    pub(crate) fn over(fake: Arc<Fake>, limits: SessionLimits) -> Self {
        let callers = Arc::new(Mutex::new(Vec::new()));
        let (api, seen) = (fake.clone(), callers.clone());
        let api_for = move |caller: &Caller| {
            seen.lock().unwrap().push(caller.label().to_owned());
            api.clone() as Arc<dyn Api>
        };
        let shut_out = Arc::new(Mutex::new(Vec::<String>::new()));
        let gone = shut_out.clone();
        let is_accepted = move |caller: Caller| {
            let accepted = !gone.lock().unwrap().iter().any(|gone| gone == caller.label());
            std::future::ready(accepted).boxed()
        };
        let access = HostAccess {
            api_for: Arc::new(api_for),
            is_accepted: Arc::new(is_accepted),
            keep_open: Arc::new(|| Box::new(())),
        };
        let (close, closing) = tokio::sync::oneshot::channel();
        let closed = closing.map(drop);
        let endpoints = mcp::service(access, TOOLSETS, limits, closed.boxed()).unwrap();
        Self {
            router: endpoints.router(),
            endpoints,
            fake,
            callers,
            shut_out,
            close: Mutex::new(Some(close)),
        }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let header = response.headers().get("mcp-session-id");
        let session = header.map(|id| id.to_str().unwrap().to_owned());
        let (status, failure) = (response.status(), response.extensions().get().cloned());
        let media_type = response.headers().get("content-type");
        let media_type = media_type.map(|kind| kind.to_str().unwrap().to_owned());
        let body = axum::body::to_bytes(response.into_body(), 8 << 20).await.unwrap();
        let body = String::from_utf8(body.into()).unwrap();
        let lines = body.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut messages = lines.filter_map(|line| serde_json::from_str(line).ok());
        let message = messages.next().or(serde_json::from_str(&body).ok());
        Answer { status, session, failure, media_type, message: message.unwrap_or(Value::Null) }
    }

    pub(crate) async fn begin(&self, who: &str) -> String {
        let answer = self.send(post(who, None, "initialize", initialize())).await;
        assert_eq!(answer.message["result"]["serverInfo"]["name"], "accord");
        let session = answer.session.expect("a session");
        let mut ready = post(who, Some(&session), "notifications/initialized", json!({}));
        *ready.body_mut() =
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string().into();
        assert_eq!(self.send(ready).await.status, StatusCode::ACCEPTED);
        session
    }

    /// Waits until there is no session any more.
    pub(crate) async fn is_left(&self) {
        wait_until("the end of all sessions", || self.endpoints.sessions() == 0).await;
    }

    pub(crate) async fn call(
        &self,
        who: &str,
        session: &str,
        tool: &str,
        arguments: Value,
    ) -> Answer {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(post(who, Some(session), "tools/call", params)).await
    }
}

/// A request of a key; the key `bound` is an actor's.
pub(crate) fn request(who: &str, method: Method, session: Option<&str>) -> Request<Body> {
    let mut scope = KeyScope::new(vec![Verb::Write, Verb::Read], None);
    if who == "bound" {
        scope = scope.bound_to(parse_actor("agent:keyholder").unwrap(), false);
    }
    let mut request = Request::builder()
        .method(method)
        .uri("/mcp")
        .header("host", "localhost")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    let mut request = request.body(Body::empty()).unwrap();
    request.extensions_mut().insert(Caller::key(who, &scope));
    request
}

pub(crate) fn post(who: &str, session: Option<&str>, method: &str, params: Value) -> Request<Body> {
    let mut request = request(who, Method::POST, session);
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    *request.body_mut() = message.to_string().into();
    request
}
