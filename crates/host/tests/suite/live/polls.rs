//! Channels that poll a tool of the server.

use serde_json::{Value, json};

use super::{Client, World, app_id, session_id};

/// Begins a session whose channels poll tools.
async fn seed(world: &World) {
    let tool = || json!({"toolInfo": {"inputSchema": {"type": "object"}}});
    let any = json!({"type": "object", "additionalProperties": true});
    let document = json!({
        "componentCode": "",
        "agentCapabilities": {"tools": {
            "memory_questions": tool(), "memory_deposit": tool(), "elsewhere": tool(),
        }},
        "streamSpec": {
            "questions": {"schema": any, "source": {"tool": "memory_questions"}},
            "narrow": {"schema": {"type": "integer"}, "source": {"tool": "memory_questions"}},
            "other": {
                "schema": any,
                "source": {"tool": "memory_questions", "args": {"project_id": "atlas"}},
            },
            "writes": {"schema": any, "source": {"tool": "memory_deposit"}},
            "far": {"schema": any, "source": {"tool": "elsewhere"}},
            "plain": {"schema": any},
        },
    });
    let Value::Object(ui) = document else { unreachable!() };
    world
        .host
        .live()
        .seed(&app_id("shop"), &session_id("s1"), ui, Default::default())
        .await
        .unwrap();
}

fn subscribe(client: &mut Client, channel: &str, session: &str) -> Value {
    client.send(&json!({
        "type": "channel_subscribe",
        "payload": {
            "sessionId": session, "appId": "shop", "channelName": channel, "pollIntervalMs": 1,
        },
    }));
    loop {
        let frame = client.next();
        if frame["type"].as_str().is_some_and(|kind| kind.starts_with("channel_")) {
            return frame;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_polls_a_tool_that_reads() {
    let world = World::open(&[]).await;
    seed(&world).await;
    let mut client = world.subscribed("s1");
    let first = subscribe(&mut client, "questions", "s1");
    assert_eq!(first["type"], "channel_payload", "{first}");
    assert_eq!(first["payload"]["seq"], 1);
    assert_eq!(
        (&first["payload"]["mode"], &first["payload"]["appId"]),
        (&json!("replace"), &json!("shop"))
    );
    let second = client.next();
    assert_eq!(
        (&second["type"], &second["payload"]["seq"]),
        (&json!("channel_payload"), &json!(2))
    );
    // Subscribing again begins to count again.
    let again = subscribe(&mut client, "questions", "s1");
    assert!(again["payload"]["seq"].as_u64().unwrap() <= 3, "{again}");
    client.send(&json!({
        "type": "channel_unsubscribe",
        "payload": {"sessionId": "s1", "appId": "shop", "channelName": "questions"},
    }));
    client.barrier();
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    assert!(client.barrier().is_empty(), "polling has ended");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn channels_are_refused_with_their_codes() {
    let world = World::open(&[]).await;
    seed(&world).await;
    for (channel, session, expected) in [
        ("questions", "s2", "SUBSCRIBE_UNAUTHORIZED"),
        ("nothing", "s1", "CHANNEL_UNKNOWN"),
        ("plain", "s1", "CHANNEL_UNKNOWN"),
        ("writes", "s1", "CHANNEL_NOT_LOCAL"),
        ("far", "s1", "CHANNEL_NOT_LOCAL"),
        // The answer does not fit the channel; the project is another one.
        ("narrow", "s1", "POLL_FAILED"),
        ("other", "s1", "POLL_FAILED"),
    ] {
        let mut client = world.subscribed("s1");
        let answer = subscribe(&mut client, channel, session);
        assert_eq!(answer["type"], "channel_error", "{channel}: {answer}");
        assert_eq!(answer["payload"]["code"], expected, "{channel}: {answer}");
    }
    world.close().await;
    let world = World::open(&[("live.poll_tools", "false")]).await;
    seed(&world).await;
    let mut client = world.subscribed("s1");
    let answer = subscribe(&mut client, "questions", "s1");
    assert_eq!(answer["payload"]["code"], "CHANNEL_NOT_LOCAL");
    world.close().await;
}
