//! Following the inbox as it changes.

use accord_base::Caller;
use accord_host::http::api_as;
use serde_json::{Value, json};

use crate::events::Listener;
use crate::support::{World, package_with};

async fn next(stream: &mut Listener) -> Value {
    loop {
        let block = stream.block().await.expect("the stream goes on");
        if let Some(data) = block.lines().find_map(|line| line.strip_prefix("data: ")) {
            return serde_json::from_str(data).unwrap();
        }
    }
}

#[tokio::test]
async fn an_event_names_what_is_new() {
    let world = World::new();
    let owner = world.owner();
    let ask = |id: &str, question: &str| package_with(id, json!({"open_questions": [question]}));
    owner.deposit(&ask("pkg_1", "Why?")).await;
    let api = api_as(&world.host, Caller::owner());
    let mut stream = Listener::new(&api, "/accord/v1/inbox/events", None).await;
    let first = next(&mut stream).await;
    assert_eq!((&first["counts"]["total"], first.get("new")), (&json!(1), None), "{first}");
    owner.deposit(&ask("pkg_2", "When?")).await;
    let change = next(&mut stream).await;
    let new = change["new"].as_array().unwrap();
    assert_eq!(new.len(), 1, "{change}");
    let listed = owner.get("/accord/v1/inbox").await.expect(200);
    let items = listed["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["id"] == new[0]["id"]).expect("it is listed");
    for name in ["kind", "urgency", "project_id"] {
        assert_eq!(new[0][name], item[name], "{name}");
    }
    // What is marked is not new.
    let mark =
        format!("/accord/v1/inbox/{}/mark?actor=human:lead", item["handle"].as_str().unwrap());
    owner.post(&mark, &json!({"mark": "claim"})).await.expect(200);
    let change = next(&mut stream).await;
    assert_eq!(change.get("new"), None, "{change}");
}
