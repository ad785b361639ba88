//! A call that its client cancels loses nothing.

use accord_host::http::local_api;
use accord_host::mcp::{self, CallContext, TOOLSETS, Toolbox};
use accord_live_core::SessionId;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use super::{action, agent, session, structured};
use crate::mcp::client::initialize;
use crate::support::{World, soon, wait_until};

#[tokio::test]
async fn a_cancelled_wait_ends_at_once_and_takes_nothing() {
    let world = World::new();
    let (mut builder, mut page) = (agent(&world, "builder").await, agent(&world, "page").await);
    let id = session(&mut builder).await;
    let arguments = json!({"sessionId": id, "timeout": 25});
    let params = json!({"name": "ggui_consume", "arguments": arguments});
    let number = builder.begin_ask("tools/call", params).await;
    let (live, session_id) = (world.host.live(), SessionId::new(id.clone()).unwrap());
    wait_until("the wait of the agent", || live.has_consumer(&session_id)).await;
    builder.notify("notifications/cancelled", json!({"requestId": number})).await;
    wait_until("the end of the wait", || !live.has_consumer(&session_id)).await;
    let done =
        page.call("ggui_runtime_submit_action", action(&id, "a1", "approve", json!(null))).await;
    assert_eq!(structured(&done)["consumerPresent"], false);
    let mut second = agent(&world, "second").await;
    let answer = second.call("ggui_consume", json!({"sessionId": id, "timeout": 25}));
    let answer = soon("the answer", answer).await;
    assert_eq!(structured(&answer)["events"][0]["actionId"], "a1");
}

#[tokio::test]
async fn an_answer_whose_body_is_not_read_leaves_the_events() {
    use accord_base::Caller;
    use accord_host::http::api_as;
    use axum::body::Body;
    use http_body_util::BodyExt as _;
    use hyper::Request;

    let world = World::new();
    let mut page = agent(&world, "page").await;
    let id = session(&mut page).await;
    page.call("ggui_runtime_submit_action", action(&id, "a1", "approve", json!(null))).await;
    let api = api_as(&world.host, Caller::owner());
    let request = |timeout: u64| {
        let body = json!({"sessionId": id, "timeout": timeout}).to_string();
        let request = Request::post("/accord/v1/live/tools/ggui_consume");
        request.body(Body::from(body)).unwrap()
    };
    // The connection breaks before the answer is sent.
    let answer = api.call(request(0)).await.unwrap();
    assert_eq!(answer.status(), 200);
    drop(answer);
    let answer = soon("the answer", api.call(request(25))).await.unwrap();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let answer: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(answer["result"]["events"][0]["actionId"], "a1", "{answer}");
}

#[tokio::test]
async fn an_answer_that_was_not_written_completely_is_given_again() {
    let world = World::new();
    let mut page = agent(&world, "page").await;
    let id = session(&mut page).await;
    page.call("ggui_runtime_submit_action", action(&id, "a1", "approve", json!(null))).await;
    // A client that reads the beginning of the reply and is gone.
    let (mut to_server, input) = tokio::io::duplex(1 << 20);
    let (output, from_server) = tokio::io::duplex(64);
    let toolbox = Toolbox::join(TOOLSETS).unwrap().only(["live"]).unwrap();
    let api = local_api(&world.host);
    let serving = tokio::spawn(mcp::serve(api, toolbox, CallContext::default(), input, output));
    let mut from_server = BufReader::with_capacity(16, from_server);
    let consume = json!({"name": "ggui_consume", "arguments": {"sessionId": id}});
    let mut line = String::new();
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize()}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": consume}),
    ] {
        to_server.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        if message["id"] == 1 {
            from_server.read_line(&mut line).await.unwrap();
        }
    }
    let mut begun = [0; 32];
    soon("the beginning of the reply", from_server.read_exact(&mut begun)).await.unwrap();
    drop((to_server, from_server));
    soon("the end of the server", serving).await.unwrap().unwrap();

    for events in [json!("a1"), json!(null)] {
        let mut next = agent(&world, "next").await;
        let answer = next.call("ggui_consume", json!({"sessionId": id})).await;
        assert_eq!(structured(&answer)["events"][0]["actionId"], events);
        next.leave().await.unwrap();
    }
}

#[tokio::test]
async fn an_agent_that_confirms_gets_again_what_it_did_not_confirm() {
    let world = World::new();
    let mut page = agent(&world, "page").await;
    let id = session(&mut page).await;
    for number in ["a1", "a2"] {
        let act = action(&id, number, "approve", json!(null));
        page.call("ggui_runtime_submit_action", act).await;
    }
    let owner = world.owner();
    let consume = |after: Value| {
        let body = json!({"sessionId": id, "x-after": after});
        let owner = &owner;
        async move {
            let path = "/accord/v1/live/tools/ggui_consume?project_id=atlas";
            owner.post(path, &body).await.expect(200)["result"].clone()
        }
    };
    let first = consume(json!(0)).await;
    let again = consume(json!(0)).await;
    assert_eq!((&first["events"], &first["x-cursor"]), (&again["events"], &again["x-cursor"]));
    assert_eq!(first["events"].as_array().unwrap().len(), 2);
    let last = consume(json!(first["x-cursor"].as_u64().unwrap() - 1)).await;
    assert_eq!(last["events"], json!([first["events"][1]]));
    let nothing = consume(first["x-cursor"].clone()).await;
    assert_eq!((&nothing["events"], &nothing["x-cursor"]), (&json!([]), &first["x-cursor"]));
    // A tool whose caller names the position confirms nothing by itself.
    page.call("ggui_runtime_submit_action", action(&id, "a3", "approve", json!(null))).await;
    for _ in 0..2 {
        let named = json!({"sessionId": id, "x-after": first["x-cursor"]});
        let answer = page.call("ggui_consume", named).await;
        assert_eq!(structured(&answer)["events"][0]["actionId"], "a3");
    }
}
