//! An agent that waits over HTTP and goes away loses nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_base::Caller;
use accord_host::Api;
use accord_host::http::api_as;
use accord_live_core::SessionId;
use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::{action, agent, session, structured};
use crate::mcp::client::initialize;
use crate::support::{World, soon, wait_until};

/// How long an agent waits for an event, unless it goes away.
const WAIT: Duration = Duration::from_secs(25);

/// A client of the endpoint `/mcp/live` with a session.
struct Remote {
    api: Arc<dyn Api>,
    session: String,
}

impl Remote {
    async fn begin(world: &World) -> Self {
        let mut remote = Self { api: api_as(&world.host, Caller::owner()), session: String::new() };
        let begun = remote.send(remote.message(Some(1), "initialize", initialize())).await;
        assert_eq!(begun.status(), StatusCode::OK);
        remote.session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let ready = remote.message(None, "notifications/initialized", json!({}));
        assert_eq!(remote.send(ready).await.status(), StatusCode::ACCEPTED);
        remote
    }

    fn request(&self, method: Method, body: String) -> Request<Body> {
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp/live")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if !self.session.is_empty() {
            request = request.header("mcp-session-id", &self.session);
        }
        request.body(Body::from(body)).unwrap()
    }

    fn message(&self, id: Option<u64>, method: &str, params: Value) -> Request<Body> {
        let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if let Some(id) = id {
            message["id"] = id.into();
        }
        self.request(Method::POST, message.to_string())
    }

    async fn send(&self, request: Request<Body>) -> Response<Body> {
        soon("an answer of the endpoint", self.api.call(request)).await.unwrap()
    }

    /// A call that waits for an event of a live session.
    fn consume(&self, live: &str) -> Request<Body> {
        let arguments = json!({"sessionId": live, "timeout": WAIT.as_secs()});
        let params = json!({"name": "ggui_consume", "arguments": arguments});
        self.message(Some(2), "tools/call", params)
    }

    /// Begins to wait for an event of a live session, in a task.
    async fn wait(&self, world: &World, live: &str) -> tokio::task::JoinHandle<StatusCode> {
        let (api, request) = (Arc::clone(&self.api), self.consume(live));
        let waits = tokio::spawn(async move { api.call(request).await.unwrap().status() });
        let id = SessionId::new(live.to_owned()).unwrap();
        wait_until("the wait of the agent", || world.host.live().has_consumer(&id)).await;
        waits
    }
}

/// A person acts when the agent that waited has gone. The next agent gets the action.
async fn the_next_agent_gets_the_action(world: &World, live: &str) {
    let id = SessionId::new(live.to_owned()).unwrap();
    let began = Instant::now();
    wait_until("the end of the wait", || !world.host.live().has_consumer(&id)).await;
    assert!(began.elapsed() < WAIT - Duration::from_secs(5), "the wait ended by itself");
    let mut page = agent(world, "page").await;
    let acted = action(live, "a1", "approve", json!(null));
    let done = page.call("ggui_runtime_submit_action", acted).await;
    assert_eq!(structured(&done)["consumerPresent"], false);
    let next = Remote::begin(world).await;
    let answer = next.send(next.consume(live)).await.into_body().collect().await.unwrap();
    let answer: Value = serde_json::from_slice(&answer.to_bytes()).unwrap();
    let events = &answer["result"]["structuredContent"]["events"];
    assert_eq!(events[0]["actionId"], "a1", "{answer}");
}

#[tokio::test]
async fn an_agent_that_hangs_up_takes_nothing() {
    let world = World::new();
    let live = session(&mut agent(&world, "builder").await).await;
    let remote = Remote::begin(&world).await;
    let waits = remote.wait(&world, &live).await;
    // As the connection does when its client has gone.
    waits.abort();
    the_next_agent_gets_the_action(&world, &live).await;
}

#[tokio::test]
async fn an_agent_that_ends_its_session_takes_nothing() {
    let world = World::new();
    let live = session(&mut agent(&world, "builder").await).await;
    let remote = Remote::begin(&world).await;
    let waits = remote.wait(&world, &live).await;
    let ended = remote.send(remote.request(Method::DELETE, String::new())).await;
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    the_next_agent_gets_the_action(&world, &live).await;
    let answered = soon("the answer to the call", waits).await.unwrap();
    assert_eq!(answered, StatusCode::NOT_FOUND, "the session is unknown");
}
