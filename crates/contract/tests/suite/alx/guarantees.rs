//! WG-01 to WG-10: what every side may rely on.

use std::collections::BTreeMap;

use accord_contract::alx::{
    self, ALX_PROTOCOL_VERSION, MessageName, RunEventType, SessionTimelineEventType, Stream,
};
use accord_contract::codes::Exchange;
use accord_contract::{Code, Failure, Object, Protocol, Value};
use serde_json::json;

use super::fixtures::document;
use crate::golden;

const SUCCESSES: [MessageName; 4] = [
    MessageName::SolveResponse,
    MessageName::SessionStatusEnvelope,
    MessageName::SessionTimelineEnvelope,
    MessageName::SessionListEnvelope,
];

/// The members that every success has.
fn own_members(name: MessageName) -> Object {
    let mut members = document(name).as_object().unwrap().clone();
    for given in ["ok", "protocol"] {
        members.shift_remove(given);
    }
    members
}

fn messages() -> Object {
    let snapshot = alx::snapshot(BTreeMap::new());
    snapshot["messages"].as_object().unwrap().clone()
}

#[test]
fn wg01_every_message_is_in_the_contract_and_its_fixture_uses_all_of_it() {
    let messages = messages();
    for name in MessageName::ALL {
        let contract = messages[name.as_str()].as_object().unwrap();
        for place in contract.keys().filter(|place| !place.contains('*')) {
            let pointer = if place.is_empty() {
                String::new()
            } else {
                format!("/{}", place.replace('.', "/"))
            };
            let timeline =
                *name == MessageName::SessionTimelineEnvelope && pointer == "/summary/updatedAt";
            let found = document(*name).pointer(&pointer).is_some();
            assert!(found || timeline, "{name} does not show {pointer}");
        }
    }
}

#[test]
fn wg02_every_answer_has_ok_correlation_id_and_protocol() {
    let messages = messages();
    for name in SUCCESSES {
        for member in ["ok", "correlationId", "protocol", "protocol.protocol_version"] {
            let place = &messages[name.as_str()][member];
            assert_eq!(place["presence"], "required", "{name} {member}");
        }
        let written = name.success(own_members(name)).unwrap();
        assert_eq!(written["ok"], true);
        assert_eq!(written["correlationId"], "c-5");
        assert_eq!(written["protocol"]["protocol_version"], ALX_PROTOCOL_VERSION);

        let mut without = own_members(name);
        without.shift_remove("correlationId");
        let failure = name.success(without).unwrap_err();
        assert_eq!(
            (failure.code, failure.pointer.as_deref()),
            (Code::WireFieldMissing, Some("/correlationId"))
        );
    }
    let body = failure_body(Code::RateLimited);
    assert_eq!(body["correlationId"], "c-5");
    assert_eq!(body["protocol"]["protocol_version"], ALX_PROTOCOL_VERSION);
}

#[test]
fn wg03_and_wg04_an_emitter_writes_the_listed_types_alone() {
    for kind in RunEventType::ALL {
        let ok = *kind != RunEventType::RunFailed;
        let event =
            json!({"type": kind.as_str(), "ok": ok, "timestamp": "2026-01-01T00:00:00Z", "x": 1});
        assert_eq!(Stream::Run.emit(event.clone()), Ok(event.clone()));
        assert_refused(Stream::Timeline, json!({"type": kind.as_str()}));
    }
    for kind in SessionTimelineEventType::ALL {
        let event = json!({"type": kind.as_str(), "timestamp": 5, "x": 1});
        assert_eq!(Stream::Timeline.emit(event.clone()), Ok(event.clone()));
        assert_refused(Stream::Run, json!({"type": kind.as_str()}));
    }
    assert_refused(Stream::Run, json!({"type": "run.levitated"}));
    assert_refused(Stream::Run, json!({"type": "RUN.STARTED"}));
    assert_refused(Stream::Timeline, json!({"type": ""}));
}

#[test]
fn wg05_a_code_is_written_with_the_category_of_the_released_contract() {
    let released = golden::read(golden::ALX_1_1).expect("the contract is in the repository");
    let released: Value = serde_json::from_str(&released).unwrap();
    let mut promised = BTreeMap::new();
    for (kind, codes) in released["errors"].as_object().unwrap() {
        for code in codes.as_array().unwrap() {
            promised.insert(code.as_str().unwrap(), kind.as_str());
        }
    }
    assert!(promised.len() > 10, "{promised:?}");
    let alx = Code::ALL.iter().filter(|code| code.protocol() == Protocol::Alx);
    let bodies: Vec<_> = alx.map(|code| failure_body(*code)["error"].clone()).collect();
    let written = (bodies.iter())
        .map(|error| [&error["code"], &error["type"]].map(|text| text.as_str().unwrap()))
        .map(|[code, kind]| (code, kind));
    assert_eq!(written.collect::<BTreeMap<_, _>>(), promised);
}

#[test]
fn wg06_every_canonical_place_of_the_contract_has_a_meaning() {
    for (name, places) in messages() {
        for (place, attributes) in places.as_object().unwrap() {
            let meaning = attributes["semantics"].as_str().unwrap();
            assert!(!meaning.is_empty() && meaning != "unknown", "{name} {place}");
        }
    }
}

#[test]
fn wg07_a_newer_server_is_understood() {
    let mut newer = document(MessageName::SolveResponse);
    newer["protocol"] =
        json!({"protocol_version": "1.9", "capabilities": ["runs", "streaming"], "region": "x"});
    newer["artifact"]["metadata"] = json!({"size": 1});
    newer["cost"] = json!(null);
    let read = MessageName::SolveResponse.decode(newer.clone()).unwrap();
    assert_eq!(read.document, newer);
    assert_eq!(read.view.get("cost"), None);
}

#[test]
fn wg08_a_failure_is_never_ok_and_a_success_never_not() {
    let contradiction = |name: MessageName, ok: Value| {
        let mut document = document(name);
        document["ok"] = ok;
        let failure = Failure::from(name.decode(document).unwrap_err());
        assert_eq!((failure.code, failure.pointer.as_deref()), (Code::WireFieldValue, Some("/ok")));
    };
    contradiction(MessageName::ErrorEnvelope, json!(true));
    for name in SUCCESSES {
        contradiction(name, json!(false));
        let mut members = own_members(name);
        members.insert("ok".into(), json!(false));
        assert_eq!(name.success(members).unwrap_err().code, Code::WireFieldValue);
    }
    let members = own_members(MessageName::ErrorEnvelope);
    assert_eq!(MessageName::ErrorEnvelope.success(members).unwrap_err().code, Code::WireFieldValue);
    for code in Code::ALL {
        assert_eq!(failure_body(*code)["ok"], false);
    }
}

#[test]
fn wg09_and_wg10_the_end_of_a_run_agrees_with_itself() {
    for (kind, truth) in [("run.completed", true), ("run.failed", false)] {
        for ok in [None, Some(json!(null)), Some(json!(!truth)), Some(json!(truth))] {
            let mut event = json!({"type": kind});
            if let Some(ok) = &ok {
                event["ok"] = ok.clone();
            }
            let sound = ok == Some(json!(truth));
            let emitted = Stream::Run.emit(event.clone());
            let report = Stream::Run.read([event.clone()]);
            assert_eq!(emitted.is_ok(), sound, "{event}");
            assert_eq!(report.accepted.len(), usize::from(sound), "{event}");
            if let Err(failure) = emitted {
                assert_eq!(failure.code, Code::EventOutcomeContradiction);
                assert_eq!(failure.pointer.as_deref(), Some("/ok"));
                assert_eq!(report.refused[0].code, Code::EventOutcomeContradiction);
            }
        }
    }
}

fn failure_body(code: Code) -> Value {
    let exchange = Exchange { correlation_id: "c-5".into(), capabilities: Vec::new() };
    Failure::new(code, "It failed.").body(Protocol::Alx, exchange)
}

fn assert_refused(stream: Stream, event: Value) {
    let failure = stream.emit(event.clone()).unwrap_err();
    assert_eq!(failure.code, Code::EventTypeNotEmittable, "{event}");
    assert_eq!(failure.pointer.as_deref(), Some("/type"));
}
