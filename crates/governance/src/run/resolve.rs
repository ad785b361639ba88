//! A person lets a blocked run go on.

use accord_contract::codes::Failure;

use super::{Change, illegal};
use crate::event::{Emitter, EventType};
use crate::ledger;
use crate::members::build;
use crate::state::{State, Status, TurnStatus};
use crate::{Ids, Instant};

/// Lets a run that is blocked or paused go on. Turns that failed for good may be tried once
/// more.
///
/// # Errors
/// With `invalid_state_transition` when it is neither, or when a gate waits, which only an
/// approval passes.
pub fn resolve(state: &State, ids: &mut Ids, now: Instant) -> Result<Change, Failure> {
    if !matches!(state.status(), Status::Blocked | Status::Paused) {
        return Err(illegal(state, "be resolved"));
    }
    if state.pending_transition().is_some() || state.pending_completion().is_some() {
        let failure = illegal(state, "be resolved while a gate waits");
        return Err(failure.suggesting("approve the gate instead"));
    }
    let was = state.blocked_on().unwrap_or_default().to_owned();
    let mut next = state.clone();
    next.unblock();
    let failed: Vec<_> = next
        .turns()
        .filter(|turn| {
            matches!(
                turn.status(),
                accord_contract::wire::Extensible::Known(TurnStatus::Failed)
            )
        })
        .map(|turn| turn.id().clone())
        .collect();
    for id in failed {
        if let Some(turn) = next.turn_mut(&id) {
            turn.set_status(TurnStatus::Retrying);
            turn.next_attempt();
        }
    }
    next.set("non_progress_count", 0);
    let details = build([("resolved", was.as_str().into())]);
    let mut emitter = Emitter::new(&next, ids, now)?;
    emitter.emit(EventType::EscalationResolved, &next, None, details.clone());
    let events = emitter.finish();
    let entry = ledger::governance("escalation_resolved", &next, now, details);
    let mut change = Change::new(next, events);
    change.ledger.push(entry);
    Ok(change)
}
