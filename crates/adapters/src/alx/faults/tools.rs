//! Helpers of faults: changed calls and changed answers.

use accord_contract::{Object, Value};

use crate::alx::refused;
use crate::{Answered, Call, Reply};

/// The implementation that a fault wraps.
pub(super) type Honest<'a> = &'a dyn Fn(&Call) -> Answered;

pub(super) fn with_arg(call: &Call, name: &str, value: impl Into<Value>) -> Call {
    let mut changed = call.clone();
    changed.args.insert(name.to_owned(), value.into());
    changed
}

/// The text of an argument; empty if there is none.
pub(super) fn argument<'a>(call: &'a Call, name: &str) -> &'a [u8] {
    call.args.get(name).and_then(Value::as_str).unwrap_or_default().as_bytes()
}

/// The call with a changed envelope. An envelope that is no JSON object stays as it is.
pub(super) fn with_envelope(call: &Call, change: impl FnOnce(&mut Object)) -> Call {
    match serde_json::from_slice(argument(call, "envelope")) {
        Ok(Value::Object(mut members)) => {
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
) -> Answered {
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
    other: impl FnOnce() -> Answered,
) -> Answered {
    let is_refused = |outcome: &Value| outcome["code"] == code && outcome["result"] == "error";
    instead_if(call, honest, is_refused, other)
}

/// The honest answer, or `other` when its outcome is such.
pub(super) fn instead_if(
    call: &Call,
    honest: Honest<'_>,
    is_such: impl Fn(&Value) -> bool,
    other: impl FnOnce() -> Answered,
) -> Answered {
    match honest(call)? {
        Reply::Outcome(outcome) if is_such(&outcome) => other(),
        reply => Ok(reply),
    }
}

pub(super) fn is_ok(reply: &Reply) -> bool {
    matches!(reply, Reply::Outcome(outcome) if outcome["result"] == "ok")
}

pub(super) fn refuse(code: &str, pointer: &str) -> Answered {
    Ok(refused(code, pointer))
}
