//! Envelopes that the tests start from.

use accord_knowledge_core::artifact_hash;
use serde_json::{Value, json};

/// A valid envelope without sources.
pub(crate) fn practice(rationale: &str) -> Value {
    let payload = json!({
        "type": "practice",
        "rationale": rationale,
        "contexts": [],
        "failureModes": [],
    });
    let artifact = artifact_hash(payload.to_string().as_bytes(), Default::default())
        .expect("the payload has a canonical form");
    json!({
        "type": "practice",
        "domain": "software.testing",
        "sources": [],
        "artifactHash": artifact.prefixed(),
        "tier": "open",
        "payload": payload,
    })
}

/// The text of an envelope.
pub(crate) fn text(envelope: &Value) -> Vec<u8> {
    envelope.to_string().into_bytes()
}
