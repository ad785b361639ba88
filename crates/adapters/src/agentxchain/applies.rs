//! Which parts of a setup an operation looks at.
//!
//! Invariant: a part that nothing would look at is an error. Whoever wrote it meant another situation than the one
//! that would be judged.

use crate::{BadCall, Call};

/// What coordinators look at.
const COORDINATOR: [&str; 6] = [
    "coordinator_config",
    "repos",
    "coordinator_state",
    "barriers",
    "coordinator_history",
    "barrier_ledger",
];

/// What a coordinator passes over: its repositories have their own.
const RUN: [&str; 3] = ["turn_result", "history", "ledger"];

const BUNDLE: &str = "dispatch_bundle";

/// What happens to a bundle once its manifest is written.
const MUTATIONS: [&str; 5] = [
    "post_finalize_inject",
    "post_finalize_tamper",
    "post_finalize_delete",
    "post_finalize_corrupt_manifest",
    "post_finalize_delete_manifest",
];

/// Refuses a setup with a part that its operation does not look at.
///
/// # Errors
/// When there is one.
pub(super) fn check(call: &Call) -> Result<(), BadCall> {
    let operation = call.operation.as_str();
    let is_coordinator = super::coordinator::OPERATIONS.contains(&operation);
    let is_bundle = super::bundles::OPERATIONS.contains(&operation);
    for name in call.setup.keys().map(String::as_str) {
        let applies = match name {
            _ if COORDINATOR.contains(&name) => is_coordinator,
            _ if RUN.contains(&name) => !is_coordinator,
            _ if name == BUNDLE => is_bundle,
            _ if MUTATIONS.contains(&name) => operation == super::bundles::VERIFY,
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
    Ok(())
}
