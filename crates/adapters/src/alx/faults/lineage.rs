//! Registries and builders that accept too much or too little.

use serde_json::{Map, Value, json};

use super::tools::{Honest, after, instead_of, ok, refuse, with_envelope};
use crate::{BadCall, Call, Reply};

const CHECKING: [&str; 2] = ["kb_register", "kb_validate"];

pub(super) fn unsorted_registered(call: &Call, honest: Honest<'_>) -> Result<Reply, BadCall> {
    instead_of(call, honest, "SOURCES_NOT_SORTED", || honest(&with_envelope(call, sort_sources)))
}

pub(super) fn schema_before_sources(call: &Call, honest: Honest<'_>) -> Result<Reply, BadCall> {
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

pub(super) fn orphan_registered(call: &Call, honest: Honest<'_>) -> Result<Reply, BadCall> {
    instead_of(call, honest, "UNREGISTERED_SOURCE", || ok(json!({ "isNew": true })))
}

pub(super) fn always_new(call: &Call, honest: Honest<'_>) -> Result<Reply, BadCall> {
    after(call, honest, &["kb_register"], |outcome| {
        outcome["isNew"] = true.into();
    })
}

pub(super) fn stranger_as_input(call: &Call, honest: Honest<'_>) -> Result<Reply, BadCall> {
    let reply = honest(call)?;
    match &reply {
        Reply::Outcome(outcome)
            if outcome["pointer"]
                .as_str()
                .is_some_and(|pointer| pointer.starts_with("/derivation/inputs")) =>
        {
            honest(&with_envelope(call, |members| {
                members.remove("derivation");
            }))
        }
        _ => Ok(reply),
    }
}

/// A member is extra when the block is just as valid without it.
pub(super) fn extra_member_refused(call: &Call, honest: Honest<'_>) -> Result<Reply, BadCall> {
    let reply = honest(call)?;
    let accepted = matches!(&reply, Reply::Outcome(outcome) if outcome["result"] == "ok");
    if !accepted || !CHECKING.contains(&call.operation.as_str()) {
        return Ok(reply);
    }
    for name in payload_members(call) {
        let without = honest(&with_envelope(call, |members| {
            if let Some(payload) = members.get_mut("payload").and_then(Value::as_object_mut) {
                payload.remove(&name);
            }
        }))?;
        if matches!(without, Reply::Outcome(outcome) if outcome["result"] == "ok") {
            return refuse("SCHEMA_INVALID", &format!("/payload/{name}"));
        }
    }
    Ok(reply)
}

fn payload_members(call: &Call) -> Vec<String> {
    let text = call.args.get("envelope").and_then(Value::as_str);
    let envelope: Value = serde_json::from_str(text.unwrap_or_default()).unwrap_or_default();
    let payload = envelope["payload"].as_object();
    payload.into_iter().flat_map(Map::keys).filter(|name| *name != "type").cloned().collect()
}

pub(super) fn tier_left_out(call: &Call, honest: Honest<'_>) -> Result<Reply, BadCall> {
    after(call, honest, &["kb_derive"], |outcome| {
        if let Some(members) = outcome["envelope"].as_object_mut() {
            members.remove("tier");
        }
    })
}

fn sort_sources(members: &mut Map<String, Value>) {
    if let Some(Value::Array(sources)) = members.get_mut("sources") {
        sources
            .sort_by_key(|source| source.as_str().map(|id| id.encode_utf16().collect::<Vec<_>>()));
    }
}
