//! Wrong identities.

use accord_canon::{Profile, canonicalize, keccak256, raw_sha256_cid, sha256};
use accord_contract::alx::KB_DOMAIN_PREFIX;
use accord_contract::{Object, Value};

use super::tools::{Honest, after, argument, with_arg, with_envelope};
use crate::{Answered, Call};

const HASHING: &[&str] = &["kb_hash"];

pub(super) fn hashed_without_tag(call: &Call, honest: Honest<'_>) -> Answered {
    after(call, honest, HASHING, |outcome| {
        let canonical = outcome["canonical"].as_str().unwrap_or_default();
        outcome["kbHash"] = keccak256(canonical.as_bytes()).prefixed().into();
    })
}

pub(super) fn tag_ignored(call: &Call, honest: Honest<'_>) -> Answered {
    match call.operation.as_str() {
        "domain_hash" => honest(&with_arg(call, "tag", KB_DOMAIN_PREFIX)),
        _ => honest(call),
    }
}

pub(super) fn whole_envelope_hashed(call: &Call, honest: Honest<'_>) -> Answered {
    let whole = canonicalize(Profile::Alx, argument(call, "envelope"));
    after(call, honest, HASHING, |outcome| {
        if let Ok(whole) = whole {
            rehash(outcome, &whole);
        }
    })
}

pub(super) fn tier_not_hashed(call: &Call, honest: Honest<'_>) -> Answered {
    hash_changed(call, honest, |members| drop(members.remove("tier")))
}

pub(super) fn tier_filled_in(call: &Call, honest: Honest<'_>) -> Answered {
    hash_changed(call, honest, |members| {
        members.entry("tier").or_insert_with(|| "open".into());
    })
}

pub(super) fn sources_not_sorted(call: &Call, honest: Honest<'_>) -> Answered {
    let given: Object = serde_json::from_slice(argument(call, "envelope")).unwrap_or_default();
    after(call, honest, HASHING, |outcome| {
        let text = outcome["canonical"].as_str().unwrap_or_default();
        let mut scoped: Value = serde_json::from_str(text).unwrap_or_default();
        if let Some(sources @ Value::Array(_)) = given.get("sources") {
            scoped["sources"] = sources.clone();
        }
        if let Ok(canonical) = canonicalize(Profile::Alx, scoped.to_string().as_bytes()) {
            rehash(outcome, &canonical);
        }
    })
}

pub(super) fn sources_folded(call: &Call, honest: Honest<'_>) -> Answered {
    hash_changed(call, honest, |members| {
        let sources = members.get_mut("sources").and_then(Value::as_array_mut);
        for source in sources.into_iter().flatten() {
            if let Value::String(id) = source {
                id.make_ascii_lowercase();
            }
        }
    })
}

pub(super) fn parents_ignored(call: &Call, honest: Honest<'_>) -> Answered {
    hash_changed(call, honest, |members| drop(members.remove("parents")))
}

pub(super) fn duplicates_removed(call: &Call, honest: Honest<'_>) -> Answered {
    if call.operation == "kb_hash" && !call.args.contains_key("sources") {
        return honest(&with_arg(call, "sources", "dedup"));
    }
    honest(call)
}

pub(super) fn cid_of_the_document(call: &Call, honest: Honest<'_>) -> Answered {
    after(call, honest, HASHING, |outcome| {
        outcome["cid"] = raw_sha256_cid(&sha256(argument(call, "envelope"))).into();
    })
}

pub(super) fn artifact_hash_tagged(call: &Call, honest: Honest<'_>) -> Answered {
    let canonical = canonicalize(Profile::Alx, argument(call, "payload"));
    after(call, honest, &["artifact_hash"], |outcome| {
        if let Ok(canonical) = canonical {
            let tagged = [KB_DOMAIN_PREFIX.as_bytes(), &canonical].concat();
            outcome["artifactHash"] = keccak256(&tagged).prefixed().into();
        }
    })
}

fn hash_changed(call: &Call, honest: Honest<'_>, change: impl FnOnce(&mut Object)) -> Answered {
    if call.operation == "kb_hash" {
        return honest(&with_envelope(call, change));
    }
    honest(call)
}

fn rehash(outcome: &mut Value, canonical: &[u8]) {
    let tagged = [KB_DOMAIN_PREFIX.as_bytes(), canonical].concat();
    outcome["kbHash"] = keccak256(&tagged).prefixed().into();
    outcome["canonical"] = String::from_utf8_lossy(canonical).into();
    outcome["cid"] = raw_sha256_cid(&sha256(canonical)).into();
}
