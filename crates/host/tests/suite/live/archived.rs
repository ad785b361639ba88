//! An archived project takes no changes over the channel, and its sockets end.

use accord_base::{Caller, ProjectId};
use serde_json::json;

use super::fallbacks::Events;
use super::{World, code};

#[tokio::test(flavor = "multi_thread")]
async fn the_sockets_of_an_archived_project_end() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    world.seed_in("atlas", "other").await;
    let token = world.token("s1");
    let path = format!("/ws?wsToken={token}");
    let mut of_token = world.client_with(&path, &[]);
    of_token.subscribe("s1", json!({"wsToken": token}));
    let mut other = world.client();
    other.subscribe("other", json!({"appId": "atlas"}));
    let acting = world.subscribed("s1");
    let stream = format!("/api/sessions/s1/stream?wsToken={token}");
    let (mut events, _) = Events::open(&world, &stream, &[]);
    assert_eq!(events.next().1["type"], "ack");

    let shop = ProjectId::new("shop").unwrap();
    world.host.memory().archive(&Caller::owner(), &shop).await.unwrap();
    for mut client in [of_token, acting] {
        let refused = loop {
            let frame = client.next();
            if frame["type"] != "data" {
                break frame;
            }
        };
        assert_eq!(code(&refused), "project_archived");
        assert_eq!(client.closed(), (1008, "project_archived".to_owned()));
    }
    let last = loop {
        let (_, frame) = events.next();
        if frame["type"] != "data" {
            break frame;
        }
    };
    assert_eq!(code(&last), "project_archived");
    // Neither a session that exists, nor a new one.
    for session in ["s1", "s2"] {
        let mut client = world.client();
        assert_eq!(code(&client.try_subscribe(session, json!({}))), "project_archived");
    }
    let refused = world.get(&stream, &[]);
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("project_archived")));
    // What only reads works, and makes no token.
    let read = format!("/api/sessions/s1/events?sinceSequence=0&wsToken={token}");
    assert_eq!(world.get(&read, &[]).status, 200);
    let state = world.get(&format!("/api/sessions/s1/state?wsToken={token}"), &[]).json();
    assert_eq!(state["ai.ggui/render"]["sessionId"], "s1");
    assert_eq!(state["ai.ggui/render"].get("wsToken"), None);
    // Another project goes on.
    assert_eq!(other.ask("ping", json!({}))["type"], "pong");
    world.host.memory().unarchive(&Caller::owner(), &shop).await.unwrap();
    let mut client = world.subscribed("s1");
    assert_eq!(client.act("s1", "yes")["type"], "ack");
    world.close().await;
}
