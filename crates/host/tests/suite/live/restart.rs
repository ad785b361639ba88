//! What was acknowledged is there after a restart, and the counters go on.

use serde_json::json;

use super::{World, action};

#[tokio::test(flavor = "multi_thread")]
async fn sessions_outlive_the_server() {
    let world = World::open(&[]).await;
    world.seed("s1").await;
    let mut client = world.client();
    let ack = client.subscribe("s1", json!({"clientId": "page"}));
    let before = ack["payload"]["sequence"].as_u64().unwrap();
    let mut numbered = action("s1", "kept");
    numbered["clientSeq"] = 1.into();
    let acted = client.ask("action", numbered.clone());
    assert_eq!(acted["payload"]["sequence"], before + 1);
    let stream = world.emit("s1", "log", 7).await;
    let token = world.token("s1");
    let folder = world.close().await;

    let world = World::open_in(folder, &[]).await;
    let mut client = world.client_with(&format!("/ws?wsToken={token}"), &[]);
    let more = json!({
        "clientId": "page", "wsToken": token, "fromSeq": stream - 1, "sinceSequence": before,
    });
    let ack = client.subscribe("s1", more);
    assert_eq!(ack["payload"]["sequence"], before + 1);
    assert_eq!(ack["payload"]["streamSeq"], stream);
    assert!(ack["payload"]["sessionToken"].is_string());
    let kinds: Vec<_> = client.barrier().iter().map(|frame| frame["type"].to_string()).collect();
    assert_eq!(kinds, [r#""render_event""#, r#""data""#]);
    // The first answer again, and then the next number.
    assert_eq!(client.ask("action", numbered)["payload"]["sequence"], before + 1);
    assert_eq!(client.act("s1", "next")["payload"]["sequence"], before + 2);
    assert_eq!(world.emit("s1", "log", 8).await, stream + 1);
    world.close().await;
}
