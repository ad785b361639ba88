//! Clients without MCP sessions: those of 2026-07-28 over HTTP.

use accord_contract::{Code, Failure};
use accord_host::mcp::SessionLimits;
use axum::body::Body;
use hyper::Request;
use serde_json::{Value, json};

use super::fake::{Fake, complete, refusing};
use super::house::{House, post};

/// A call that names its revision and client in itself.
fn stateless(who: &str, tool: &str, arguments: Value) -> Request<Body> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let mut request = post(who, None, "tools/call", params);
    for (name, value) in
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", tool)]
    {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    request
}

/// A host with one session, of `agent:ada` in the project `p`.
fn with_session() -> std::sync::Arc<Fake> {
    let echo = Fake::echoing();
    Fake::new(move |asked| {
        if asked.method == "GET" && asked.target.starts_with("/v1/sessions/") {
            if !asked.target.starts_with("/v1/sessions/sess_1") {
                let message = "there is no session";
                return refusing(&Failure::new(Code::AgenticSessionNotFound, message));
            }
            let mut session = json!({
                "session_id": "sess_1", "project_id": "p", "actor_id": "ada", "actor_type": "agent"
            });
            complete(&mut session);
            return Ok((200, session.to_string()));
        }
        echo.reply(asked)
    })
}

#[tokio::test]
async fn a_write_needs_an_actor_or_the_session_that_was_started() {
    let house = House::over(with_session(), SessionLimits::default());
    let start = json!({"project_id": "p"});
    let answer = house.send(stateless("a", "memory_session_start", start)).await;
    let receipt = &answer.message["result"]["structuredContent"];
    assert!(receipt["next"].as_str().unwrap().contains("session_id"), "{}", answer.message);
    assert_eq!(house.fake.last().body["actor_id"], "modern");
    assert_eq!(house.endpoints.sessions(), 0);

    // Nothing is written under the name of the client.
    let asked = house.fake.asked().len();
    for (tool, arguments) in [
        ("memory_deposit", json!({"title": "T", "project_id": "p"})),
        (
            "memory_fact_assert",
            json!({"project_id": "p", "subject": "s", "predicate": "p", "value": "v"}),
        ),
        ("memory_fact_invalidate", json!({"project_id": "p", "subject": "s", "predicate": "p"})),
        ("memory_flag", json!({"package_id": "k", "review_type": "human"})),
        ("memory_review", json!({"package_id": "k", "action": "approve"})),
    ] {
        let answer = house.send(stateless("a", tool, arguments)).await;
        let error = &answer.message["result"]["structuredContent"]["error"];
        assert_eq!(error["code"], "MCP_SESSION_NEEDED", "{tool} {}", answer.message);
        let what_to_do = error["what_to_do"].as_str().unwrap();
        assert!(what_to_do.contains("memory_session_start"), "{what_to_do}");
    }
    assert_eq!(house.fake.asked().len(), asked);

    // The session gives the actor and the project.
    let arguments = json!({"title": "T", "session_id": "sess_1"});
    house.send(stateless("a", "memory_deposit", arguments)).await;
    let by = json!({"id": "ada", "type": "agent", "session_id": "sess_1"});
    assert_eq!(house.fake.last().body["created_by"], by);
    assert_eq!(house.fake.last().target, "/v1/projects/p/packages");
    // So does the actor.
    let arguments = json!({"title": "T", "project_id": "q", "actor": "human:eve"});
    house.send(stateless("a", "memory_deposit", arguments)).await;
    assert_eq!(house.fake.last().body["created_by"], json!({"id": "eve", "type": "human"}));
    // A session that does not exist is refused.
    let arguments = json!({"title": "T", "session_id": "sess_2"});
    let answer = house.send(stateless("a", "memory_deposit", arguments)).await;
    let error = &answer.message["result"]["structuredContent"]["error"];
    assert_eq!(error["code"], "session_not_found", "{}", answer.message);
}

#[tokio::test]
async fn reads_and_keys_with_an_actor_need_neither() {
    let house = House::over(with_session(), SessionLimits::default());
    let answer = house.send(stateless("a", "memory_pull", json!({"project_id": "p"}))).await;
    assert_eq!(answer.message["result"]["isError"], false, "{}", answer.message);
    let arguments = json!({"title": "T", "project_id": "p"});
    house.send(stateless("bound", "memory_deposit", arguments)).await;
    let by = json!({"id": "keyholder", "type": "agent"});
    assert_eq!(house.fake.last().body["created_by"], by);
    // The session is its own project's; the actor stays that of the key.
    let arguments = json!({"title": "T", "session_id": "sess_1"});
    house.send(stateless("bound", "memory_deposit", arguments)).await;
    let by = json!({"id": "keyholder", "type": "agent", "session_id": "sess_1"});
    assert_eq!(house.fake.last().body["created_by"], by);
}

#[tokio::test]
async fn a_header_that_names_a_session_does_not_make_one() {
    let house = House::over(with_session(), SessionLimits::default());
    let mut request = stateless("a", "memory_deposit", json!({"title": "T", "project_id": "p"}));
    request.headers_mut().insert("mcp-session-id", "made-up".parse().unwrap());
    let answer = house.send(request).await;
    let error = &answer.message["result"]["structuredContent"]["error"];
    assert_eq!(error["code"], "MCP_SESSION_NEEDED", "{}", answer.message);
}

#[tokio::test]
async fn what_the_revision_does_not_have_is_no_method() {
    let house = House::over(with_session(), SessionLimits::default());
    for method in ["initialize", "ping", "logging/setLevel", "tools/cal"] {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}
        });
        let mut request = post("a", None, method, json!({"_meta": meta}));
        for (name, value) in [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)] {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let answer = house.send(request).await;
        let error = &answer.message["error"];
        assert_eq!((answer.status.as_u16(), &error["code"]), (404, &json!(-32_601)), "{method}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("does not offer the method"), "{message}");
    }
}
