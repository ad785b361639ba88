//! Limits and close codes.

use serde_json::json;
use tungstenite::Message;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};

use super::{World, code};
use crate::support::wait_until;

fn text(bytes: usize) -> Message {
    Message::text("x".repeat(bytes))
}

#[tokio::test(flavor = "multi_thread")]
async fn large_frames_close_the_socket() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    // Before the subscription.
    let mut client = world.client();
    client.0.send(text(65_536)).unwrap();
    assert_eq!(code(&client.next()), "INVALID_JSON");
    client.0.send(text(65_537)).unwrap();
    assert_eq!(client.closed(), (1009, "pre_subscribe_payload_exceeded".to_owned()));
    // In parts.
    let mut client = world.client();
    for (index, is_last) in [false, false, true].into_iter().enumerate() {
        let kind = if index == 0 { Data::Text } else { Data::Continue };
        let frame = Frame::message(vec![b'x'; 30_000], OpCode::Data(kind), is_last);
        drop(client.0.write(Message::Frame(frame)));
    }
    drop(client.0.flush());
    assert_eq!(client.closed(), (1009, "pre_subscribe_payload_exceeded".to_owned()));
    // Afterwards.
    let mut client = world.subscribed("s1");
    client.0.send(text(1_048_576)).unwrap();
    loop {
        let frame = client.next();
        if frame["type"] == "error" {
            assert_eq!(code(&frame), "INVALID_JSON");
            break;
        }
    }
    drop(client.0.send(text(4 * 1_048_576)));
    assert_eq!(client.closed(), (1009, String::new()));
    let health = world.get("/ggui/health", &[]).json();
    let rejections = &health["channel"]["caps"]["preSubscribeRejections"];
    assert_eq!(*rejections, json!({"payload": 2, "idle": 0, "connection": 0}));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_that_does_not_subscribe_is_closed() {
    let world = World::open(&[("limits.live_pending_timeout", "300ms")]).await;
    world.seed("s1").await;
    let mut client = world.client();
    // Neither a ping nor a refused subscription counts.
    client.barrier();
    let refused = client.try_subscribe("s1", json!({"appId": "atlas"}));
    assert_eq!(code(&refused), "APP_MISMATCH");
    assert_eq!(client.closed(), (1008, "pre_subscribe_idle_timeout".to_owned()));
    // One that is subscribed stays.
    let mut client = world.subscribed("s1");
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    assert_eq!(client.act("s1", "late")["type"], "ack");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_past_the_limits_are_turned_away() {
    let world = World::open(&[
        ("limits.live_pending_sockets", "2"),
        ("limits.live_sockets", "4"),
        ("limits.connections", "3"),
    ])
    .await;
    world.seed("s1").await;
    let (mut first, mut second) = (world.client(), world.client());
    first.barrier();
    second.barrier();
    let mut third = world.client();
    assert_eq!(third.closed(), (1013, "pre_subscribe_connection_ceiling".to_owned()));
    first.subscribe("s1", json!({}));
    let mut third = world.client();
    third.barrier();
    third.subscribe("s1", json!({}));
    drop(second);
    // They are no longer connections, of which there may be three.
    let wait = || world.host.metrics().text().contains("accord_connections 0\n");
    wait_until("sockets not to count as connections", wait).await;
    wait_until("the other sockets to end", || {
        world.get("/ggui/health", &[]).json()["channel"]["caps"]["open"] == 2
    })
    .await;
    let mut open = vec![first, third];
    for _ in 0..2 {
        let mut client = world.client();
        client.subscribe("s1", json!({}));
        open.push(client);
    }
    let refused = world.get(
        "/ws",
        &[
            ("Connection", "upgrade, close"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ],
    );
    assert_eq!(
        (refused.status, &refused.json()["error"]["code"]),
        (503, &json!("LIVE_TOO_MANY_SOCKETS"))
    );
    drop(open.pop());
    wait_until("a socket to be free", || world.try_client("/ws", &[]).is_ok()).await;
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_says_so() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let (mut subscribed, mut waiting) = (world.subscribed("s1"), world.client());
    waiting.barrier();
    let closing = tokio::spawn(world.close());
    let restart = (1012, "service_restart".to_owned());
    let (first, second) =
        tokio::task::spawn_blocking(move || (subscribed.closed(), waiting.closed())).await.unwrap();
    assert_eq!((first, second), (restart.clone(), restart));
    crate::support::soon("the server to end", closing).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_expires_closes_its_sockets() {
    let world = World::open(&[("live.session_ttl", "1s")]).await;
    world.seed("s1").await;
    let mut client = world.subscribed("s1");
    assert_eq!(client.closed(), (1008, "session_expired".to_owned()));
    // Its id is used again, and its counters go on.
    let mut client = world.client();
    let ack = client.subscribe("s1", json!({}));
    assert!(ack["payload"]["sequence"].as_u64().unwrap() > 0, "{ack}");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_does_not_read_is_told_and_closed() {
    // The frames are emitted before one is read, which takes longer than the usual timeout on a
    // busy machine.
    let settings = [("limits.live_queue", "8"), ("limits.write_timeout", "600s")];
    let world = World::in_memory(&settings).await;
    world.seed("s1").await;
    let mut slow = world.subscribed("s1");
    // Far more than the buffers of a connection hold.
    let payload = "x".repeat(60_000);
    for _ in 0..400 {
        emit_text(&world, &payload).await;
    }
    let told = loop {
        match slow.read() {
            Ok(frame) if frame["type"] == "error" => break frame,
            Ok(_) => {}
            Err(close) => panic!("closed with {close:?} without a word"),
        }
    };
    assert_eq!(code(&told), "LIVE_SUBSCRIBER_SLOW");
    let from = told["payload"]["details"]["fromSeq"].as_u64().unwrap();
    assert_eq!(slow.closed(), (1013, "slow_subscriber".to_owned()));
    // It comes again, and gets what is kept.
    let mut again = world.client();
    again.subscribe("s1", json!({"fromSeq": from}));
    assert!(!again.barrier().is_empty());
    world.close().await;
}

/// Sends a long text to the subscribers.
async fn emit_text(world: &World, text: &str) {
    let frame = accord_live_core::session::NewFrame {
        channel: "_ggui:lifecycle".to_owned(),
        payload: json!({"kind": "render_started", "sessionId": "s1", "intent": text}),
        complete: false,
    };
    let (app, session) = (super::app_id("shop"), super::session_id("s1"));
    world.host.live().emit_as_platform(&app, &session, frame).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_keeps_nobody_off_the_channel() {
    let world = World::open(&[("limits.live_pending_sockets", "2")]).await;
    world.seed("s1").await;
    let stranger = || world.client_with("/ws?wsToken=guessed", &[]);
    let (mut first, mut second) = (stranger(), stranger());
    first.barrier();
    second.barrier();
    assert_eq!(stranger().closed(), (1013, "pre_subscribe_connection_ceiling".to_owned()));
    let token = world.token("s1");
    let path = format!("/ws?wsToken={token}");
    let (mut page, mut agent) = (world.client_with(&path, &[]), world.client());
    page.subscribe("s1", json!({"appId": null, "wsToken": token}));
    agent.subscribe("s1", json!({}));
    drop((first, second));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_sockets_actions_and_frames() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut client = world.client();
    client.subscribe("s1", json!({"clientId": "page"}));
    let _pending = world.client();
    let mut action = super::action("s1", "yes");
    action["clientSeq"] = 1.into();
    for _ in 0..2 {
        assert_eq!(client.ask("action", action.clone())["type"], "ack");
    }
    let before = client.barrier().len();
    let last = world.emit("s1", "tick", 1).await;
    let heard = before + client.until(last).len();
    assert!(heard >= 1);
    let metrics = || world.host.metrics().text();
    for line in [
        "accord_live_sockets 2\n",
        "accord_live_subscribers 1\n",
        "accord_live_sessions 1\n",
        "accord_live_actions_total 1\n",
        "accord_live_slow_subscribers_total 0\n",
    ] {
        wait_until(line, || metrics().contains(line)).await;
    }
    let text = metrics();
    let frames = text.split_once("accord_live_frames_total ").unwrap().1;
    let frames: usize = frames.split_once('\n').unwrap().0.parse().unwrap();
    assert!(frames >= 1, "{text}");
    world.close().await;
}
