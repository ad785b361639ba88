//! Transitions that other operations share, and those that are requested by their name.

use accord_contract::{Code, Failure, Time};

use super::{Change, illegal};
use crate::state::{Block, PendingTransition, State, Status};
use crate::{EventType, GateType, Ids, Result, build, doc, rule};

/// Pauses the run before a phase transition that needs approval. Fails with
/// `invalid_state_transition` when the run is not active, is not in the phase `from`, or has a
/// pending gate.
///
/// Clauses: AX-SM-PAUSE.
pub fn pause_for_gate(
    state: &State,
    pending: &PendingTransition,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    if state.status() != Status::Active || pending.from != state.phase() {
        return Err(illegal(state, &format!("wait for the gate {}", pending.gate)));
    }
    let requested_at = pending.requested_at.clone().or_else(|| Some(now.to_string()));
    let pending = &PendingTransition { requested_at, ..pending.clone() };
    let mut next = state.clone();
    set_pending(&mut next, pending)?;
    let payload = build([
        doc::GateEvent::GATE_TYPE.to(GateType::PhaseTransition),
        doc::GateEvent::GATE_ID.to(pending.gate.as_str()),
        doc::GateEvent::FROM.to(pending.from.as_str()),
        doc::GateEvent::TO.to(pending.to.as_str()),
    ]);
    Change::emitting(next, [(EventType::GatePending, None, payload)], ids, now)
}

pub(crate) fn set_pending(state: &mut State, pending: &PendingTransition) -> Result<()> {
    // The status changes first, because only that can fail.
    state.wait_for_approval(&pending.gate)?;
    state.set(doc::State::PENDING_PHASE_TRANSITION, pending.document());
    Ok(())
}

/// Blocks the run because a role cannot continue. `reason` is one of the protocol's triggers. Fails
/// with `invalid_state_transition` when the run is not active.
///
/// Clauses: AX-SM-BLOCK.
pub fn escalate_role(
    state: &State,
    reason: &str,
    role: &str,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    let legal = rule!(
        state.status() == Status::Active;
        PausedEscalates => matches!(state.status(), Status::Active | Status::Paused)
    );
    if !legal {
        return Err(illegal(state, "be escalated"));
    }
    super::block(state, &Block::escalated(reason, role), ids, now)
}

#[derive(Clone, Debug, PartialEq)]
pub struct TransitionRequest<'a> {
    pub trigger: &'a str,
    pub target_status: Option<&'a str>,
    pub gate: PendingTransition,
    pub reason: Option<&'a str>,
    pub role: Option<&'a str>,
    /// The id of the run to write, where one is given; `None` inside removes it.
    pub run_id: Option<Option<&'a str>>,
}

/// Performs a transition that is requested by its name. A status changes only by a trigger, never
/// directly. Fails with `immutable_field` when the id of the run would change, and with
/// `invalid_state_transition` when the run has no such transition.
///
/// Clauses: AX-SM-ILLEGAL.
pub fn transition(
    state: &State,
    request: &TransitionRequest<'_>,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    if let Some(run_id) = request.run_id {
        check_identity(state, run_id)?;
    }
    match request.trigger {
        "gate_requires_human_approval" => pause_for_gate(state, &request.gate, ids, now),
        "escalation" => {
            let reason = request.reason.unwrap_or("unspecified");
            escalate_role(state, reason, request.role.unwrap_or("unknown"), ids, now)
        }
        trigger => {
            let target = request.target_status.unwrap_or(trigger);
            rule!(
                Err(illegal(state, &format!("be set to {target}")));
                AnyTriggerEscalates => escalate_role(state, trigger, "unknown", ids, now)
            )
        }
    }
}

/// Checks a resolution that is requested by its name: only a blocked run is resolved, and only by
/// the action `resume`. Fails with `invalid_state_transition` otherwise.
///
/// Clauses: AX-SM-RESOLVE.
pub fn check_resolution(state: &State, action: Option<&str>) -> Result<()> {
    let resumes = rule!(action == Some("resume"); AnyActionResolves => true);
    if !resumes || state.status() != Status::Blocked {
        return Err(illegal(state, "be set to active by that action"));
    }
    Ok(())
}

/// Checks that a write keeps the id of the run.
///
/// Clauses: AX-SM-RUN-ID.
fn check_identity(state: &State, run_id: Option<&str>) -> Result<()> {
    match state.run_id() {
        Some(own)
            if rule!(
                run_id != Some(own.as_str());
                RunIdReplaced => false;
                RunIdRemoved => run_id.is_some_and(|id| id != own.as_str())
            ) =>
        {
            let message = format!("run_id {own} cannot change during a run");
            Err(Failure::new(Code::XchainImmutableField, message).at("/run_id"))
        }
        _ => Ok(()),
    }
}
