//! The parts of a setup, and the operations that use each. A part that would change nothing is an
//! error: its author described another situation than the one that would be judged.

use serde_json::Value;

use super::workspace::members;
use crate::{BadCall, Call};

const COMMON: [&str; 3] = ["state", "config", "filesystem"];

const RUN: [&str; 3] = ["turn_result", "history", "ledger"];

const BUNDLE: &str = "dispatch_bundle";

/// The changes to a bundle after its manifest was written.
const BUNDLE_CHANGES: [&str; 5] = [
    "post_finalize_inject",
    "post_finalize_tamper",
    "post_finalize_delete",
    "post_finalize_corrupt_manifest",
    "post_finalize_delete_manifest",
];

/// The configuration of a coordinator, which the other parts about it need.
const COORDINATOR_CONFIG: &str = "coordinator_config";

const COORDINATOR: [&str; 5] =
    ["repos", "coordinator_state", "barriers", "coordinator_history", "barrier_ledger"];

/// Refuses a call without a setup, and a setup with a part that its operation does not use.
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
        let of_coordinator = name == COORDINATOR_CONFIG || COORDINATOR.contains(&name);
        let used = if of_coordinator {
            is_coordinator
        } else if RUN.contains(&name) {
            // The repositories of a coordinator have these parts themselves.
            !is_coordinator
        } else if name == BUNDLE {
            is_bundle
        } else if BUNDLE_CHANGES.contains(&name) {
            operation == super::bundles::VERIFY
        } else if COMMON.contains(&name) {
            true
        } else {
            return Err(BadCall::new(format!("the setup has an unknown member {name}")));
        };
        if !used {
            let message = format!("{operation} does not use {name}, and the setup has it");
            return Err(BadCall::new(message));
        }
        if of_coordinator && !call.setup.contains_key(COORDINATOR_CONFIG) {
            let message = format!("the setup has {name} without {COORDINATOR_CONFIG}");
            return Err(BadCall::new(message));
        }
    }
    BUNDLE_CHANGES.iter().try_for_each(|part| of_bundles(call, part))
}

/// Refuses a change to the bundle of a turn that has none.
fn of_bundles(call: &Call, part: &str) -> Result<(), BadCall> {
    let turns: Vec<&str> = match call.setup.get(part) {
        Some(Value::Bool(false)) => Vec::new(),
        Some(Value::Bool(true)) => vec![call.text("turn_id")?],
        _ => members(&call.setup, part)?.map(|(turn, _)| turn.as_str()).collect(),
    };
    let bundles = call.setup.get(BUNDLE).and_then(Value::as_object);
    let has_bundle = |turn: &str| bundles.is_some_and(|bundles| bundles.contains_key(turn));
    match turns.into_iter().find(|turn| !has_bundle(turn)) {
        None => Ok(()),
        Some(turn) => Err(BadCall::new(format!(
            "{part} names {turn}, which has no {BUNDLE}, so nothing would change"
        ))),
    }
}
