//! Helpers of faults: changed calls and changed answers.

use serde_json::{Map, Value, json};

use crate::{BadCall, Call, Reply};

/// The implementation that a fault wraps.
pub(super) type Honest<'a> = &'a dyn Fn(&Call) -> Result<Reply, BadCall>;

pub(super) fn with_arg(call: &Call, name: &str, value: impl Into<Value>) -> Call {
    let mut changed = call.clone();
    changed.args.insert(name.to_owned(), value.into());
    changed
}

/// The call with a changed envelope. An envelope that is no JSON object stays as it is.
pub(super) fn with_envelope(call: &Call, change: impl FnOnce(&mut Map<String, Value>)) -> Call {
    let text = call.args.get("envelope").and_then(Value::as_str);
    match text.and_then(|text| serde_json::from_str(text).ok()) {
        Some(Value::Object(mut members)) => {
            change(&mut members);
            with_arg(call, "envelope", Value::Object(members).to_string())
        }
        _ => call.clone(),
    }
}

/// The honest answer of the operations named, with its members changed.
pub(super) fn after(
    call: &Call,
    honest: Honest<'_>,
    operations: &[&str],
    change: impl FnOnce(&mut Value),
) -> Result<Reply, BadCall> {
    let mut reply = honest(call)?;
    if let Reply::Outcome(outcome) = &mut reply
        && operations.contains(&call.operation.as_str())
        && outcome["result"] == "ok"
    {
        change(outcome);
    }
    Ok(reply)
}

/// The honest answer, or `other` when that is a refusal with `code`.
pub(super) fn instead_of(
    call: &Call,
    honest: Honest<'_>,
    code: &str,
    other: impl FnOnce() -> Result<Reply, BadCall>,
) -> Result<Reply, BadCall> {
    match honest(call)? {
        Reply::Outcome(outcome) if outcome["code"] == code && outcome["result"] == "error" => {
            other()
        }
        reply => Ok(reply),
    }
}

pub(super) fn ok(mut members: Value) -> Result<Reply, BadCall> {
    members["result"] = "ok".into();
    Ok(Reply::Outcome(members))
}

pub(super) fn refuse(code: &str, pointer: &str) -> Result<Reply, BadCall> {
    Ok(Reply::Outcome(json!({ "result": "error", "code": code, "pointer": pointer })))
}
