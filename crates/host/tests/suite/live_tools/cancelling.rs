//! A call that its client cancels loses nothing.

use accord_live_core::SessionId;
use serde_json::{Value, json};

use super::{action, agent, session, structured};
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
