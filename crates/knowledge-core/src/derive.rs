//! Making the envelope of a block that descends from others.

use std::collections::BTreeSet;

use accord_canon::{Digest, Numbers};
use serde_json::{Map, Value};

use crate::envelope::{Outline, utf16_order, with_prefix};
use crate::{HashOptions, KbError, KbHasher, artifact_hash};

/// The members that a caller gives for a new block.
#[derive(Clone, Debug)]
pub struct Draft {
    pub kind: String,
    pub domain: String,
    pub payload: Value,
    /// The blocks that it was made from, in any order, with or without `0x`.
    pub sources: Vec<String>,
    pub derivation: Option<Value>,
    /// The tier; `open` if absent.
    pub tier: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    pub envelope: Value,
    pub kb_hash: Digest,
}

/// Completes a draft: sources prefixed and sorted, tier and artifact hash filled in, and the
/// derivation's inputs checked against the sources. Fails when the draft gives no envelope that has
/// an identity. Clauses: ALX-BUILD-TIER, ALX-BUILD-ARTIFACT, ALX-BUILD-SOURCES, ALX-BUILD-MINIMAL.
pub fn build_derived(draft: Draft) -> Result<Derived, KbError> {
    let payload = draft.payload.to_string();
    let artifact =
        artifact_hash(payload.as_bytes(), Numbers::Exact).map_err(|error| match error {
            KbError::Canon(error) => KbError::Canon(error.within("/payload", 0)),
            other => other,
        })?;
    let mut sources: Vec<String> = draft.sources.iter().map(|id| with_prefix(id)).collect();
    // After the prefix, which makes no other block; before the sort: the index is the caller's.
    refuse_duplicates(&sources)?;
    sources.sort_by(|left, right| utf16_order(left, right));

    let mut members = Map::new();
    members.insert("type".to_owned(), draft.kind.into());
    members.insert("domain".to_owned(), draft.domain.into());
    members.insert("sources".to_owned(), sources.into());
    members.insert("artifactHash".to_owned(), artifact.prefixed().into());
    let tier = draft.tier.unwrap_or_else(|| "open".to_owned());
    members.insert("tier".to_owned(), tier.into());
    members.insert("payload".to_owned(), draft.payload);
    if let Some(derivation) = draft.derivation {
        members.insert("derivation".to_owned(), prefix_inputs(derivation));
    }
    // Last, because the check reads the finished members with their prefixed sources.
    Outline::of(&members)?.check_derivation_inputs()?;
    let envelope = Value::Object(members);
    let kb_hash =
        KbHasher::new(HashOptions::default()).identify(envelope.to_string().as_bytes())?.kb_hash;
    Ok(Derived { envelope, kb_hash })
}

/// Names the place in the order in which the caller gave the sources. Clauses: ALX-BUILD-REFUSES.
fn refuse_duplicates(sources: &[String]) -> Result<(), KbError> {
    let mut seen = BTreeSet::new();
    match sources.iter().position(|source| !seen.insert(source)) {
        Some(index) => Err(KbError::DuplicateSource { pointer: format!("/sources/{index}") }),
        None => Ok(()),
    }
}

fn prefix_inputs(mut derivation: Value) -> Value {
    let inputs = derivation.get_mut("inputs").and_then(Value::as_array_mut);
    for input in inputs.into_iter().flatten() {
        if let Some(Value::String(id)) = input.get_mut("kbId") {
            *id = with_prefix(id);
        }
    }
    derivation
}
