//! Which parts of a setup an operation looks at.
//!
//! Invariant: a part that nothing would look at is an error, and so is a part that would change nothing. Whoever wrote
//! it meant another situation than the one that would be judged.

use accord_runs_core::fixture::inflate::{BUNDLE, BUNDLE_CHANGES, COORDINATOR, RUN};
use serde_json::Value;

use super::workspace::members;
use crate::{BadCall, Call};

/// Refuses a setup with a part that its operation does not look at, or none at all.
///
/// # Errors
/// When there is one.
pub(super) fn check(call: &Call) -> Result<(), BadCall> {
    if !call.has_setup {
        let message =
            "the fixture has no setup; write an empty object where there is nothing to set up";
        return Err(BadCall::new(message));
    }
    let operation = call.operation.as_str();
    let is_coordinator = super::coordinator::OPERATIONS.contains(&operation);
    let is_bundle = super::bundles::OPERATIONS.contains(&operation);
    for name in call.setup.keys().map(String::as_str) {
        let applies = match name {
            _ if COORDINATOR.contains(&name) => is_coordinator,
            // The repositories of a coordinator have their own.
            _ if RUN.contains(&name) => !is_coordinator,
            _ if name == BUNDLE => is_bundle,
            _ if BUNDLE_CHANGES.contains(&name) => operation == super::bundles::VERIFY,
            _ => true,
        };
        if !applies {
            let message = format!("{operation} does not look at {name}, and the setup has it");
            return Err(BadCall::new(message));
        }
        if COORDINATOR.contains(&name) && !call.setup.contains_key(COORDINATOR[0]) {
            let config = COORDINATOR[0];
            let message = format!("the setup has {name} and no {config}, which it belongs to");
            return Err(BadCall::new(message));
        }
    }
    BUNDLE_CHANGES
        .iter()
        .try_for_each(|part| of_bundles(call, part))
}

/// Refuses a change to the bundle of a turn that has none.
fn of_bundles(call: &Call, part: &str) -> Result<(), BadCall> {
    let turns: Vec<&str> = match call.setup.get(part) {
        Some(Value::Bool(false)) => Vec::new(),
        Some(Value::Bool(true)) => vec![call.text("turn_id")?],
        _ => members(&call.setup, part)?
            .map(|(turn, _)| turn.as_str())
            .collect(),
    };
    let bundles = call.setup.get(BUNDLE).and_then(Value::as_object);
    let has_bundle = |turn: &str| bundles.is_some_and(|bundles| bundles.contains_key(turn));
    match turns.into_iter().find(|turn| !has_bundle(turn)) {
        None => Ok(()),
        Some(turn) => Err(BadCall::new(format!(
            "{part} names {turn}, which has no {BUNDLE}, so that nothing would change"
        ))),
    }
}
