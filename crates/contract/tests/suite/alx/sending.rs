//! What a server of this version may send: less than a reader lives with.

use accord_contract::alx::{ALX_PROTOCOL_VERSION, MessageName};
use accord_contract::{Code, Failure, Object, Value};
use serde_json::json;

use super::fixtures::document;

fn members(name: MessageName) -> Object {
    document(name).as_object().unwrap().clone()
}

fn timeline(events: Value) -> Result<Value, Failure> {
    let mut members = members(MessageName::SessionTimelineEnvelope);
    members.insert("timeline".into(), events);
    MessageName::SessionTimelineEnvelope.success(members)
}

fn refused(events: Value) -> (Code, String) {
    let failure = timeline(events).unwrap_err();
    let pointer = failure.pointer.unwrap();
    assert!(failure.message.starts_with(&pointer), "{}", failure.message);
    (failure.code, pointer)
}

#[test]
fn a_timeline_is_sent_with_the_listed_types_alone() {
    let events = json!([{"type": "step", "timestamp": 1}, {"type": "merge", "timestamp": "x"}]);
    assert_eq!(refused(events.clone()), (Code::EventTypeNotEmittable, "/timeline/1/type".into()));
    // A reader lives with it.
    let mut read = document(MessageName::SessionTimelineEnvelope);
    read["timeline"] = events;
    assert!(MessageName::SessionTimelineEnvelope.decode(read).is_ok());
}

#[test]
fn a_timeline_is_sent_oldest_first() {
    let at = |times: &[&str]| {
        let event = |time: &&str| {
            let time: Value = serde_json::from_str(time).unwrap();
            json!({"type": "step", "timestamp": time, "x": 1})
        };
        Value::from_iter(times.iter().map(event))
    };
    for sound in [
        &[][..],
        &["5"],
        &["5", "5", "5.0", "5.5", "6"],
        &["-1.5", "-1", "9007199254740992.0", "9007199254740993"],
        &["null", "5", "null", "6"],
    ] {
        let written = timeline(at(sound)).unwrap();
        assert_eq!(written["timeline"], at(sound));
    }
    for (unsound, place) in [
        (&["6", "5"][..], 1),
        (&["1", "2", "1.5"], 2),
        (&["9007199254740993", "9007199254740992.0"], 1),
        // A missing time is passed over; it does not start the order again.
        (&["6", "null", "5"], 2),
    ] {
        assert_eq!(
            refused(at(unsound)),
            (Code::WireFieldValue, format!("/timeline/{place}/timestamp"))
        );
    }
    let without = json!([{"type": "step", "timestamp": 6}, {"type": "step"}]);
    assert!(timeline(without).is_ok());
}

#[test]
fn the_version_that_is_sent_is_always_ours() {
    for protocol in [
        json!({"protocol_version": "9.9", "capabilities": ["runs", "x"], "region": "n"}),
        json!({"protocol_version": 9, "capabilities": ["runs", "x"], "region": "n"}),
        json!({"capabilities": ["runs", "x"], "region": "n"}),
    ] {
        let mut members = members(MessageName::SolveResponse);
        members.insert("protocol".into(), protocol);
        let written = MessageName::SolveResponse.success(members).unwrap();
        assert_eq!(
            written["protocol"],
            json!({"protocol_version": ALX_PROTOCOL_VERSION, "capabilities": ["runs", "x"],
                "region": "n"})
        );
    }
    let mut members = members(MessageName::SolveResponse);
    members.insert("protocol".into(), json!("1.1"));
    let failure = MessageName::SolveResponse.success(members).unwrap_err();
    assert_eq!(
        (failure.code, failure.pointer.as_deref()),
        (Code::WireFieldType, Some("/protocol"))
    );
}

#[test]
fn neither_a_request_nor_an_error_is_a_success() {
    for name in [MessageName::SolveRequest, MessageName::ErrorEnvelope] {
        let mut members = members(name);
        members.shift_remove("ok");
        let failure = name.success(members).unwrap_err();
        assert_eq!(
            (failure.code, failure.pointer.as_deref()),
            (Code::WireFieldValue, Some("/ok")),
            "{name}"
        );
    }
}
