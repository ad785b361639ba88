//! MCP over streamable HTTP: sessions, whose they are, and how they end.

use std::time::Duration;

use accord_contract::Code;
use accord_host::mcp::SessionLimits;
use hyper::{Method, StatusCode};
use serde_json::json;
use tower::ServiceExt as _;

use super::client::initialize;
use super::house::{Answer, House, post, request};
use crate::support::soon;

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
async fn each_set_has_a_door_of_its_own() {
    let house = House::new(SessionLimits::default());
    let paths: Vec<&str> = house.endpoints.protocols().map(|(path, _)| path).collect();
    let sets = ["/mcp/memory", "/mcp/relay", "/mcp/tasks", "/mcp/live", "/mcp/inbox", "/mcp/runs"];
    assert_eq!(paths, [&["/mcp"][..], &sets].concat());
    for (path, first) in [
        ("/mcp", "memory_session_start"),
        ("/mcp/memory", "memory_session_start"),
        ("/mcp/relay", "relay_session_start"),
        ("/mcp/tasks", "aof_claim"),
    ] {
        let mut begin = post("a", None, "initialize", initialize());
        *begin.uri_mut() = path.parse().unwrap();
        let session = house.send(begin).await.session.unwrap();
        let mut list = post("a", Some(&session), "tools/list", json!({}));
        *list.uri_mut() = path.parse().unwrap();
        let tools = house.send(list).await.message["result"]["tools"].clone();
        assert_eq!(tools[0]["name"], first);
        let prefix = first.split('_').next().unwrap();
        let names = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
        assert!(names.into_iter().all(|name| name.starts_with(prefix)));
    }
    let mut begin = post("a", None, "initialize", initialize());
    *begin.uri_mut() = "/mcp/memory".parse().unwrap();
    let session = house.send(begin).await.session.unwrap();
    let mut list = post("a", Some(&session), "tools/list", json!({}));
    *list.uri_mut() = "/mcp/memory".parse().unwrap();
    house.send(list).await;
    // A session belongs to the endpoint where it was begun.
    let answer = house.call("a", &session, "memory_projects", json!({})).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_a_session_began_ends_with_it() {
    let house = House::new(SessionLimits { idle: Duration::from_secs(8), ..Default::default() });
    let ended = || {
        let asked = house.fake.asked();
        let ends = asked.into_iter().filter(|asked| asked.method == "PATCH");
        ends.map(|asked| asked.target).collect::<Vec<_>>()
    };
    let start = json!({"project_id": "p"});
    let session = house.begin("a").await;
    house.call("a", &session, "memory_session_start", start.clone()).await;
    // Another key ends nothing of it.
    house.send(request("b", Method::DELETE, Some(&session))).await;
    assert_eq!(ended(), [""; 0]);
    house.send(request("a", Method::DELETE, Some(&session))).await;
    assert_eq!(ended(), ["/v1/sessions/sess_1?project_id=p"]);
    // What its client ended itself is not ended again.
    let session = house.begin("a").await;
    house.call("a", &session, "memory_session_start", start.clone()).await;
    house.call("a", &session, "memory_session_end", json!({})).await;
    house.send(request("a", Method::DELETE, Some(&session))).await;
    assert_eq!(ended().len(), 2);
    // A client that is silent for too long leaves nothing open either.
    let session = house.begin("a").await;
    house.call("a", &session, "memory_session_start", start).await;
    house.is_left().await;
    crate::support::wait_until("the end of the session", || ended().len() == 3).await;
}

#[tokio::test]
async fn the_stream_of_a_key_that_was_revoked_ends_and_its_session_with_it() {
    let house = House::new(SessionLimits::default());
    let (gone, stays) = (house.begin("gone").await, house.begin("stays").await);
    house.call("gone", &gone, "memory_session_start", json!({"project_id": "p"})).await;
    let open = |who: &str, session: &str| {
        house.router.clone().oneshot(request(who, Method::GET, Some(session)))
    };
    let (ending, staying) = (open("gone", &gone).await.unwrap(), open("stays", &stays).await);
    house.shut_out.lock().unwrap().push("gone".into());
    let rest = axum::body::to_bytes(ending.into_body(), 1 << 20);
    soon("the end of the stream", rest).await.unwrap();
    assert_eq!(house.endpoints.sessions(), 1);
    assert_eq!(house.fake.last().method, "PATCH");
    drop(staying);
}
