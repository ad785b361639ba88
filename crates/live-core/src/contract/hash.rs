//! The identity of contracts and variants.
//!
//! Invariant: two contracts that a page cannot tell apart have the same hash. The order of members,
//! the composition of letters, and texts that only explain do not count.

use accord_canon::{CanonError, Canonicalizer, Digest, Numbers, Profile, sha256};
use accord_contract::{Object, Value, rule};
use unicode_normalization::UnicodeNormalization;

/// The hash of a contract. It is also the key of its blueprint. Fails when the contract is nested
/// past the limit of canonical JSON.
///
/// Clauses: GGUI-CONTRACT-HASH.
pub fn contract_hash(contract: &Object) -> Result<String, CanonError> {
    let mut contract = contract.clone();
    for tool in tools(&mut contract) {
        // The version of a server is no part of what it offers.
        if let Some(server) = tool.get_mut("serverInfo").and_then(Value::as_object_mut) {
            server.shift_remove("version");
        }
    }
    let strips = rule!(true; ExplanationsCount => false);
    Ok(short(&digest(&normal(&Value::Object(contract), strips))?))
}

/// The key of a variant of a contract. Empty members do not count; texts do. Fails when the
/// variance is nested past the limit of canonical JSON.
///
/// Clauses: GGUI-CONTRACT-VARIANT-KEY.
pub fn variant_key(variance: Option<&Value>) -> Result<String, CanonError> {
    let variance = variance.map(|variance| normal(variance, false));
    let variance = rule!(variance.and_then(not_empty); EmptyCounts => variance);
    Ok(short(&digest(&variance.unwrap_or_else(|| Value::Object(Object::new())))?))
}

/// The SHA-256 digest of the canonical form (RFC 8785). Integers are rounded as ECMAScript rounds
/// them, so that every implementation gets the same bytes.
pub(crate) fn digest(value: &Value) -> Result<Digest, CanonError> {
    let mut canonicalizer = Canonicalizer::with_numbers(Profile::Jcs, Numbers::Round);
    Ok(sha256(canonicalizer.canonicalize_value(value)?))
}

fn short(digest: &Digest) -> String {
    let mut hex = digest.hex();
    hex.truncate(16);
    hex
}

fn tools(contract: &mut Object) -> impl Iterator<Item = &mut Value> {
    let tools = contract.get_mut("agentCapabilities").and_then(|spec| spec.get_mut("tools"));
    let tools = tools.and_then(Value::as_object_mut);
    tools.into_iter().flat_map(|tools| tools.values_mut())
}

/// A value with composed letters; without texts that only explain, if `strips` them. A map may
/// have an entry with the name of such a text: that is an object and is kept.
fn normal(value: &Value, strips: bool) -> Value {
    match value {
        Value::String(text) => Value::String(text.nfc().collect()),
        Value::Array(items) => items.iter().map(|item| normal(item, strips)).collect(),
        Value::Object(members) => {
            let explains = |name: &str, value: &Value| {
                strips && matches!(name, "description" | "usage") && value.is_string()
            };
            let kept = members.iter().filter(|(name, value)| !explains(name, value));
            kept.map(|(name, value)| (name.nfc().collect::<String>(), normal(value, strips)))
                .collect()
        }
        scalar => scalar.clone(),
    }
}

/// A value without what is empty in it; none if nothing is left.
fn not_empty(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then_some(Value::String(text)),
        Value::Array(items) => {
            let items: Vec<_> = items.into_iter().filter_map(not_empty).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Object(members) => {
            let kept = members.into_iter();
            let kept = kept.filter_map(|(name, value)| Some((name, not_empty(value)?)));
            let members: Object = kept.collect();
            (!members.is_empty()).then_some(Value::Object(members))
        }
        scalar => Some(scalar),
    }
}
