//! A token has the rights of its holder, and ends with them.

use accord_base::Caller;
use serde_json::{Value, json};

use super::auth::{bearer, key, post};
use super::fallbacks::Events;
use super::{World, action, code};

const SHUT_OUT: (u16, &str) = (1008, "unauthenticated");

fn held_by(holder: &str) -> Value {
    json!({"x-holder": holder})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_ends_with_the_key_that_it_was_made_for() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let (id, _) = key(&world, json!({"label": "a", "verbs": ["read", "write"]})).await;
    let token = world.token_of("s1", held_by(&format!("key:{id}")));
    let open = || {
        let mut client = world.client_with(&format!("/ws?wsToken={token}"), &[]);
        let ack = client.subscribe("s1", json!({"wsToken": token}));
        (client, ack["payload"]["sessionToken"].as_str().unwrap().to_owned())
    };
    let ((idle, session_token), (mut acting, _)) = (open(), open());
    let bearer = bearer(&session_token);
    let headers = [("Authorization", bearer.as_str())];
    let mut again = world.client_with("/ws", &headers);
    again.subscribe("s1", json!({}));
    // A token that is made from it has the same holder.
    let state = world.get(&format!("/api/sessions/s1/state?wsToken={token}"), &[]).json();
    let derived = state["ai.ggui/render"]["wsToken"].as_str().unwrap().to_owned();
    let stream = format!("/api/sessions/s1/stream?wsToken={derived}");
    let (mut events, _) = Events::open(&world, &stream, &[]);
    assert_eq!(events.next().1["type"], "ack");

    world.host.keys().revoke(&Caller::owner(), &id).await.unwrap();
    // At once for what it sends, soon for what it only hears.
    acting.send(&json!({"type": "action", "payload": action("s1", "late")}));
    let refused = loop {
        let frame = acting.next();
        if frame["type"] != "data" {
            break frame;
        }
    };
    assert_eq!(code(&refused), "UNAUTHENTICATED");
    for mut client in [acting, idle, again] {
        let (code, reason) = client.closed();
        assert_eq!((code, reason.as_str()), SHUT_OUT);
    }
    let last = loop {
        let (_, frame) = events.next();
        if frame["type"] != "data" {
            break frame;
        }
    };
    assert_eq!(code(&last), "UNAUTHENTICATED");
    for token in [&token, &derived] {
        for route in ["state?", "events?sinceSequence=0&", "stream?"] {
            let refused = world.get(&format!("/api/sessions/s1/{route}wsToken={token}"), &[]);
            assert_eq!(
                (refused.status, &refused.json()["code"]),
                (401, &json!("BOOTSTRAP_INVALID"))
            );
        }
        assert_eq!(world.get(&format!("/ggui/auth-check?wsToken={token}"), &[]).status, 401);
        let mut client = world.client_with(&format!("/ws?wsToken={token}"), &[]);
        let subscribe = json!({"sessionId": "s1", "wsToken": token});
        client.send(&json!({"type": "subscribe", "payload": subscribe}));
        assert_eq!(code(&client.next()), "UNAUTHENTICATED");
        let (code, reason) = client.closed();
        assert_eq!((code, reason.as_str()), SHUT_OUT);
    }
    assert_eq!(world.try_client("/ws", &headers).err(), Some(401));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_a_host_without_keys_ends_with_the_first_key() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let token = world.token_of("s1", held_by("local"));
    let mut client = world.client_with(&format!("/ws?wsToken={token}"), &[]);
    client.subscribe("s1", json!({"wsToken": token}));
    key(&world, json!({"label": "a", "verbs": ["write"]})).await;
    let (code, reason) = client.closed();
    assert_eq!((code, reason.as_str()), SHUT_OUT);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_another_project_keeps_no_token_alive() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut secrets = Vec::new();
    let mut token = String::new();
    for projects in [json!(null), json!(["other"])] {
        let document = json!({"label": "a", "verbs": ["read", "write"], "projects": projects});
        let (id, secret) = key(&world, document).await;
        if token.is_empty() {
            token = world.token_of("s1", held_by(&format!("key:{id}")));
        }
        secrets.push(secret);
    }
    for (secret, is_made) in secrets.iter().zip([true, false]) {
        let headers = format!("Authorization: {}\r\n", bearer(secret));
        let path = "/accord/v1/live/tools/ggui_runtime_refresh_ws_token";
        let answer = post(&world, path, &headers, &json!({"envelope": token}).to_string());
        assert_eq!(answer.json()["result"]["ok"], is_made, "{answer:?}");
    }
    world.close().await;
}
