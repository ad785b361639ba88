//! The steps of a conformance kit.

use accord_live_core::control::{Field, Step};
use accord_live_core::session::{Rendering, Session, render};
use serde_json::{Value, json};

use crate::support::{World, at, contract, object, project, submit, time};

fn read(step: Value) -> Option<Step> {
    Step::read(object(step)).ok()
}

/// Takes a step that creates a session.
fn create(step: Value, earlier: Option<&Session>) -> (Session, accord_live_core::session::Content) {
    let Some(Step::CreateSession(step)) = read(step) else { panic!("no step") };
    let (project, ui, app_id) = (project(), step.ui(), step.app_id());
    let contract = contract(match ui.get("actionSpec") {
        Some(spec) => json!({"actionSpec": spec}),
        None => json!({}),
    });
    let rendering = Rendering {
        session_id: &step.session_id,
        app_id: &app_id,
        earlier,
        ui,
        props: object(json!({})),
        contract: &contract,
        asked_by: None,
    };
    let (session, content, _) = render(rendering, at(&project, time(0)));
    (session, content)
}

#[test]
fn every_step_is_read() {
    for step in [
        json!({"kind": "create-session", "sessionId": "s"}),
        json!({"kind": "server-version-override", "sessionId": "s", "advertiseVersion": "v"}),
        json!({"kind": "emit-envelope", "channel": "c", "payload": null}),
        json!({"kind": "page-url", "sessionId": "s"}),
        json!({"kind": "renderer-url-override", "url": "http://127.0.0.1/gone.js"}),
        json!({"kind": "ui-initialize-response-override", "response": {}}),
    ] {
        assert!(read(step.clone()).is_some(), "{step}");
    }
    for step in [
        json!({}),
        json!({"kind": "renderer-url-override"}),
        json!({"kind": "ui-initialize-response-override"}),
        json!({"kind": "create-session"}),
        json!({"kind": "page-url"}),
        json!({"kind": "server-version-override", "sessionId": "s"}),
    ] {
        assert!(read(step.clone()).is_none(), "{step}");
    }
}

#[test]
fn a_session_is_created_again_and_goes_on_counting() {
    let step = || {
        json!({
            "kind": "create-session", "sessionId": "s1", "actionSpec": {"toggle": {"schema": {
                "type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"],
            }}},
        })
    };
    let (session, content) = create(step(), None);
    assert_eq!(Field::AppId.read(&session, &content), Some(json!("conformance")));
    assert_eq!(Field::HostContext.read(&session, &content), None);
    assert_eq!(content.ui["actionSpec"]["toggle"]["label"], json!("toggle"));
    let spec = contract(json!({"actionSpec": content.ui["actionSpec"]}));
    let mut world = World::empty(session, time(0));
    world.content = content;
    assert!(world.decide(&spec, None, submit("toggle", json!({"id": 41}))).is_err());
    let acted = world.decide(&spec, None, submit("toggle", json!({"id": "a"}))).unwrap();
    let session = acted.delta.session.unwrap();
    let (again, _) = create(step(), Some(&session));
    assert!(again.head.ledger > session.head.ledger);
    assert_eq!(again.head.horizon, session.head.ledger);
}

#[test]
fn a_session_can_belong_to_another_app() {
    let step = json!({"kind": "create-session", "sessionId": "s", "appId": "conformance-other"});
    let (session, content) = create(step, None);
    assert_eq!(Field::AppId.read(&session, &content), Some(json!("conformance-other")));
}
