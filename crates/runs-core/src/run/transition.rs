//! Transitions that other operations use, and those that are never allowed.

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;

use super::{Change, illegal};
use crate::Ids;
use crate::doc;
use crate::event::{Emitter, EventType};
use crate::members::build;
use crate::rule;
use crate::state::{Block, PendingTransition, State, Status};

/// A gate wants a person: the run pauses before it leaves its phase.
///
/// Clauses: AX-SM-PAUSE.
///
/// # Errors
/// With `invalid_state_transition` when the run is not active, is not in the phase that ends,
/// or waits for a gate already.
pub fn pause_for_gate(
    state: &State,
    pending: &PendingTransition,
    ids: &mut Ids,
    now: Time,
) -> Result<Change, Failure> {
    if state.status() != Status::Active || pending.from != state.phase() {
        return Err(illegal(
            state,
            &format!("wait for the gate {}", pending.gate),
        ));
    }
    let mut next = state.clone();
    set_pending(&mut next, pending)?;
    let mut emitter = Emitter::new(&next, ids, now)?;
    let payload = build([
        doc::GateEvent::GATE_TYPE.to("phase_transition"),
        doc::GateEvent::GATE_ID.to(pending.gate.as_str()),
        doc::GateEvent::FROM.to(pending.from.as_str()),
        doc::GateEvent::TO.to(pending.to.as_str()),
    ]);
    emitter.emit(EventType::GatePending, &next, None, payload);
    let events = emitter.finish();
    Ok(Change::new(next, events))
}

pub(crate) fn set_pending(state: &mut State, pending: &PendingTransition) -> Result<(), Failure> {
    state.wait_for_approval(&pending.gate)?;
    state.set(doc::State::PENDING_PHASE_TRANSITION, pending.document());
    Ok(())
}

/// A role cannot go on, for a reason that has a name: the run is blocked.
///
/// Clauses: AX-SM-BLOCK.
///
/// # Errors
/// With `invalid_state_transition` when the run is not active.
pub fn escalate_role(
    state: &State,
    reason: &str,
    role: &str,
    ids: &mut Ids,
    now: Time,
) -> Result<Change, Failure> {
    let legal = rule!(
        state.status() == Status::Active;
        PausedEscalates => matches!(state.status(), Status::Active | Status::Paused)
    );
    if !legal {
        return Err(illegal(state, "be escalated"));
    }
    super::block(state, &Block::escalated(reason, role), ids, now)
}

/// A status cannot be set directly: it follows from operations.
///
/// Clauses: AX-SM-ILLEGAL.
pub fn refuse_direct(state: &State, target: &str) -> Failure {
    illegal(state, &format!("be set to {target}"))
}

/// Checks that what would be written belongs to the same run.
///
/// Clauses: AX-SM-RUN-ID.
///
/// # Errors
/// With `immutable_field` when the run's id would change.
pub fn check_identity(state: &State, run_id: Option<&str>) -> Result<(), Failure> {
    match state.run_id() {
        Some(own)
            if rule!(
                run_id != Some(own.as_str());
                RunIdReplaced => false;
                RunIdRemoved => run_id.is_some_and(|id| id != own.as_str())
            ) =>
        {
            let message = format!("run_id is {own} for as long as the run lives");
            Err(Failure::new(Code::XchainImmutableField, message).at("/run_id"))
        }
        _ => Ok(()),
    }
}
