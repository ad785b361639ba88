//! Accord's own routes of live sessions.

use accord_base::{Caller, KeyScope, Verb};
use accord_live_core::{AppId, SessionId};
use http_body_util::BodyExt as _;
use hyper::Request;
use serde_json::{Value, json};

use crate::support::{Asker, World, actor_key, soon};

const SESSIONS: &str = "/accord/v1/projects/shop/live/sessions";

/// A session that asks for a colour.
async fn asking(world: &World) -> String {
    let owner = world.owner();
    let created = owner.post("/v1/projects", &json!({"project_id": "shop", "name": "Shop"})).await;
    assert_eq!(created.status, 201, "{}", created.text);
    let contract = json!({
        "actionSpec": {"choose": {"label": "Choose", "schema": {
            "type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"],
        }}},
        "streamSpec": {"log": {"schema": {"type": "string"}}},
    });
    let (live, shop) = (world.host.live(), AppId::new("shop").unwrap());
    let request = json!({"intent": "a colour", "blueprintDraft": {"contract": contract}});
    let Value::Object(request) = request else { panic!() };
    let request = accord_live_core::tools::read(request).unwrap();
    let caller = Caller::key(
        "k",
        &KeyScope::new(vec![Verb::Write], None).bound_to(actor_key("painter"), false),
    );
    let made = live.handshake(&caller, &shop, request).await.unwrap();
    let request = json!({"handshakeId": made.handshake_id.as_str(), "props": {}});
    let Value::Object(request) = request else { panic!() };
    let request = accord_live_core::tools::read(request).unwrap();
    let rendered = live.render(&caller, &shop, request, Some(actor_key("painter"))).await.unwrap();
    rendered.session_id.as_str().to_owned()
}

async fn result(asker: &Asker, path: &str) -> Value {
    let answer = asker.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    let mut document: Value = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(document["ok"], true);
    document["result"].take()
}

#[tokio::test]
async fn a_session_is_listed_shown_answered_and_read() {
    let world = World::new();
    let id = asking(&world).await;
    let owner = world.owner();
    let listed = result(&owner, SESSIONS).await;
    let item = &listed["sessions"][0];
    assert_eq!(item["session_id"], id.as_str());
    assert_eq!(item["intent"], "a colour");
    let ask = &item["ask"];
    assert_eq!(ask["asked_by"], json!({"id": "painter", "type": "agent"}));
    assert!(ask["until"].as_str().unwrap() > ask["since"].as_str().unwrap(), "{ask}");
    let prefix = format!("{SESSIONS}?prefix={}", &id[..id.len() - 2]);
    assert_eq!(result(&owner, &prefix).await["sessions"].as_array().unwrap().len(), 1);
    let none = format!("{SESSIONS}?prefix=nothing");
    assert_eq!(result(&owner, &none).await["sessions"], json!([]));
    let asks = result(&owner, "/accord/v1/projects/shop/live/asks").await;
    assert_eq!(asks["asks"][0], *ask);
    let shown = result(&owner, &format!("{SESSIONS}/{id}")).await;
    assert_eq!(shown["session"]["actionSpec"]["choose"]["label"], "Choose");
    assert_eq!(shown["ask"], *ask);

    let actions = format!("{SESSIONS}/{id}/actions?actor=human:lead");
    let wrong = json!({"action": "choose", "data": {"colour": 3}});
    let refused = owner.post(&actions, &wrong).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    let refused: Value = serde_json::from_str(&refused.text).unwrap();
    assert_eq!(refused["error"]["code"], "CONTRACT_VIOLATION");
    assert!(refused["error"].to_string().contains("choose.data.colour"), "{refused}");
    let right = json!({"action": "choose", "data": {"colour": "red"}});
    let acked = owner.post(&actions, &right).await;
    assert_eq!(acked.status, 200, "{}", acked.text);
    let acked: Value = serde_json::from_str(&acked.text).unwrap();
    let sequence = acked["result"]["sequence"].as_u64().unwrap();
    let events = result(&owner, &format!("{SESSIONS}/{id}/events?since={}", sequence - 1)).await;
    assert_eq!(events["last_sequence"], sequence);
    assert_eq!(events["events"][0]["type"], "user.submitted");
    assert_eq!(events["events"][0]["data"]["x-by"]["id"], "lead");
    assert_eq!(result(&owner, SESSIONS).await["sessions"][0].get("ask"), None);
}

#[tokio::test]
async fn a_project_with_a_live_session_is_not_removed() {
    let world = World::new();
    let session = asking(&world).await;
    let owner = world.owner();
    let refused = owner.delete("/accord/v1/projects/shop").await.refused(409, "project_not_empty");
    assert_eq!(refused["contents"]["live_sessions"], 1, "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("1 live session,"), "{refused}");
    // What it asked is still there.
    let listed = result(&owner, SESSIONS).await;
    assert_eq!(listed["sessions"][0]["session_id"], session.as_str());
}

#[tokio::test]
async fn a_request_for_events_waits_for_one() {
    let world = World::new();
    let id = asking(&world).await;
    let owner = world.owner();
    let waiting = {
        let (owner, path) =
            (owner.clone(), format!("{SESSIONS}/{id}/events?since=2&wait_seconds=20"));
        tokio::spawn(async move { result(&owner, &path).await })
    };
    let path = format!("{SESSIONS}/{id}/actions?actor=human:lead");
    let right = json!({"action": "choose", "data": {"colour": "red"}});
    assert_eq!(owner.post(&path, &right).await.status, 200);
    let page = soon("the event", waiting).await.unwrap();
    assert_eq!(page["events"][0]["seq"], 3);
}

#[tokio::test]
async fn a_stream_has_the_ask_the_frames_and_the_events() {
    let world = World::new();
    let id = asking(&world).await;
    let api = accord_host::http::api_as(&world.host, Caller::owner());
    let path = format!("{SESSIONS}/{id}/frames");
    let request = Request::builder().uri(&path).body(axum::body::Body::empty()).unwrap();
    let response = api.call(request).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    let mut heard = String::new();
    let mut acted = false;
    while !heard.contains("x-answered") {
        let frame = soon("the next bytes", body.frame()).await.unwrap().unwrap();
        heard.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        if heard.contains("x-ask") && !std::mem::replace(&mut acted, true) {
            let live = world.host.live();
            let (shop, session) = (AppId::new("shop").unwrap(), SessionId::new(&*id).unwrap());
            let request = json!({"sessionId": id, "channel": "log", "payload": "painting"});
            let Value::Object(request) = request else { panic!() };
            let request = accord_live_core::tools::read(request).unwrap();
            live.emit(&Caller::owner(), &shop, request).await.unwrap();
            let path = format!("{SESSIONS}/{session}/actions?actor=human:lead");
            let right = json!({"action": "choose", "data": {"colour": "red"}});
            assert_eq!(world.owner().post(&path, &right).await.status, 200);
        }
    }
    assert!(heard.contains("\"payload\":\"painting\""), "{heard}");
    assert!(heard.contains("id: 3\ndata: {\"type\":\"render_event\""), "{heard}");
}

#[tokio::test]
async fn who_may_do_what_is_checked() {
    let world = World::new();
    let id = asking(&world).await;
    let other = world.key(&KeyScope::new(vec![Verb::Admin], Some(vec!["atlas".parse().unwrap()])));
    let reader = world.key(&KeyScope::new(vec![Verb::Read], None));
    let right = json!({"action": "choose", "data": {"colour": "red"}});
    let actions = format!("{SESSIONS}/{id}/actions");
    for (path, asker) in
        [(SESSIONS.to_owned(), &other), (format!("{SESSIONS}/{id}/events"), &other)]
    {
        assert_eq!(asker.get(&path).await.status, 403, "{path}");
    }
    let by_lead = format!("{actions}?actor=human:lead");
    assert_eq!(reader.post(&by_lead, &right).await.status, 403);
    // An agent's key does not act as a person.
    let agent = world.key_of("painter");
    assert_eq!(agent.post(&by_lead, &right).await.status, 403);
    // Someone answers.
    let nobody = world.owner().post(&actions, &right).await;
    assert!(nobody.text.contains("/actor"), "{}", nobody.text);
    // A session of another project is the same as none.
    let elsewhere = format!("/accord/v1/projects/atlas/live/sessions/{id}");
    let owner = world.owner();
    for path in [elsewhere, format!("{SESSIONS}/no-such")] {
        for below in ["", "/events", "/frames"] {
            owner.get(&format!("{path}{below}")).await.refused(404, "SESSION_NOT_FOUND");
        }
        let action = format!("{path}/actions?actor=human:lead");
        owner.post(&action, &right).await.refused(404, "SESSION_NOT_FOUND");
    }
    for list in ["sessions", "asks"] {
        let unknown = format!("/accord/v1/projects/shpo/live/{list}");
        owner.get(&unknown).await.refused(404, "project_not_found");
    }
    assert_eq!(result(&reader, SESSIONS).await["sessions"][0]["ask"]["intent"], "a colour");
}
