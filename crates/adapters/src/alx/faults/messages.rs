//! Wrong envelopes, aliases and retries.

use serde_json::Value;

use super::tools::{Honest, after, argument, instead_if, refuse};
use crate::{Answered, Call};

fn document(call: &Call) -> Value {
    serde_json::from_slice(argument(call, "json")).unwrap_or_default()
}

pub(super) fn unknown_member_refused(call: &Call, honest: Honest<'_>) -> Answered {
    let is_unknown = |outcome: &Value| {
        let is_read = call.operation == "decode" && outcome["result"] == "ok";
        is_read && knows_less(&outcome["view"], &document(call))
    };
    instead_if(call, honest, is_unknown, || refuse("WIRE_FIELD_UNKNOWN", ""))
}

/// Whether the document has a member, somewhere, that the view lacks.
fn knows_less(view: &Value, document: &Value) -> bool {
    // Known members that a view leaves out, because they only mirror others.
    const ALIASES: [&str; 2] = ["code", "confidenceScore"];
    match (view, document) {
        (Value::Object(known), Value::Object(given)) => {
            given.iter().any(|(name, value)| match known.get(name) {
                Some(known) => knows_less(known, value),
                None => !ALIASES.contains(&name.as_str()),
            })
        }
        (Value::Array(known), Value::Array(given)) => {
            known.iter().zip(given).any(|(known, given)| knows_less(known, given))
        }
        _ => false,
    }
}

pub(super) fn unknown_capability_reported(call: &Call, honest: Honest<'_>) -> Answered {
    after(call, honest, &["decode"], |outcome| {
        if let listed @ Value::Array(_) = &document(call)["protocol"]["capabilities"] {
            outcome["capabilities"] = listed.clone();
        }
    })
}

pub(super) fn unknown_code_refused(call: &Call, honest: Honest<'_>) -> Answered {
    let is_unknown = |outcome: &Value| outcome["codeKnown"] == false;
    instead_if(call, honest, is_unknown, || refuse("WIRE_FIELD_VALUE", "/error/code"))
}

pub(super) fn alias_believed(call: &Call, honest: Honest<'_>) -> Answered {
    after(call, honest, &["decode"], |outcome| {
        let document = document(call);
        if let (Some(code), true) = (document.get("code"), outcome["view"]["error"].is_object()) {
            outcome["view"]["error"]["code"] = code.clone();
        }
        if let Some(score) = document.get("confidenceScore") {
            outcome["view"]["confidence"] = score.clone();
        }
    })
}

pub(super) fn newer_version_refused(call: &Call, honest: Honest<'_>) -> Answered {
    if let Value::String(version) = &document(call)["protocol"]["protocol_version"]
        && version != "1.1"
    {
        return refuse("WIRE_FIELD_VALUE", "/protocol/protocol_version");
    }
    honest(call)
}

pub(super) fn alias_not_written(call: &Call, honest: Honest<'_>) -> Answered {
    remove_written(call, honest, &["code", "confidenceScore"])
}

pub(super) fn version_not_reported(call: &Call, honest: Honest<'_>) -> Answered {
    remove_written(call, honest, &["protocol"])
}

fn remove_written(call: &Call, honest: Honest<'_>, names: &[&str]) -> Answered {
    after(call, honest, &["encode_error", "encode_success"], |outcome| {
        if let Some(members) = outcome["json"].as_object_mut() {
            members.retain(|name, _| !names.contains(&name.as_str()));
        }
    })
}

pub(super) fn null_taken_for_absent(call: &Call, honest: Honest<'_>) -> Answered {
    after(call, honest, &["decode", "round_trip"], drop_nulls)
}

fn drop_nulls(value: &mut Value) {
    if let Value::Object(members) = value {
        members.retain(|_, member| !member.is_null());
        members.values_mut().for_each(drop_nulls);
    }
}

pub(super) fn failure_with_ok_true(call: &Call, honest: Honest<'_>) -> Answered {
    after(call, honest, &["encode_error"], |outcome| outcome["json"]["ok"] = true.into())
}

pub(super) fn unknown_code_retried(call: &Call, honest: Honest<'_>) -> Answered {
    retried(call, honest, "conservative")
}

pub(super) fn auth_retried(call: &Call, honest: Honest<'_>) -> Answered {
    retried(call, honest, "after_credentials")
}

fn retried(call: &Call, honest: Honest<'_>, class: &str) -> Answered {
    after(call, honest, &["retry"], |outcome| {
        if outcome["class"] == class {
            outcome["action"] = "retry".into();
        }
    })
}
