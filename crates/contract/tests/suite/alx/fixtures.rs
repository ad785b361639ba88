//! One full document of every ALX message, and ways to damage it.

use accord_contract::Value;
use accord_contract::alx::MessageName;
use serde_json::json;

/// A document with every member that ALX 1.1 names.
pub(crate) fn document(name: MessageName) -> Value {
    let mut document = match name {
        MessageName::ErrorEnvelope => json!({
            "ok": false,
            "error": {
                "type": "approval", "code": "LOW_CONFIDENCE",
                "message": "No match is close enough.", "suggestion": "Say more about the target."
            },
            "code": "LOW_CONFIDENCE",
        }),
        MessageName::SolveRequest => json!({
            "intent": {"verb": "repair", "target": "pump", "domain": "water"},
            "context": {"site": {"floor": 2}}, "meta": {"userId": "u-7"},
            "options": {"dryRun": true, "force": false, "sessionId": "s-1"},
        }),
        MessageName::SolveResponse => json!({
            "ok": true, "executionId": "e-3", "confidence": 0.75, "confidenceScore": 0.75,
            "artifact": {"id": "a-9", "parts": [{"n": 1}]}, "learning": {"gain": 0.1},
        }),
        MessageName::SessionStatusEnvelope => json!({
            "ok": true, "status": "active",
            "summary": {
                "runCount": 3, "successCount": 2, "avgImprovement": 0.5,
                "lastArtifactId": "a-9", "updatedAt": "2026-05-04T03:02:01Z"
            },
        }),
        MessageName::SessionTimelineEnvelope => json!({
            "ok": true,
            "timeline": [{"type": "execution", "timestamp": 10}, {"type": "fork", "timestamp": 20}],
            "summary": {"runCount": 1, "successCount": 1, "avgImprovement": 0,
                "lastArtifactId": null},
        }),
        MessageName::SessionListEnvelope => json!({
            "ok": true, "sessions": [{"sessionId": "s-1"}, {"sessionId": "s-2", "tags": {"a": 1}}],
        }),
    };
    document["protocol"] = json!({"protocol_version": "1.1", "capabilities": ["runs"]});
    if name != MessageName::SolveRequest {
        document["correlationId"] = json!("c-5");
    }
    document
}

/// The JSON pointers of every value in a document, itself included.
pub(crate) fn places(document: &Value) -> Vec<String> {
    let mut places = vec![String::new()];
    let mut next = 0;
    while let Some(place) = places.get(next).cloned() {
        match document.pointer(&place).unwrap() {
            Value::Object(members) => {
                places.extend(members.keys().map(|name| format!("{place}/{name}")));
            }
            Value::Array(items) => {
                places.extend((0..items.len()).map(|index| format!("{place}/{index}")));
            }
            _ => {}
        }
        next += 1;
    }
    places
}

/// The JSON pointers of every object in a document, itself included.
pub(crate) fn objects(document: &Value) -> Vec<String> {
    let mut places = places(document);
    places.retain(|place| document.pointer(place).unwrap().is_object());
    places
}

/// A document without every member of a name, at any level.
pub(crate) fn without(name: &str, document: &Value) -> Value {
    match document {
        Value::Object(members) => (members.iter())
            .filter(|(member, _)| *member != name)
            .map(|(member, value)| (member.clone(), without(name, value)))
            .collect(),
        Value::Array(items) => items.iter().map(|item| without(name, item)).collect(),
        scalar => scalar.clone(),
    }
}
