//! Frames and their answers.

use serde_json::json;
use tungstenite::Message;

use super::{World, action, code, session_id};

#[tokio::test(flavor = "multi_thread")]
async fn an_action_is_stored_and_then_answered() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut client = world.client();
    let ack = client.subscribe("s1", json!({"supportedVersions": ["draft-2026-08-19"]}));
    let payload = &ack["payload"];
    assert_eq!(payload["serverVersion"], "draft-2026-08-19");
    assert_eq!(payload["schemaVersion"], "draft-2026-08-19");
    assert_eq!(payload["session"]["appId"], "shop");
    let before = payload["sequence"].as_u64().unwrap();
    for step in 1..=3 {
        let answer = client.act("s1", &format!("answer {step}"));
        assert_eq!(answer["type"], "ack", "{answer}");
        assert_eq!(answer["payload"]["sequence"], before + step);
    }
    let empty = json!({"action": "answer", "data": {}});
    let empty = json!({"sessionId": "s1", "type": "data:submit", "payload": empty});
    let refused = client.ask("action", empty);
    assert_eq!(code(&refused), "CONTRACT_VIOLATION");
    let violation = &refused["payload"]["details"]["violations"][0];
    assert!(violation["field"].is_string() && violation["keyword"] == "required", "{refused}");
    assert_eq!(refused["payload"].get("schemaVersion"), None);
    // Nothing was appended.
    assert_eq!(client.act("s1", "again")["payload"]["sequence"], before + 4);
    let mut other = world.client();
    let ack = other.subscribe("s1", json!({"sinceSequence": before}));
    assert_eq!(ack["payload"]["sequence"], before + 4);
    let replayed = other.barrier();
    let texts: Vec<_> = replayed
        .iter()
        .filter(|frame| frame["type"] == "render_event")
        .map(|frame| frame["payload"]["data"]["payload"]["data"]["text"].clone())
        .collect();
    assert_eq!(texts, ["answer 1", "answer 2", "answer 3", "again"]);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_are_handled_in_the_order_of_their_arrival() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut client = world.client();
    // All of them at once, without waiting for an answer.
    client.send(&json!({
        "type": "subscribe", "requestId": "0", "payload": {"sessionId": "s1", "appId": "shop"},
    }));
    for number in 1..=50 {
        let payload = action("s1", &number.to_string());
        let id = number.to_string();
        client.send(&json!({"type": "action", "requestId": id, "payload": payload}));
    }
    client.send(&json!({"type": "ping", "payload": {}, "requestId": "51"}));
    let mut answered = Vec::new();
    let mut sequences = Vec::new();
    while answered.last().is_none_or(|last| last != "51") {
        let frame = client.next();
        if let Some(id) = frame["requestId"].as_str() {
            answered.push(id.to_owned());
            sequences.extend(frame["payload"]["sequence"].as_u64());
        }
    }
    let expected: Vec<String> = (0..=51).map(|number| number.to_string()).collect();
    assert_eq!(answered, expected);
    assert!(sequences.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{sequences:?}");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_frame_is_answered_with_its_code() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut client = world.client();
    for (text, expected) in [
        ("not json", "INVALID_JSON"),
        ("", "INVALID_JSON"),
        ("[1]", "INVALID_MESSAGE"),
        (r#"{"payload": {}}"#, "INVALID_MESSAGE"),
        (r#"{"type": 7}"#, "INVALID_MESSAGE"),
        (r#"{"type": "push", "payload": {}}"#, "UNSUPPORTED_MESSAGE"),
        (r#"{"type": "subscribe", "payload": {}}"#, "INVALID_MESSAGE"),
        (r#"{"type": "action", "payload": {"sessionId": "s1", "type": "x"}}"#, "NOT_SUBSCRIBED"),
        (
            r#"{"type": "host_context_observed",
                "payload": {"sessionId": "s1", "hostContext": {}}}"#,
            "NOT_SUBSCRIBED",
        ),
        (
            r#"{"type": "channel_subscribe",
                "payload": {"sessionId": "s1", "appId": "shop", "channelName": "log"}}"#,
            "NOT_SUBSCRIBED",
        ),
    ] {
        client.send_text(text);
        assert_eq!(code(&client.next()), expected, "{text}");
    }
    // It works before the subscription, and unsubscribing from nothing is silent.
    client.send(&json!({
        "type": "channel_unsubscribe",
        "payload": {"sessionId": "s1", "appId": "shop", "channelName": "log"},
    }));
    assert!(client.barrier().is_empty());
    client.subscribe("s1", json!({}));
    let other = client.ask("action", action("s2", "x"));
    assert_eq!(code(&other), "SESSION_MISMATCH");
    let again = client.try_subscribe("s1", json!({}));
    assert_eq!(code(&again), "UNAUTHENTICATED");
    assert_eq!(client.act("s1", "still subscribed")["type"], "ack");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn binary_frames_and_pings_of_the_socket_work() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut client = world.subscribed("s1");
    // After what is replayed.
    client.barrier();
    let ping = json!({"type": "ping", "payload": {}, "requestId": "b"}).to_string();
    client.0.send(Message::binary(ping.into_bytes())).unwrap();
    assert_eq!(client.next()["requestId"], "b");
    client.0.send(Message::binary(vec![0xff, 0xfe])).unwrap();
    assert_eq!(code(&client.next()), "INVALID_JSON");
    client.0.send(Message::Ping("beat".into())).unwrap();
    assert_eq!(client.0.read().unwrap(), Message::Pong("beat".into()));
    client.0.close(None).unwrap();
    assert_eq!(client.closed(), (1005, String::new()));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_context_is_stored_without_an_answer() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut client = world.subscribed("s1");
    let context =
        json!({"platform": "mobile", "locale": "de-DE", "deviceCapabilities": {"touch": true}});
    client.send(&json!({
        "type": "host_context_observed", "payload": {"sessionId": "s1", "hostContext": context},
    }));
    let frames = client.barrier();
    assert!(frames.iter().all(|frame| frame["type"] == "data"), "{frames:?}");
    let found = world.host.live().found(&session_id("s1"), None).await.unwrap().unwrap();
    assert_eq!(serde_json::Value::Object(found.content.host_context.unwrap()), context);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_another_version_is_answered_and_closed() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut client = world.client();
    let answer = client.try_subscribe("s1", json!({"supportedVersions": ["draft-1999-01-01"]}));
    assert_eq!(code(&answer), "UPGRADE_REQUIRED");
    assert_eq!(answer["payload"]["details"]["serverVersion"], "draft-2026-08-19");
    assert_eq!(client.closed(), (1005, String::new()));
    world.close().await;

    let world = World::open(&[("live.version_policy", "advisory")]).await;
    world.seed("s1").await;
    let mut client = world.client();
    let answer = client.try_subscribe("s1", json!({"supportedVersions": ["draft-1999-01-01"]}));
    assert_eq!(code(&answer), "UPGRADE_REQUIRED");
    // The socket stays open, and its identity is not used up.
    client.subscribe("s1", json!({}));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_that_is_sent_again_is_stored_once() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let numbered = |number: u64| {
        let mut payload = action("s1", "once");
        payload["clientSeq"] = number.into();
        payload
    };
    let mut client = world.client();
    client.subscribe("s1", json!({"clientId": "page-1"}));
    let first = client.ask("action", numbered(1))["payload"]["sequence"].clone();
    drop(client);
    let mut client = world.client();
    client.subscribe("s1", json!({"clientId": "page-1"}));
    assert_eq!(client.ask("action", numbered(1))["payload"]["sequence"], first);
    let next = client.ask("action", numbered(2))["payload"]["sequence"].clone();
    assert_eq!(next.as_u64(), first.as_u64().map(|first| first + 1));
    // Another load of the page begins at 1 again.
    let mut reloaded = world.client();
    reloaded.subscribe("s1", json!({"clientId": "page-2"}));
    let other = reloaded.ask("action", numbered(1))["payload"]["sequence"].clone();
    assert_eq!(other.as_u64(), next.as_u64().map(|next| next + 1));
    world.close().await;
}
