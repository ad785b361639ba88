//! Requests over HTTP: what is answered as JSON, and what is refused before a tool sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use accord_contract::Code;
use accord_host::mcp::SessionLimits;
use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use super::client::initialize;
use super::fake::Fake;
use super::house::{Answer, House, post, request};
use crate::support::{soon, wait_until};

const JSON: Option<&str> = Some("application/json");

#[tokio::test]
async fn one_answer_is_one_document_of_json() {
    let text = json!({"package_id": "k", "content_md": "the ".repeat(3 << 18)}).to_string();
    let house = House::over(Fake::new(move |_| Ok((200, text.clone()))), SessionLimits::default());
    let begun = house.send(post("a", None, "initialize", initialize())).await;
    assert_eq!(begun.media_type.as_deref(), JSON);
    let session = begun.session.expect("a session");
    let listed = house.send(post("a", Some(&session), "tools/list", json!({}))).await;
    assert_eq!((listed.status, listed.media_type.as_deref()), (StatusCode::OK, JSON));
    let arguments = json!({"package_id": "k", "max_tokens": 1_000_000});
    let answer = house.call("a", &session, "memory_pull", arguments).await;
    assert_eq!(answer.media_type.as_deref(), JSON);
    let text = answer.message["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.len() > 3 << 20);
}

#[tokio::test]
async fn a_second_request_with_the_id_of_a_pending_one_is_refused() {
    let (arrived, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Semaphore::new(0)));
    let gate = super::fake::Gate { arrived: arrived.clone(), go: go.clone() };
    let fake = Fake::giving(json!({"projects": [], "next_cursor": null})).behind(gate);
    let house = Arc::new(House::over(fake, SessionLimits::default()));
    let session = house.begin("a").await;
    let ask = |id: Value| {
        let (house, session) = (house.clone(), session.clone());
        async move {
            let params = json!({"name": "memory_projects", "arguments": {}});
            let mut request = post("a", Some(&session), "tools/call", params.clone());
            let message =
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
            *request.body_mut() = message.to_string().into();
            house.send(request).await
        }
    };
    let first = tokio::spawn(ask(json!(7)));
    wait_until("the first call", || arrived.load(Ordering::Acquire) == 1).await;
    for _ in 0..119 {
        let refused = soon("a refusal", ask(json!(7))).await;
        let code = refused.failure.map(|failure| failure.code);
        assert_eq!((refused.status, code), (StatusCode::CONFLICT, Some(Code::McpDuplicateId)));
    }
    // Another id is another request, and so is a text.
    let others = [tokio::spawn(ask(json!(8))), tokio::spawn(ask(json!("7")))];
    wait_until("the other calls", || arrived.load(Ordering::Acquire) == 3).await;
    go.add_permits(100);
    for call in [first].into_iter().chain(others) {
        let answer = soon("an answer", call).await.unwrap();
        assert_eq!(answer.message["result"]["isError"], false, "{}", answer.message);
    }
    // After its answer, an id is free.
    for _ in 0..3 {
        assert_eq!(soon("an answer", ask(json!(7))).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_no_id_behind() {
    let (arrived, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Semaphore::new(0)));
    let gate = super::fake::Gate { arrived: arrived.clone(), go: go.clone() };
    let fake = Fake::giving(json!({"projects": [], "next_cursor": null})).behind(gate);
    let house = Arc::new(House::over(fake, SessionLimits::default()));
    let session = house.begin("a").await;
    let call = || {
        let (house, session) = (house.clone(), session.clone());
        async move { house.call("a", &session, "memory_projects", json!({})).await }
    };
    let gone = tokio::spawn(call());
    wait_until("the call", || arrived.load(Ordering::Acquire) == 1).await;
    gone.abort();
    // The call is still carried out, so its id is taken.
    assert_eq!(call().await.status, StatusCode::CONFLICT);
    go.add_permits(100);
    let mut status = StatusCode::CONFLICT;
    while status == StatusCode::CONFLICT {
        status = soon("an answer", call()).await.status;
    }
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn malformed_params_are_an_error_that_names_them() {
    let house = House::new(SessionLimits::default());
    let session = house.begin("a").await;
    for (method, params, code, words) in [
        ("tools/call", json!({"arguments": {}}), -32_602, "name is missing"),
        (
            "tools/call",
            json!({"name": "memory_projects", "arguments": []}),
            -32_602,
            "arguments must be an object, not a list",
        ),
        (
            "tools/call",
            json!({"name": "memory_projectz"}),
            -32_602,
            "Did you mean memory_projects?",
        ),
        ("tools/call", json!(null), -32_602, "name is missing"),
        ("tools/list", json!({"cursor": "x"}), -32_602, "has one page"),
        ("tools/cal", json!({}), -32_601, "did you mean tools/call?"),
        ("logging/setLevel", json!({"level": "info"}), -32_601, "does not offer the method"),
        ("resources/subscribe", json!({"uri": "a:b"}), -32_601, "does not offer the method"),
        ("resources/read", json!({"uri": 1}), -32_602, "uri must be a string"),
        ("prompts/get", json!({}), -32_602, "name is missing"),
    ] {
        let answer = house.send(post("a", Some(&session), method, params)).await;
        let error = &answer.message["error"];
        assert_eq!(error["code"], code, "{method} {}", answer.message);
        assert!(error["message"].as_str().unwrap().contains(words), "{method} {error}");
    }
    // Arguments that a tool refuses are a result.
    let answer = house.call("a", &session, "memory_deposit", json!({"title": 5})).await;
    assert_eq!(answer.message["result"]["isError"], true, "{}", answer.message);
    assert_eq!(house.fake.asked().len(), 0);

    let mut initialize = initialize();
    initialize.as_object_mut().unwrap().remove("clientInfo");
    let answer = house.send(post("a", None, "initialize", initialize)).await;
    assert_eq!(
        (answer.status, &answer.message["error"]["code"]),
        (StatusCode::BAD_REQUEST, &json!(-32_602))
    );
    let message = answer.message["error"]["message"].as_str().unwrap();
    assert!(message.contains("clientInfo is missing"), "{message}");
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

    for accepted in [None, Some("application/json"), Some("text/event-stream"), Some("text/html")] {
        let mut request = post("a", Some(&session), "tools/list", json!({}));
        request.headers_mut().remove("accept");
        if let Some(accepted) = accepted {
            request.headers_mut().insert("accept", accepted.parse().unwrap());
        }
        assert_eq!(code(house.send(request).await), (406, Some(Code::HttpNotAcceptable)));
    }
    let mut wildcard = post("a", Some(&session), "tools/list", json!({}));
    wildcard.headers_mut().insert("accept", "*/*".parse().unwrap());
    assert_eq!(code(house.send(wildcard).await), (200, None));
    let mut stream = request("a", Method::GET, Some(&session));
    stream.headers_mut().insert("accept", "application/json".parse().unwrap());
    assert_eq!(code(house.send(stream).await), (406, Some(Code::HttpNotAcceptable)));

    for sent in [None, Some("text/plain"), Some("application/json; charset=latin1")] {
        let mut request = post("a", Some(&session), "tools/list", json!({}));
        request.headers_mut().remove("content-type");
        if let Some(sent) = sent {
            request.headers_mut().insert("content-type", sent.parse().unwrap());
        }
        assert_eq!(code(house.send(request).await), (415, Some(Code::HttpMediaType)));
    }

    for (body, words) in [
        ("{", "is not JSON"),
        ("[]", "is a JSON object"),
        ("{\"id\":1}", "is not a JSON-RPC 2.0 message"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", "whole number"),
    ] {
        let mut garbage = post("a", Some(&session), "tools/list", json!({}));
        *garbage.body_mut() = body.into();
        let refused = house.send(garbage).await;
        let failure = refused.failure.expect("a code");
        assert_eq!((refused.status.as_u16(), failure.code), (400, Code::McpRequestInvalid));
        assert!(failure.message.contains(words), "{}", failure.message);
    }

    let mut huge = post("a", Some(&session), "tools/list", json!({}));
    *huge.body_mut() = " ".repeat(5 * 1024 * 1024).into();
    assert_eq!(code(house.send(huge).await), (413, Some(Code::AgenticPayloadTooLarge)));

    let put = request("a", Method::PUT, Some(&session));
    assert_eq!(code(house.send(put).await), (405, Some(Code::HttpMethodNotAllowed)));

    let sessionless = house.send(post("a", None, "tools/list", json!({}))).await;
    let message = &sessionless.failure.as_ref().expect("a code").message;
    assert!(message.contains("Mcp-Session-Id is missing"), "{message}");
    assert_eq!(code(sessionless), (400, Some(Code::McpRequestInvalid)));
}

#[tokio::test]
async fn every_revision_with_sessions_is_spoken() {
    let house = House::new(SessionLimits::default());
    for (asked, spoken) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // A client that asks for another one is offered one that has sessions.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut params = initialize();
        params["protocolVersion"] = asked.into();
        let begun = house.send(post("a", None, "initialize", params)).await;
        assert_eq!(begun.message["result"]["protocolVersion"], spoken, "{}", begun.message);
        let session = begun.session.expect("a session");
        let mut list = post("a", Some(&session), "tools/list", json!({}));
        list.headers_mut().insert("mcp-protocol-version", spoken.parse().unwrap());
        let listed = house.send(list).await;
        assert!(listed.message["result"]["tools"].is_array(), "{asked} {}", listed.message);
    }
}
