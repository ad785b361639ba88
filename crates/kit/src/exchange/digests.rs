//! Checks about whole documents and their digests.

use accord_canon::{Profile, canonicalize, sha256};
use accord_contract::fixture::differences;
use accord_contract::{Object, Value};
use serde_json::json;

use super::checks::Judged;
use super::places::Located;
use crate::report::Difference;

pub(super) fn same_document(judged: &Judged<'_>, place: &Located<'_>) -> Vec<Difference> {
    let (wanted, found) = (judged.without(&judged.named), judged.without(place.value));
    // The remembered document is data: nothing in it is an assertion.
    let literal = |value: Value| json!({"assert": "equals", "value": value});
    let expected = match (judged.check.more, wanted) {
        (Some(true), Value::Object(members)) => {
            let members = members.into_iter();
            let members: Object = members.map(|(key, value)| (key, literal(value))).collect();
            Value::Object(members)
        }
        (_, wanted) => literal(wanted),
    };
    let mismatches = differences(&expected, &found).into_iter();
    mismatches.map(|mismatch| Difference::from(mismatch).within(&place.pointer)).collect()
}

/// Hashes the document in a variable, or those at a place; the member `digest` has the digest.
pub(super) fn sha256_of_canonical(judged: &Judged<'_>) -> Vec<Difference> {
    if judged.check.name.is_some() {
        return carried(judged, "", &judged.named, None);
    }
    judged.each(|judged, place| {
        let digest = judged.check.digest.as_ref();
        let digest = digest.map(|name| place.value.get(name).unwrap_or(&Value::Null));
        carried(judged, &place.pointer, place.value, digest)
    })
}

fn carried(
    judged: &Judged<'_>,
    pointer: &str,
    document: &Value,
    digest: Option<&Value>,
) -> Vec<Difference> {
    let document = judged.without(document);
    let profile = judged.check.profile.as_deref().and_then(Profile::from_name);
    let canonical = profile.map(|profile| canonicalize(profile, document.to_string().as_bytes()));
    let Some(Ok(canonical)) = canonical else { return vec![judged.difference(pointer, document)] };
    let hex = sha256(&canonical).hex();
    let holds = match digest {
        // Protocols write a digest with different prefixes, such as `sha256:`.
        Some(Value::String(text)) => text.ends_with(&hex),
        Some(_) => false,
        None => judged.answer.contains(&hex),
    };
    if holds {
        return Vec::new();
    }
    let found = digest.unwrap_or(judged.body).clone();
    vec![Difference::new(pointer, json!({"sha256": hex}), found)]
}

impl Judged<'_> {
    /// A document without the members that the check excludes.
    fn without(&self, document: &Value) -> Value {
        let mut document = document.clone();
        if let Value::Object(members) = &mut document {
            for name in self.check.without.iter().flatten() {
                members.shift_remove(name);
            }
        }
        document
    }
}
