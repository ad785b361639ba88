//! `resolve_blocked` and `transition_state`: moves of a run that fixtures ask for by name.

use accord_contract::codes::Failure;
use accord_contract::time::Time;
use accord_contract::wire::Object;
use accord_runs_core::run::{self, Change};
use accord_runs_core::state::{PendingTransition, State, Status};
use accord_runs_core::{Ids, rule};
use serde_json::Value;

/// Only a blocked run is resolved, and only by the action `resume`.
///
/// Clauses: AX-SM-RESOLVE.
///
/// # Errors
/// With `invalid_state_transition` otherwise.
pub fn check_resolution(state: &State, args: &Object) -> Result<(), Failure> {
    let resumes = rule!(text(args, "action") == Some("resume"); AnyActionResolves => true);
    if !resumes || state.status() != Status::Blocked {
        return Err(run::refuse_direct(state, "active by that action"));
    }
    Ok(())
}

/// Performs the transition that `trigger` names.
///
/// Clauses: AX-SM-ILLEGAL.
///
/// # Errors
/// When the run has no such transition.
pub fn transition(
    state: &State,
    args: &Object,
    ids: &mut Ids,
    now: Time,
) -> Result<Change, Failure> {
    if let Some(Value::Object(overrides)) = args.get("candidate_overrides")
        && overrides.contains_key("run_id")
    {
        run::check_identity(state, text(overrides, "run_id"))?;
    }
    let trigger = text(args, "trigger").unwrap_or_default();
    match trigger {
        "gate_requires_human_approval" => {
            let gate = |name: &str| Some(args.get("gate")?.get(name)?.as_str()?.to_owned());
            let pending = PendingTransition {
                from: gate("from").unwrap_or_default(),
                to: gate("to").unwrap_or_default(),
                gate: gate("gate").unwrap_or_default(),
                requested_by_turn: gate("requested_by_turn"),
            };
            run::pause_for_gate(state, &pending, ids, now)
        }
        "escalation" => {
            let reason = text(args, "reason").unwrap_or("unspecified");
            let role = text(args, "role_id").unwrap_or("unknown");
            run::escalate_role(state, reason, role, ids, now)
        }
        _ => {
            let target = text(args, "target_status").unwrap_or(trigger);
            rule!(
                Err(run::refuse_direct(state, target));
                AnyTriggerEscalates => run::escalate_role(state, trigger, "unknown", ids, now)
            )
        }
    }
}

fn text<'a>(document: &'a Object, name: &str) -> Option<&'a str> {
    document.get(name).and_then(Value::as_str)
}
