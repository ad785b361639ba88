//! What the strict check of an envelope refuses, and where.

use accord_contract::Code;
use accord_knowledge_core::{DERIVATION_TYPES, PAYLOAD_TYPES, TIERS, validate};
use serde_json::{Value, json};

use crate::samples::{practice, text};

#[track_caller]
fn assert_refused(envelope: &Value, code: Code, pointer: &str) {
    let error = validate(&text(envelope)).expect_err("refused");
    assert_eq!((error.code(), error.pointer()), (code, pointer), "{error}");
}

fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut envelope = practice("why");
    change(&mut envelope);
    envelope
}

/// A payload of each type with everything that its schema asks for.
fn payload(kind: &str) -> Value {
    let mut payload = match kind {
        "practice" => json!({"rationale": "r", "contexts": [], "failureModes": []}),
        "feature" => json!({"interfaceContract": {}, "testScaffold": 1}),
        "stateMachine" => json!({"states": [], "transitions": [], "invariants": []}),
        "promptEngineering" => json!({"template": "t", "modelVersion": "m", "evalCriteria": []}),
        "complianceChecklist" => json!({
            "jurisdictionTags": ["EU"],
            "requirements": [{"id": "1", "description": "d", "isMandatory": false}],
            "evidenceMapping": {"type": "log_entry", "validationLogic": "v"},
        }),
        "rubric" => json!({
            "dimensions": [{"criterion": "c", "weight": 0.5}],
            "scoringLogic": "s",
            "thresholds": {"pass": 1, "escalate": 0},
        }),
        "synthesis" => json!({"question": "q", "answer": "a", "citations": {"0xa": "said"}}),
        "pattern" => json!({
            "pattern": "p",
            "occurrences": [{"context": "c"}, {"context": "c", "kbHash": "0xa", "offset": 3}],
            "applicability": "a",
        }),
        "adaptation" => json!({"targetDomain": "t", "adaptedContent": "c", "tradeoffs": ["x"]}),
        _ => json!({"concern": "security", "enhancedContent": "e"}),
    };
    payload["type"] = kind.into();
    payload["beyond the schema"] = json!([1]);
    payload
}

fn of_kind(kind: &str, payload: Value) -> Value {
    changed(|envelope| {
        envelope["type"] = kind.into();
        envelope["payload"] = payload;
    })
}

#[test]
fn a_complete_payload_of_each_type_is_accepted() {
    for kind in PAYLOAD_TYPES {
        let validated = validate(&text(&of_kind(kind, payload(kind)))).expect(kind);
        assert_eq!((validated.kind.as_str(), validated.tier.as_str()), (kind, "open"));
    }
}

#[test]
fn every_member_of_every_schema_is_needed_and_typed() {
    for kind in PAYLOAD_TYPES {
        for member in required_members(kind) {
            let mut missing = payload(kind);
            missing.as_object_mut().expect("an object").remove(&member);
            let pointer = format!("/payload/{member}");
            assert_refused(&of_kind(kind, missing), Code::SchemaInvalid, &pointer);
            if kind != "feature" {
                let mut mistyped = payload(kind);
                mistyped[&member] = true.into();
                assert_refused(&of_kind(kind, mistyped), Code::SchemaInvalid, &pointer);
            }
        }
    }
}

fn required_members(kind: &str) -> Vec<String> {
    let payload = payload(kind);
    let members = payload.as_object().expect("an object");
    members
        .keys()
        .filter(|name| !["type", "beyond the schema"].contains(&name.as_str()))
        .cloned()
        .collect()
}

#[test]
fn schemas_reach_into_lists_maps_and_choices() {
    for (kind, pointer, wrong) in [
        ("complianceChecklist", "/payload/jurisdictionTags/0", json!(1)),
        ("complianceChecklist", "/payload/requirements/0/isMandatory", json!("yes")),
        ("complianceChecklist", "/payload/evidenceMapping/type", json!("hearsay")),
        ("rubric", "/payload/dimensions/0/weight", json!("heavy")),
        ("rubric", "/payload/thresholds/escalate", json!("0")),
        ("synthesis", "/payload/citations/0xa", json!(1)),
        ("pattern", "/payload/occurrences/1/offset", json!("3")),
        ("adaptation", "/payload/tradeoffs/0", json!({})),
        ("enhancement", "/payload/concern", json!("beauty")),
    ] {
        let mut envelope = of_kind(kind, payload(kind));
        *envelope.pointer_mut(pointer).expect("it is there") = wrong;
        assert_refused(&envelope, Code::SchemaInvalid, pointer);
    }
}

#[test]
fn members_of_the_envelope_are_checked() {
    let hash = format!("0x{}", "0a".repeat(32));
    for (pointer, value) in [
        ("/type", json!("")),
        ("/type", json!(1)),
        ("/domain", json!("")),
        ("/sources", Value::Null),
        ("/payload", Value::Null),
        ("/tier", json!("gold")),
        ("/tier", Value::Null),
        ("/artifactHash", json!("0xdead")),
        ("/artifactHash", json!(hash.to_uppercase())),
    ] {
        let envelope = changed(|envelope| {
            *envelope.pointer_mut(pointer).expect("it is there") = value;
        });
        assert_refused(&envelope, Code::InvalidEnvelope, pointer);
    }
    for name in ["type", "domain", "sources", "payload", "tier", "artifactHash"] {
        let envelope = changed(|envelope| {
            envelope.as_object_mut().expect("an object").remove(name);
        });
        assert_refused(&envelope, Code::InvalidEnvelope, &format!("/{name}"));
    }
    for tier in TIERS {
        assert!(validate(&text(&changed(|envelope| envelope["tier"] = tier.into()))).is_ok());
    }
}

#[test]
fn a_payload_of_another_kind_has_the_wrong_shape() {
    let envelope = changed(|envelope| envelope["payload"] = json!("text"));
    assert_refused(&envelope, Code::SchemaInvalid, "/payload");
}

#[test]
fn sources_must_be_ids_once_each_and_in_order() {
    let (a, b) = (format!("0x{}", "0a".repeat(32)), format!("0x{}", "0b".repeat(32)));
    let sources = |list: Value| changed(|envelope| envelope["sources"] = list);
    assert!(validate(&text(&sources(json!([a, b])))).is_ok());
    assert_refused(&sources(json!([b, a])), Code::SourcesNotSorted, "/sources/1");
    assert_refused(&sources(json!([a, a])), Code::InvalidEnvelope, "/sources/1");
    assert_refused(&sources(json!([a, &b[2..]])), Code::InvalidEnvelope, "/sources/1");
    assert_refused(&sources(json!([a.to_uppercase()])), Code::InvalidEnvelope, "/sources/0");
}

#[test]
fn a_payload_says_the_same_type_as_its_envelope() {
    assert_refused(
        &changed(|envelope| envelope["payload"]["type"] = "feature".into()),
        Code::SchemaInvalid,
        "/payload/type",
    );
    assert_refused(
        &changed(|envelope| envelope["type"] = "factual".into()),
        Code::SchemaInvalid,
        "/type",
    );
}

#[test]
fn a_derivation_is_checked_in_full() {
    let source = format!("0x{}", "0a".repeat(32));
    let derived = |pointer: &str, value: Value| {
        changed(|envelope| {
            envelope["sources"] = json!([source]);
            envelope["derivation"] = json!({
                "type": "compose",
                "inputs": [{"kbId": source, "selectors": ["$"]}],
                "recipe": {},
            });
            if !pointer.is_empty() {
                *envelope.pointer_mut(pointer).expect("it is there") = value;
            }
        })
    };
    assert!(validate(&text(&derived("", Value::Null))).is_ok());
    for kind in DERIVATION_TYPES {
        assert!(validate(&text(&derived("/derivation/type", kind.into()))).is_ok());
    }
    for (pointer, value) in [
        ("/derivation/type", json!("guess")),
        ("/derivation/inputs", json!({})),
        ("/derivation/inputs/0/kbId", json!(format!("0x{}", "0b".repeat(32)))),
        ("/derivation/inputs/0/selectors", json!([1])),
        ("/derivation/recipe", json!([])),
    ] {
        assert_refused(&derived(pointer, value), Code::InvalidEnvelope, pointer);
    }
}
