//! What faults are made of: changed questions and changed answers.

use serde_json::{Map, Value, json};

pub(super) use crate::faults::Honest;
use crate::{BadCall, Call, Reply};

/// What a fault gives.
pub(super) type Said = Result<Reply, BadCall>;

/// Asks another question where it is about one of these operations: the setup and the arguments come as
/// `setup` and `args` of one document.
pub(super) fn asked(
    call: &Call,
    honest: Honest<'_>,
    operations: &[&str],
    change: impl FnOnce(&mut Value),
) -> Said {
    if !operations.contains(&call.operation.as_str()) {
        return honest(call);
    }
    let mut document = json!({ "setup": call.setup, "args": call.args });
    change(&mut document);
    let mut part = |name: &str| match document[name].take() {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    let mut changed = call.clone();
    changed.setup = part("setup");
    changed.args = part("args");
    honest(&changed)
}

/// Changes the answer of these operations.
pub(super) fn answered(
    call: &Call,
    honest: Honest<'_>,
    operations: &[&str],
    change: impl FnOnce(&mut Value),
) -> Said {
    let mut reply = honest(call)?;
    if let Reply::Outcome(outcome) = &mut reply
        && operations.contains(&call.operation.as_str())
    {
        change(outcome);
    }
    Ok(reply)
}

/// Changes the staged result of these operations, wherever it is given.
pub(super) fn staged(
    call: &Call,
    honest: Honest<'_>,
    operations: &[&str],
    change: impl FnOnce(&mut Value),
) -> Said {
    asked(call, honest, operations, |document| {
        for place in ["/setup/turn_result", "/args/turn_result"] {
            if let Some(result @ Value::Object(_)) = document.pointer_mut(place) {
                return change(result);
            }
        }
    })
}

/// The elements of a list, or the values of an object; none of anything else.
pub(super) fn each(value: Option<&mut Value>) -> Vec<&mut Value> {
    match value {
        Some(Value::Array(elements)) => elements.iter_mut().collect(),
        Some(Value::Object(members)) => members.values_mut().collect(),
        _ => Vec::new(),
    }
}

/// Takes members out of an object.
pub(super) fn without(value: &mut Value, names: &[&str]) {
    if let Value::Object(members) = value {
        members.retain(|name, _| !names.contains(&name.as_str()));
    }
}
