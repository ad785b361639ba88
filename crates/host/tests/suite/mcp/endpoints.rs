//! MCP over streamable HTTP: sessions, whose they are, and how they end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use accord_base::{Caller, KeyScope, Verb};
use accord_contract::codes::{Code, Failure};
use accord_host::Api;
use accord_host::mcp::{self, McpEndpoints, SessionLimits, TOOLSETS, parse_actor};
use axum::Router;
use axum::body::Body;
use futures_util::FutureExt as _;
use hyper::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::client::initialize;
use super::fake::Fake;
use crate::support::{soon, wait_until};

/// A host's endpoints before which somebody else has found out who asks.
struct House {
    endpoints: McpEndpoints,
    router: Router,
    fake: Arc<Fake>,
    callers: Arc<Mutex<Vec<String>>>,
    close: Mutex<Option<tokio::sync::oneshot::Sender<()>>>,
}

struct Answer {
    status: StatusCode,
    session: Option<String>,
    failure: Option<Failure>,
    message: Value,
}

impl House {
    fn new(limits: SessionLimits) -> Self {
        let fake = Fake::echoing();
        let callers = Arc::new(Mutex::new(Vec::new()));
        let (api, seen) = (fake.clone(), callers.clone());
        let api_for = move |caller: &Caller| {
            seen.lock().unwrap().push(caller.label().to_owned());
            api.clone() as Arc<dyn Api>
        };
        let (close, closing) = tokio::sync::oneshot::channel();
        let closed = closing.map(drop);
        let endpoints = mcp::service(Arc::new(api_for), TOOLSETS, limits, closed.boxed()).unwrap();
        Self {
            router: endpoints.router(),
            endpoints,
            fake,
            callers,
            close: Mutex::new(Some(close)),
        }
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let header = response.headers().get("mcp-session-id");
        let session = header.map(|id| id.to_str().unwrap().to_owned());
        let (status, failure) = (response.status(), response.extensions().get().cloned());
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let body = String::from_utf8(body.into()).unwrap();
        let lines = body.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut messages = lines.filter_map(|line| serde_json::from_str(line).ok());
        let message = messages.next().or(serde_json::from_str(&body).ok());
        Answer { status, session, failure, message: message.unwrap_or(Value::Null) }
    }

    async fn begin(&self, who: &str) -> String {
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
    async fn is_left(&self) {
        wait_until("the end of all sessions", || self.endpoints.sessions() == 0).await;
    }

    async fn call(&self, who: &str, session: &str, tool: &str, arguments: Value) -> Answer {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(post(who, Some(session), "tools/call", params)).await
    }
}

/// A request of a key; the key `bound` is an actor's.
fn request(who: &str, method: Method, session: Option<&str>) -> Request<Body> {
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

fn post(who: &str, session: Option<&str>, method: &str, params: Value) -> Request<Body> {
    let mut request = request(who, Method::POST, session);
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    *request.body_mut() = message.to_string().into();
    request
}

#[tokio::test]
async fn a_call_is_made_as_the_caller_of_its_request() {
    let house = House::new(SessionLimits::default());
    let session = house.begin("bound").await;
    let answer =
        house.call("bound", &session, "memory_session_start", json!({"project_id": "p"})).await;
    assert_eq!(answer.message["result"]["structuredContent"]["session_id"], "sess_1");
    house.call("bound", &session, "memory_deposit", json!({"title": "T"})).await;
    let by = json!({"id": "keyholder", "type": "agent", "session_id": "sess_1"});
    assert_eq!(house.fake.last().body["created_by"], by);
    assert_eq!(*house.callers.lock().unwrap(), ["bound", "bound"]);
}

#[tokio::test]
async fn a_session_is_there_for_the_key_that_began_it_alone() {
    let house = House::new(SessionLimits::default());
    let session = house.begin("a").await;
    let unknown = |answer: &Answer| {
        let failure = answer.failure.as_ref().map(|failure| failure.code);
        assert_eq!(
            (answer.status, failure),
            (StatusCode::NOT_FOUND, Some(Code::McpSessionUnknown))
        );
    };
    unknown(&house.call("b", &session, "memory_projects", json!({})).await);
    unknown(&house.send(request("b", Method::GET, Some(&session))).await);
    unknown(&house.call("a", "no-such-session", "memory_projects", json!({})).await);
    // Another key cannot end it either, nor see whether it is there.
    let theirs = house.send(request("b", Method::DELETE, Some(&session))).await;
    let nobodys = house.send(request("b", Method::DELETE, Some("no-such-session"))).await;
    assert_eq!((theirs.status, nobodys.status), (StatusCode::NO_CONTENT, StatusCode::NO_CONTENT));
    assert_eq!(house.fake.asked().len(), 0);
    let answer = house.call("a", &session, "memory_projects", json!({})).await;
    assert_eq!(answer.message["result"]["isError"], false);
    // Its own key can.
    house.send(request("a", Method::DELETE, Some(&session))).await;
    unknown(&house.call("a", &session, "memory_projects", json!({})).await);
    assert_eq!(house.endpoints.sessions(), 0);
}

#[tokio::test]
async fn sessions_are_bounded_in_number() {
    let limits = SessionLimits { total: 3, per_caller: 2, ..SessionLimits::default() };
    let house = House::new(limits);
    let (first, second) = (house.begin("a").await, house.begin("a").await);
    house.call("a", &first, "memory_projects", json!({})).await;
    // A third one of the same key ends the one that was idle the longest.
    let third = house.begin("a").await;
    for (session, status) in
        [(&first, StatusCode::OK), (&second, StatusCode::NOT_FOUND), (&third, StatusCode::OK)]
    {
        assert_eq!(house.call("a", session, "memory_projects", json!({})).await.status, status);
    }
    house.begin("b").await;
    let refused = house.send(post("c", None, "initialize", initialize())).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.failure.unwrap().code, Code::McpTooManySessions);
    assert_eq!(house.endpoints.sessions(), 3);
}

#[tokio::test]
async fn a_session_that_is_idle_ends() {
    let limits = SessionLimits { idle: Duration::from_secs(2), ..SessionLimits::default() };
    let house = House::new(limits);
    let session = house.begin("a").await;
    house.is_left().await;
    let answer = house.call("a", &session, "memory_projects", json!({})).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn sessions_and_streams_end_with_the_host() {
    let house = House::new(SessionLimits::default());
    let session = house.begin("a").await;
    let open = house.router.clone().oneshot(request("a", Method::GET, Some(&session)));
    let open = open.await.unwrap();
    assert_eq!(open.status(), StatusCode::OK);
    house.close.lock().unwrap().take().unwrap().send(()).unwrap();
    let rest = axum::body::to_bytes(open.into_body(), 1 << 20);
    soon("the end of the stream", rest).await.unwrap();
    house.is_left().await;
    let answer = house.send(post("a", None, "initialize", initialize())).await;
    assert_eq!(answer.failure.unwrap().code, Code::HostClosing);
}

#[tokio::test]
async fn a_client_that_keeps_no_session_is_served_and_told_to_pass_it_on() {
    let house = House::new(SessionLimits::default());
    let stateless = |tool: &str, arguments: Value| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let mut request = post("a", None, "tools/call", params);
        for (name, value) in [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ] {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        request
    };
    let answer = house.send(stateless("memory_session_start", json!({"project_id": "p"}))).await;
    let receipt = &answer.message["result"]["structuredContent"];
    assert!(receipt["next"].as_str().unwrap().contains("session_id"), "{}", answer.message);
    assert_eq!(house.fake.last().body["actor_id"], "modern");
    let answer = house.send(stateless("memory_deposit", json!({"title": "T"}))).await;
    let error = &answer.message["result"]["structuredContent"]["error"];
    assert_eq!(error["code"], "MCP_ARGUMENT_MISSING", "{}", answer.message);
    let arguments = json!({"title": "T", "project_id": "p", "session_id": "sess_1"});
    house.send(stateless("memory_deposit", arguments)).await;
    let by = json!({"id": "modern", "type": "agent", "session_id": "sess_1"});
    assert_eq!(house.fake.last().body["created_by"], by);
    assert_eq!(house.endpoints.sessions(), 0);
}

#[tokio::test]
async fn each_set_has_a_door_of_its_own() {
    let house = House::new(SessionLimits::default());
    assert_eq!(house.endpoints.paths().collect::<Vec<_>>(), ["/mcp", "/mcp/memory"]);
    let mut begin = post("a", None, "initialize", initialize());
    *begin.uri_mut() = "/mcp/memory".parse().unwrap();
    let session = house.send(begin).await.session.unwrap();
    let mut list = post("a", Some(&session), "tools/list", json!({}));
    *list.uri_mut() = "/mcp/memory".parse().unwrap();
    let answer = house.send(list).await;
    assert!(answer.message["result"]["tools"].as_array().unwrap().len() > 10);
    // A session belongs to the endpoint where it was begun.
    let answer = house.call("a", &session, "memory_projects", json!({})).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_is_not_mcp_is_refused_with_a_code() {
    let house = House::new(SessionLimits::default());
    let session = house.begin("a").await;
    let code =
        |answer: Answer| (answer.status.as_u16(), answer.failure.map(|failure| failure.code));

    let mut nobody = post("a", None, "initialize", initialize());
    nobody.extensions_mut().clear();
    assert_eq!(code(house.send(nobody).await), (401, Some(Code::AuthRequired)));

    let mut deaf = post("a", None, "initialize", initialize());
    deaf.headers_mut().remove("accept");
    assert_eq!(code(house.send(deaf).await), (400, Some(Code::McpRequestInvalid)));

    let mut garbage = post("a", Some(&session), "tools/list", json!({}));
    *garbage.body_mut() = "{".into();
    assert_eq!(code(house.send(garbage).await), (400, Some(Code::McpRequestInvalid)));

    let mut huge = post("a", Some(&session), "tools/list", json!({}));
    *huge.body_mut() = " ".repeat(5 * 1024 * 1024).into();
    assert_eq!(code(house.send(huge).await), (413, Some(Code::AgenticPayloadTooLarge)));

    let put = request("a", Method::PUT, Some(&session));
    assert_eq!(code(house.send(put).await), (405, Some(Code::HttpMethodNotAllowed)));

    let sessionless = post("a", None, "tools/list", json!({}));
    assert_eq!(code(house.send(sessionless).await), (400, Some(Code::McpRequestInvalid)));
}
