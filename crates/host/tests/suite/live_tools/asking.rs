//! An agent asks a person something, with the tools alone.

use accord_api::operations::keys::KeyRequest;
use accord_base::Caller;
use accord_contract::Wire as _;
use accord_host::http::local_api;
use accord_live_core::operations::questions::LiveAsk;
use accord_live_core::{AppId, SessionId};
use serde_json::json;

use super::{action, agent, contract, render, session, structured};
use crate::events::Listener;
use crate::support::{World, soon};

#[tokio::test]
async fn an_agent_asks_and_gets_the_answer() {
    let world = World::new();
    world.host.set_url("http://127.0.0.1:7171");
    let mut builder = agent(&world, "builder").await;
    assert!(builder.welcome["instructions"].as_str().unwrap().contains("ggui_consume"));
    let rendered = render(&mut builder, json!({})).await;
    let receipt = structured(&rendered);
    let session = receipt["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(receipt["nextStep"]["args"], json!({"sessionId": session, "timeout": 25}));
    // The result says how to go on.
    let note = rendered["content"][1]["text"].as_str().unwrap();
    assert!(note.contains(&format!("http://127.0.0.1:7171/live/{session}")), "{note}");
    assert!(note.contains("ggui_consume"), "{note}");

    // Who asks, for what and until when.
    let (live, atlas) = (world.host.live(), AppId::new("atlas").unwrap());
    let asks = live.asks(&Caller::owner(), &atlas, None, 10).await.unwrap();
    let [ask] = asks.as_slice() else { panic!("{asks:?}") };
    let ask = LiveAsk::of(ask).encode();
    assert_eq!(ask["asked_by"], json!({"id": "builder", "type": "agent"}));
    assert_eq!(
        (&ask["intent"], &ask["session_id"]),
        (&json!("Approve the notes"), &json!(session))
    );
    assert!(ask["until"].as_str() > ask["since"].as_str(), "{ask:?}");

    let nothing = builder.call("ggui_consume", json!({"sessionId": session})).await;
    assert_eq!(structured(&nothing)["events"], json!([]));
    assert!(nothing["content"][1]["text"].as_str().unwrap().contains("There is no new answer yet"));

    // The person acts on a page, which another connection relays; twice the same is once.
    let mut page = agent(&world, "page").await;
    let act = action(&session, "a1", "reject", json!({"reason": "Too long"}));
    for _ in 0..2 {
        let done = page.call("ggui_runtime_submit_action", act.clone()).await;
        assert_eq!(structured(&done)["ok"], true);
    }
    let answer = builder.call("ggui_consume", json!({"sessionId": session, "timeout": 25})).await;
    let answer = structured(&answer);
    assert_eq!(answer["status"], "active");
    let event = json!({
        "type": "action", "sessionId": session, "intent": "reject",
        "actionData": {"reason": "Too long"}, "uiContext": {"tab": 1},
        "actionId": "a1", "firedAt": "2026-11-15T10:00:00Z", "x-door": "mcp-app", "x-person": false,
    });
    assert_eq!(answer["events"], json!([event]));
    let asks = live.asks(&Caller::owner(), &atlas, None, 10).await.unwrap();
    assert_eq!(asks, []);
    let again = builder.call("ggui_consume", json!({"sessionId": session})).await;
    assert_eq!(structured(&again)["events"], json!([]));
}

#[tokio::test]
async fn an_agent_that_waits_is_woken_by_the_answer() {
    let world = World::new();
    let (mut builder, mut page) = (agent(&world, "builder").await, agent(&world, "page").await);
    let session = session(&mut builder).await;
    let waiting = {
        let arguments = json!({"sessionId": session, "timeout": 25});
        tokio::spawn(async move { builder.call("ggui_consume", arguments).await })
    };
    // The tool of the page says when an agent waits.
    let mut number = 0;
    loop {
        number += 1;
        let id = format!("a{number}");
        let done =
            page.call("ggui_runtime_submit_action", action(&session, &id, "approve", json!(null)));
        let done = soon("the answer of the tool", done).await;
        assert_eq!(structured(&done)["ok"], true);
        if structured(&done)["consumerPresent"] == true || waiting.is_finished() {
            break;
        }
    }
    let answer = soon("the answer of the person", waiting).await.unwrap();
    let events = structured(&answer)["events"].as_array().unwrap().clone();
    assert_eq!(events[0]["intent"], "approve");
    assert_eq!(events[0]["actionData"], json!(null));
}

#[tokio::test]
async fn an_agent_cannot_answer_what_a_person_must_answer() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let mut contract = contract();
    contract["x-answeredBy"] = json!("person");
    contract["x-closesOn"] = json!("first");
    let draft = json!({"intent": "Ask", "blueprintDraft": {"contract": contract}});
    let made = builder.call("ggui_handshake", draft).await;
    let asked = json!({"handshakeId": structured(&made)["handshakeId"], "props": {"text": "T"}});
    let rendered = builder.call("ggui_render", asked).await;
    let id = structured(&rendered)["sessionId"].as_str().unwrap().to_owned();
    let submit = |number: &str| action(&id, number, "approve", json!(null));
    let refused = builder.call("ggui_runtime_submit_action", submit("a1")).await;
    let refused = structured(&refused);
    assert_eq!((&refused["ok"], &refused["code"]), (&json!(false), &json!("person_required")));
    let nothing = builder.call("ggui_consume", json!({"sessionId": id})).await;
    assert_eq!(structured(&nothing)["events"], json!([]));

    let owner = world.owner();
    let actions = format!("/accord/v1/projects/atlas/live/sessions/{id}/actions?actor=");
    let approve = json!({"action": "approve"});
    owner.post(&format!("{actions}agent:dev"), &approve).await.refused(403, "person_required");
    owner.post(&format!("{actions}human:lead"), &approve).await.expect(200);
    let second = owner.post(&format!("{actions}human:ana"), &approve).await;
    let second = second.refused(412, "decision_stale");
    assert_eq!(second["by"], json!({"id": "lead", "type": "human"}), "{second}");
    assert_eq!(second["action"], "approve");
    let events = builder.call("ggui_consume", json!({"sessionId": id})).await;
    let event = structured(&events)["events"][0].clone();
    assert_eq!(event["x-by"], json!({"id": "lead", "type": "human"}));
    assert_eq!((&event["x-door"], &event["x-person"]), (&json!("http"), &json!(true)));
    // The event of the project outlasts the session.
    world.host.live().expire_now(&SessionId::new(&*id).unwrap()).await.unwrap();
    let api = local_api(&world.host);
    let mut listener = Listener::new(&api, "/v1/projects/atlas/events", Some("0")).await;
    let answered = loop {
        let event = listener.next().await.unwrap();
        if event.name == "live.user.submitted" {
            break event.data["data"].clone();
        }
    };
    assert_eq!(answered["actor"], json!({"id": "lead", "type": "human"}));
    assert_eq!((&answered["action"], &answered["person"]), (&json!("approve"), &json!(true)));
    assert!(answered["digest"].as_str().unwrap().starts_with("sha256:"), "{answered}");
}

#[tokio::test]
async fn a_page_that_is_not_served_has_no_link() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let rendered = render(&mut builder, json!({})).await;
    let note = rendered["content"][1]["text"].as_str().unwrap();
    assert!(note.contains("accord serve") && note.contains("accord live open"), "{note}");
}

#[tokio::test]
async fn a_contract_does_not_say_who_asks() {
    let world = World::new();
    let mut builder = agent(&world, "builder").await;
    let mut contract = contract();
    contract["x-askedBy"] = json!({"id": "lead", "type": "human"});
    contract["x-codeHash"] = "0".repeat(64).into();
    let draft = json!({"intent": "Ask", "blueprintDraft": {"contract": contract}});
    let made = builder.call("ggui_handshake", draft).await;
    let asked = json!({"handshakeId": structured(&made)["handshakeId"], "props": {"text": "T"}});
    let rendered = builder.call("ggui_render", asked).await;
    let id = structured(&rendered)["sessionId"].clone();
    let found = builder.call("ggui_get_session", json!({"sessionId": id})).await;
    let found = structured(&found);
    assert_eq!(found["x-askedBy"], json!({"id": "builder", "type": "agent"}));
    assert_eq!(found.get("x-codeHash"), None);
}

#[tokio::test]
async fn a_key_without_an_actor_asks_under_its_label() {
    let world = World::new();
    let request = json!({"label": "night shift", "verbs": ["read", "write"]});
    let request = KeyRequest::from_document(request).unwrap();
    let made = world.host.keys().create(&Caller::owner(), request).await.unwrap();
    let caller = world.host.keys().authenticate(&made.secret).await.unwrap();
    let reader = world.asker(caller);
    let tool = |name: &str| format!("/accord/v1/live/tools/{name}?project_id=atlas");
    let draft = json!({"intent": "Ask", "blueprintDraft": {"contract": contract()}});
    let made = reader.post(&tool("ggui_handshake"), &draft).await.expect(200);
    let asked = json!({"handshakeId": made["result"]["handshakeId"], "props": {"text": "T"}});
    let rendered = reader.post(&tool("ggui_render"), &asked).await.expect(200);
    let id = rendered["result"]["sessionId"].clone();
    let by = json!({"id": "night shift", "type": "agent"});
    let list = || async {
        let path = "/accord/v1/projects/atlas/live/sessions";
        reader.get(path).await.expect(200)["result"]["sessions"][0].clone()
    };
    let listed = list().await;
    assert_eq!((&listed["asked_by"], &listed["ask"]["asked_by"]), (&by, &by));
    // It is known after the answer, too, and when the agent waits again.
    let act = action(id.as_str().unwrap(), "a1", "approve", json!(null));
    reader.post(&tool("ggui_runtime_submit_action"), &act).await.expect(200);
    assert_eq!(
        (list().await["asked_by"].clone(), list().await.get("ask").cloned()),
        (by.clone(), None)
    );
    for _ in 0..2 {
        let consume = json!({"sessionId": id});
        reader.post(&tool("ggui_consume"), &consume).await.expect(200);
    }
    assert_eq!(list().await["ask"]["asked_by"], by);
}
