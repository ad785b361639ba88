//! C1 to C6: what a client must live with.

use accord_contract::alx::{
    ALX_PROTOCOL_VERSION, Action, Capability, ErrorEnvelope, MessageName, RunEvent, SolveResponse,
    Stream, decide, read,
};
use accord_contract::codes::RetryClass;
use accord_contract::wire::Message;
use accord_contract::{Value, Wire, WireCode};
use serde_json::json;

use super::fixtures::{document, objects, places, without};

#[test]
fn c1_unknown_members_at_every_level_change_nothing_and_survive() {
    for name in MessageName::ALL {
        let original = name.decode(document(*name)).unwrap();
        assert_eq!(original.document, document(*name), "{name}");
        for place in objects(&document(*name)) {
            for unknown in [json!(null), json!(7), json!("text"), json!([{}]), json!({"deep": {}})]
            {
                let mut injected = document(*name);
                injected.pointer_mut(&place).unwrap()["zz-later"] = unknown.clone();
                let read = name.decode(injected.clone());
                let read = read.unwrap_or_else(|error| panic!("{name} at {place}: {error}"));
                assert_eq!(without("zz-later", &read.view), original.view, "{name} at {place}");
                assert_eq!(read.document, injected, "{name} at {place}");
            }
        }
    }
}

#[test]
fn c1_every_level_at_once() {
    for name in MessageName::ALL {
        let mut injected = document(*name);
        for place in objects(&injected.clone()) {
            injected.pointer_mut(&place).unwrap()["x-all"] = json!(["x"]);
        }
        let read = name.decode(injected.clone()).unwrap();
        assert_eq!(read.document, injected);
        assert_eq!(without("x-all", &read.view), name.decode(document(*name)).unwrap().view);
    }
}

#[test]
fn c2_unknown_capabilities_are_passed_over_and_survive() {
    for name in MessageName::ALL {
        let mut injected = document(*name);
        injected["protocol"]["capabilities"] = json!(["zzz", "runs", "", "runs", "Runs"]);
        let read = name.decode(injected.clone()).unwrap();
        assert_eq!(read.capabilities, [Capability::Runs], "{name}");
        assert_eq!(read.document, injected, "{name}");
    }
}

#[test]
fn c3_an_unknown_code_is_kept_and_retried_conservatively() {
    for kind in ["auth", "approval", "execution", "validation", "later"] {
        let mut injected = document(MessageName::ErrorEnvelope);
        injected["error"]["type"] = kind.into();
        injected["error"]["code"] = "NEW".into();
        injected["code"] = "NEW".into();
        let envelope = ErrorEnvelope::from_document(injected.clone()).unwrap();
        assert_eq!(envelope.error.code, WireCode::Unknown("NEW".into()));
        assert_eq!(envelope.encode(), injected);
        let decision = decide(&envelope.error.kind, &envelope.error.code, false, 1);
        assert_eq!(decision.class, RetryClass::Conservative, "{kind}");
        assert_eq!(decision.action, Action::Stop, "{kind}");
        let read = MessageName::ErrorEnvelope.decode(injected).unwrap();
        assert_eq!(read.code_known, Some(false));
    }
}

#[test]
fn c3_a_known_code_in_another_category_is_another_code() {
    let mut injected = document(MessageName::ErrorEnvelope);
    injected["error"]["type"] = "execution".into();
    let read = MessageName::ErrorEnvelope.decode(injected).unwrap();
    assert_eq!(read.code_known, Some(false));
    let read = MessageName::ErrorEnvelope.decode(document(MessageName::ErrorEnvelope)).unwrap();
    assert_eq!(read.code_known, Some(true));
    let read = MessageName::SolveResponse.decode(document(MessageName::SolveResponse)).unwrap();
    assert_eq!(read.code_known, None);
}

#[test]
fn c4_reading_never_depends_on_an_alias() {
    let messages = [
        (MessageName::ErrorEnvelope, ErrorEnvelope::ALIASES),
        (MessageName::SolveResponse, SolveResponse::ALIASES),
    ];
    for (name, aliases) in messages {
        let truth = name.decode(document(name)).unwrap();
        assert!(!aliases.is_empty());
        for alias in aliases {
            let mut absent = document(name);
            absent.as_object_mut().unwrap().shift_remove(alias.name).unwrap();
            assert_eq!(name.decode(absent).unwrap(), truth);
            for wrong in [json!("OTHER"), json!(0.1), json!(null), json!([]), json!({"a": 1})] {
                let mut injected = document(name);
                injected[alias.name] = wrong;
                assert_eq!(name.decode(injected).unwrap(), truth, "{name} {}", alias.name);
            }
            // And the alias cannot stand in for what it repeats.
            let mut alone = document(name);
            let (above, member) = alias.mirrors.rsplit_once('.').unwrap_or(("", alias.mirrors));
            let above = if above.is_empty() { String::new() } else { format!("/{above}") };
            let object = alone.pointer_mut(&above).unwrap().as_object_mut().unwrap();
            object.shift_remove(member).unwrap();
            assert_eq!(name.decode(alone).unwrap_err().pointer, format!("{above}/{member}"));
        }
    }
}

#[test]
fn c5_an_unknown_event_type_is_skipped_and_reported_and_the_stream_goes_on() {
    let stream = [
        json!({"type": "run.started"}),
        json!({"type": "run.levitated", "ok": [], "timestamp": {}}),
        json!({"type": "run.completed", "ok": true}),
    ];
    let reading = read::<RunEvent>(stream);
    assert_eq!(reading.accepted.len(), 2);
    assert_eq!(reading.skipped, [(1, "run.levitated".into())]);
    assert_eq!(reading.refused, []);

    let mut timeline = document(MessageName::SessionTimelineEnvelope);
    let unknown = json!({"type": "merge", "timestamp": "soon", "x": [1]});
    timeline["timeline"].as_array_mut().unwrap().insert(1, unknown.clone());
    let read = MessageName::SessionTimelineEnvelope.decode(timeline.clone()).unwrap();
    assert_eq!(read.document, timeline);
    assert_eq!(read.view["timeline"][1], json!({"type": "merge"}));
    assert_eq!(read.view["timeline"][2]["type"], "fork");
    assert_eq!(Stream::Timeline.read([unknown]).skipped[0].kind, "merge");
}

#[test]
fn c6_a_version_is_only_text_to_a_reader() {
    for name in MessageName::ALL {
        for version in ["1.2", "1.1-beta", "2.0", "", "latest", "1.1.1", ALX_PROTOCOL_VERSION] {
            let mut injected = document(*name);
            injected["protocol"]["protocol_version"] = version.into();
            let read = name.decode(injected.clone()).unwrap();
            assert_eq!(read.view["protocol"]["protocol_version"], version);
            assert_eq!(read.document, injected);
        }
    }
}

/// What a reader takes and what the published schema takes is the same, at every place.
#[test]
fn readers_and_schemas_agree_about_damaged_documents() {
    use accord_contract::wire::json_schema;
    let schema = |name: &MessageName| match name {
        MessageName::ErrorEnvelope => json_schema::<ErrorEnvelope>(),
        MessageName::SolveResponse => json_schema::<SolveResponse>(),
        MessageName::SolveRequest => json_schema::<accord_contract::alx::SolveRequest>(),
        MessageName::SessionStatusEnvelope => {
            json_schema::<accord_contract::alx::SessionStatusEnvelope>()
        }
        MessageName::SessionTimelineEnvelope => {
            json_schema::<accord_contract::alx::SessionTimelineEnvelope>()
        }
        MessageName::SessionListEnvelope => {
            json_schema::<accord_contract::alx::SessionListEnvelope>()
        }
    };
    let values = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-1),
        json!(0.5),
        json!(3.0),
        json!("x"),
        json!("active"),
        json!([]),
        json!({}),
        json!(["a"]),
        json!([{"type": "step"}]),
    ];
    for name in MessageName::ALL {
        let validator = jsonschema::validator_for(&schema(name)).unwrap();
        assert!(validator.is_valid(&document(*name)), "{name}");
        for place in places(&document(*name)) {
            for value in &values {
                let mut damaged = document(*name);
                *damaged.pointer_mut(&place).unwrap() = value.clone();
                agree(*name, &validator, &damaged);
            }
            if let Some((above, member)) = place.rsplit_once('/') {
                let mut damaged = document(*name);
                if let Some(Value::Object(members)) = damaged.pointer_mut(above) {
                    members.shift_remove(member);
                    agree(*name, &validator, &damaged);
                }
            }
        }
    }
}

fn agree(name: MessageName, validator: &jsonschema::Validator, document: &Value) {
    let read = name.decode(document.clone());
    assert_eq!(read.is_ok(), validator.is_valid(document), "{name}: {document}: {read:?}");
    if let Ok(read) = read {
        let again = name.decode(read.document.clone()).unwrap();
        assert_eq!(again, read, "{name}: {document}");
    }
}
