//! Every event of a session is once in the stream of its project.

use accord_host::http::local_api;
use serde_json::json;

use super::{action, agent, session, structured};
use crate::events::Listener;
use crate::support::{World, package};

#[tokio::test]
async fn every_event_is_in_the_stream_of_the_project_once() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let id = session(&mut builder).await;
    let patch = json!({"sessionId": id, "kind": "merge", "patch": {"text": "More"}});
    structured(&builder.call("ggui_update", patch).await);
    for _ in 0..2 {
        let act = action(&id, "a1", "approve", json!(null));
        structured(&builder.call("ggui_runtime_submit_action", act).await);
    }
    let pulled = builder.call("ggui_runtime_pull", json!({"sessionId": id})).await;
    let ledger = structured(&pulled)["events"].as_array().unwrap().clone();
    let expected: Vec<(String, u64)> = ledger
        .iter()
        .map(|event| {
            (format!("live.{}", event["type"].as_str().unwrap()), event["seq"].as_u64().unwrap())
        })
        .collect();
    assert!(expected.iter().any(|(kind, _)| kind == "live.user.submitted"), "{ledger:?}");

    let api = local_api(&world.host);
    let mut listener = Listener::new(&api, "/v1/projects/atlas/events", Some("0")).await;
    let mut heard = Vec::new();
    let mut started = 0;
    while heard.len() < expected.len() {
        let event = listener.next().await.unwrap();
        if event.name == "live.session.started" {
            started += 1;
        } else if event.name.starts_with("live.") {
            assert_eq!(event.data["data"]["session_id"], id.as_str(), "{event:?}");
            heard.push((event.name.clone(), event.data["data"]["sequence"].as_u64().unwrap()));
        }
    }
    assert_eq!((started, &heard), (1, &expected));
    // The next event is another one.
    world.owner().deposit(&package("pkg_1")).await;
    assert_eq!(listener.next().await.unwrap().name, "package.deposited");
}
