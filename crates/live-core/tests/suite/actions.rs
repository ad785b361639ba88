//! Actions: validate, append, then acknowledge.

use accord_contract::{Code, Time, Timestamp};
use accord_live_core::session::{ActFacts, Dispatch, LedgerName, LedgerRow, submit as submit_tool};
use serde_json::{Value, json};

use crate::support::{World, at, contract, project, submit, time};

fn spec() -> Value {
    json!({
        "actionSpec": {
            "toggle": {
                "label": "Toggle",
                "schema": {
                    "type": "object",
                    "properties": {"id": {"type": "string"}},
                    "required": ["id"],
                },
                "nextStep": "toggle_task",
            },
            "close": {"label": "Close"},
        },
        "agentCapabilities": {
            "tools": {
                "toggle_task": {
                    "toolInfo": {
                        "inputSchema": {
                            "type": "object",
                            "properties": {"id": {"type": "string"}},
                            "required": ["id"],
                        },
                    },
                },
            },
        },
    })
}

fn world() -> World {
    World::rendered(&contract(spec()), json!({"prompt": "pick one"}), json!({}))
}

#[test]
fn an_action_is_appended_and_acknowledged_with_its_number() {
    let (contract, mut world) = (contract(spec()), world());
    let last = world.session.head.ledger;
    world.now = time(9);
    let ack = world.act(&contract, None, submit("toggle", json!({"id": "a"}))).unwrap();
    assert_eq!((ack.sequence, ack.at), (last + 1, time(9)));
    let row = world.ledger.last().unwrap();
    assert_eq!(row.kind, LedgerName::UserSubmitted.into());
    assert_eq!(
        row.data,
        json!({
            "sessionId": "s1", "type": "data:submit",
            "payload": {"action": "toggle", "data": {"id": "a"}, "tool": "toggle_task"},
        }),
    );
    let event = world.events.last().unwrap();
    assert_eq!(event.kind.as_str(), "live.user.submitted");
    let (sequence, digest) = (ack.sequence, &event.data["digest"]);
    let expected = json!({
        "session_id": "s1", "app_id": "shop", "sequence": sequence, "action": "toggle",
        "digest": digest,
    });
    assert_eq!(event.data, expected);
    assert_eq!(world.session.head.expires_at, time(9 + 3600));
    assert_eq!(
        world.act(&contract, None, submit("close", json!(null))).unwrap().sequence,
        last + 2
    );
}

#[test]
fn the_tool_of_the_client_is_kept() {
    let (contract, mut world) = (contract(spec()), world());
    let mut payload = submit("toggle", json!({"id": "a"}));
    payload["payload"]["tool"] = json!("other");
    payload["payload"]["x-more"] = json!(1);
    world.act(&contract, None, payload.clone()).unwrap();
    assert_eq!(world.ledger.last().unwrap().data, payload);
    world.act(&contract, None, submit("close", json!({}))).unwrap();
    assert_eq!(world.ledger.last().unwrap().data["payload"].get("tool"), None);
}

#[test]
fn a_refused_action_appends_nothing() {
    let (contract, world) = (contract(spec()), world());
    for (payload, field, keyword) in [
        (submit("doesNotExist", json!({})), "action", None),
        (submit("toggle", json!({"id": 41})), "toggle.data.id", Some("type")),
        (submit("toggle", json!({})), "toggle.data.id", Some("required")),
        (submit("", json!({})), "action", None),
        (json!({"sessionId": "s1", "type": "data:submit", "payload": 7}), "value", None),
        (json!({"sessionId": "s1", "type": "data:submit"}), "value", None),
    ] {
        let failure = world.decide(&contract, None, payload.clone()).unwrap_err();
        assert_eq!(failure.code, Code::GguiContractViolation, "{payload}");
        let details = Value::Object(*failure.details.unwrap());
        assert_eq!(details["error"], json!("contract_violation"));
        assert_eq!(details["tool"], json!("ggui_event"));
        let first = &details["violations"][0];
        assert_eq!(first["field"], json!(field), "{payload}: {first}");
        assert!(first["message"].is_string());
        if let Some(keyword) = keyword {
            assert_eq!(first["keyword"], json!(keyword), "{payload}");
        }
    }
}

#[test]
fn without_an_action_spec_every_action_is_accepted() {
    let open = contract(json!({}));
    let mut world = World::rendered(&open, json!({}), json!({}));
    world.act(&open, None, submit("anything", json!([1]))).unwrap();
    assert!(world.ledger.last().unwrap().event_id.is_some());
    // One without a name cannot be mapped for an agent, so it is in the ledger alone.
    let acted = world
        .decide(&open, None, json!({"sessionId": "s1", "type": "data:submit", "payload": 7}))
        .unwrap();
    assert_eq!(acted.delta.ledger[0].event_id, None);
}

#[test]
fn another_type_of_event_is_recorded_without_a_check() {
    let (contract, mut world) = (contract(spec()), world());
    let payload = json!({"sessionId": "s1", "type": "ui:focus", "payload": {"action": "nope"}});
    let acted = world.decide(&contract, None, payload.clone()).unwrap();
    world.apply(acted.delta);
    let row = world.ledger.last().unwrap();
    assert_eq!((&row.data, &row.event_id), (&payload, &None));
}

#[test]
fn without_a_pipe_an_action_is_in_the_ledger_alone() {
    let (contract, mut world) = (contract(spec()), world());
    world.session.head.has_pipe = false;
    let acted = world.decide(&contract, None, submit("close", json!({}))).unwrap();
    assert_eq!(acted.delta.ledger[0].event_id, None);
}

#[test]
fn an_expired_session_takes_no_action() {
    let (contract, mut world) = (contract(spec()), world());
    world.now = world.session.head.expires_at;
    let failure = world.decide(&contract, None, submit("close", json!({}))).unwrap_err();
    assert_eq!(failure.code, Code::GguiSessionNotFound);
}

fn numbered(client_seq: Value, data: Value) -> Value {
    let mut payload = submit("toggle", data);
    payload["clientSeq"] = client_seq;
    payload
}

#[test]
fn an_action_that_is_sent_again_gets_the_first_answer() {
    let (contract, mut world) = (contract(spec()), world());
    let payload = numbered(json!(1), json!({"id": "a"}));
    let first = world.act(&contract, Some("page"), payload.clone()).unwrap();
    world.act(&contract, Some("page"), numbered(json!(2), json!({"id": "b"}))).unwrap();
    world.now = time(30);
    let again = world.decide(&contract, Some("page"), payload.clone()).unwrap();
    assert_eq!(again.ack, first);
    assert!(again.delta.is_empty());
    // Also when the contract no longer allows it: it was recorded.
    let narrower = crate::support::contract(json!({"actionSpec": {"close": {"label": "Close"}}}));
    assert_eq!(world.decide(&narrower, Some("page"), payload).unwrap().ack, first);
}

#[test]
fn only_the_same_page_and_number_are_the_same_action() {
    let (contract, mut world) = (contract(spec()), world());
    let payload = |number: Value| numbered(number, json!({"id": "a"}));
    let first = world.act(&contract, Some("page"), payload(json!(1))).unwrap().sequence;
    for (client_id, number) in [
        (Some("reloaded"), json!(1)),
        (Some("page"), json!(2)),
        (None, json!(1)),
        (None, json!(1)),
        (Some("page"), json!(1.5)),
        (Some("page"), json!(1.5)),
        (Some("page"), json!("1")),
    ] {
        let ack = world.act(&contract, client_id, payload(number)).unwrap();
        assert!(ack.sequence > first);
    }
    assert_eq!(world.ledger.len() as u64, world.session.head.ledger);
    // 1.0 is 1.
    let again = world.decide(&contract, Some("page"), payload(json!(1.0))).unwrap();
    assert_eq!(again.ack.sequence, first);
}

#[test]
fn a_number_that_names_another_action_is_refused() {
    let (contract, mut world) = (contract(spec()), world());
    world.act(&contract, Some("page"), numbered(json!(1), json!({"id": "a"}))).unwrap();
    let other = numbered(json!(1), json!({"id": "b"}));
    let failure = world.decide(&contract, Some("page"), other).unwrap_err();
    assert_eq!(failure.code, Code::GguiInvalidMessage);
    assert_eq!(failure.details.unwrap()["field"], json!("payload.clientSeq"));
}

#[test]
fn an_answer_with_a_key_of_accord_is_refused() {
    let (contract, mut world) = (contract(spec()), world());
    let key = format!("accord_{}_{}", "0123456789abcdef", "0v".repeat(26));
    for (data, field) in [
        (json!(key.as_str()), "close.data"),
        (json!({"form": [{"key": format!("my key: {key}")}]}), "close.data.form[0].key"),
    ] {
        let failure = world.act(&contract, None, submit("close", data)).unwrap_err();
        assert_eq!(failure.code, Code::GguiContractViolation);
        let details = Value::Object(*failure.details.unwrap());
        assert_eq!(details["violations"][0]["field"], field);
        assert!(!details.to_string().contains(&key), "the key is not repeated");
    }
}

#[test]
fn a_page_submits_through_its_tool_once() {
    let mut world = world();
    let project = project();
    let dispatch = || Dispatch {
        intent: "toggle".into(),
        data: json!({"id": "a"}),
        ui_context: json!({"tab": 2}),
        action_id: "act-1".into(),
        fired_at: Timestamp::parse("2026-09-21T13:46:40Z").unwrap(),
        expect: None,
    };
    let contract = contract(spec());
    let tool = |world: &World, earlier: Option<&LedgerRow>, now: Time| {
        let (session, at) = (&world.session, at(&project, now));
        let facts = ActFacts {
            session,
            contract: &contract,
            client_id: None,
            sender: &world.sender,
            earlier,
            ask: None,
            content: None,
            closed_by: None,
            at,
        };
        submit_tool(dispatch(), facts)
    };
    let acted = tool(&world, None, world.now).unwrap();
    let first = acted.ack;
    world.apply(acted.delta);
    assert_eq!(world.ledger.last().unwrap().event_id.as_deref(), Some("act-1"));
    let earlier = world.ledger.last();
    let again = tool(&world, earlier, world.now).unwrap();
    assert_eq!(again.ack, first);
    assert!(again.delta.is_empty());
    let late = tool(&world, earlier, time(9999)).unwrap_err();
    assert_eq!(late.code, Code::GguiPipeNotFound, "while the session lives");

    assert!(tool(&world, None, time(3600)).is_err());
    world.session.head.has_pipe = false;
    let failure = tool(&world, None, world.now).unwrap_err();
    assert_eq!(failure.code, Code::GguiPipeNotFound);
}
