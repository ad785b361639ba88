//! Registries and builders that accept too much or too little.

use accord_contract::{Object, Value};
use serde_json::json;

use super::tools::{Honest, after, argument, instead_if, instead_of, is_ok, refuse, with_envelope};
use crate::{Answered, Call, Reply};

const CHECKING: [&str; 2] = ["kb_register", "kb_validate"];

pub(super) fn unsorted_registered(call: &Call, honest: Honest<'_>) -> Answered {
    instead_of(call, honest, "SOURCES_NOT_SORTED", || honest(&with_envelope(call, sort_sources)))
}

pub(super) fn schema_before_sources(call: &Call, honest: Honest<'_>) -> Answered {
    let reply = honest(call)?;
    let sorted = honest(&with_envelope(call, sort_sources))?;
    match (&reply, &sorted) {
        (Reply::Outcome(given), Reply::Outcome(sorted))
            if given["code"] == "SOURCES_NOT_SORTED" && sorted["code"] == "SCHEMA_INVALID" =>
        {
            Ok(Reply::Outcome(sorted.clone()))
        }
        _ => Ok(reply),
    }
}

pub(super) fn orphan_registered(call: &Call, honest: Honest<'_>) -> Answered {
    let accepted = || Ok(Reply::ok(json!({ "isNew": true })));
    instead_of(call, honest, "UNREGISTERED_SOURCE", accepted)
}

pub(super) fn always_new(call: &Call, honest: Honest<'_>) -> Answered {
    after(call, honest, &["kb_register"], |outcome| outcome["isNew"] = true.into())
}

pub(super) fn stranger_as_input(call: &Call, honest: Honest<'_>) -> Answered {
    let is_stranger = |outcome: &Value| {
        let place = outcome["pointer"].as_str();
        place.is_some_and(|place| place.starts_with("/derivation/inputs"))
    };
    instead_if(call, honest, is_stranger, || {
        honest(&with_envelope(call, |members| drop(members.remove("derivation"))))
    })
}

/// A member is extra when the block is just as valid without it.
pub(super) fn extra_member_refused(call: &Call, honest: Honest<'_>) -> Answered {
    let reply = honest(call)?;
    if !is_ok(&reply) || !CHECKING.contains(&call.operation.as_str()) {
        return Ok(reply);
    }
    for name in payload_members(call) {
        let without = honest(&with_envelope(call, |members| {
            if let Some(payload) = members.get_mut("payload").and_then(Value::as_object_mut) {
                payload.remove(&name);
            }
        }))?;
        if is_ok(&without) {
            return refuse("SCHEMA_INVALID", &format!("/payload/{name}"));
        }
    }
    Ok(reply)
}

fn payload_members(call: &Call) -> Vec<String> {
    let envelope: Value = serde_json::from_slice(argument(call, "envelope")).unwrap_or_default();
    let payload = envelope["payload"].as_object();
    payload.into_iter().flat_map(Object::keys).filter(|name| *name != "type").cloned().collect()
}

pub(super) fn tier_left_out(call: &Call, honest: Honest<'_>) -> Answered {
    after(call, honest, &["kb_derive"], |outcome| {
        if let Some(members) = outcome["envelope"].as_object_mut() {
            members.remove("tier");
        }
    })
}

fn sort_sources(members: &mut Object) {
    if let Some(Value::Array(sources)) = members.get_mut("sources") {
        sources.sort_by_key(|id| id.as_str().map(|id| id.encode_utf16().collect::<Vec<_>>()));
    }
}
