//! Blocks a run until a person resolves it.

use accord_contract::{Object, Time, Value};

use super::{Change, Refused, illegal};
use crate::{
    Approval, Block, EventType, HookReport, Ids, LedgerDecision, Result, State, Status, Turn,
    build, doc, ledger,
};

/// Blocks the run at a person's request. Workers that run are not ended. Fails with
/// `invalid_state_transition` when the run is not active.
pub fn escalate(state: &State, reason: &str, ids: &mut Ids, now: Time) -> Result<Change> {
    blocked_by_operator(state, reason, None, ids, now)
}

/// The same, and the workers that run are ended, see [`State::ends_workers`]. The ledger says who
/// decided that, and at which state of the run. Fails like [`escalate`].
pub fn stop(
    state: &State,
    reason: &str,
    approval: &Approval,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    blocked_by_operator(state, reason, Some(approval), ids, now)
}

/// Fails with `invalid_state_transition` when a person cannot stop the run: it is not active.
pub fn check_stoppable(state: &State) -> Result<()> {
    if state.status() != Status::Active {
        return Err(illegal(state, "be stopped"));
    }
    Ok(())
}

fn blocked_by_operator(
    state: &State,
    reason: &str,
    approval: Option<&Approval>,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    check_stoppable(state)?;
    let block = Block::operator(reason);
    let mut next = state.clone();
    next.block(&block, now)?;
    let mut escalation = build([
        doc::Escalation::SOURCE.to("operator"),
        doc::Escalation::REASON.to(reason),
        doc::Escalation::RAISED_AT.to(now),
    ]);
    if approval.is_some() {
        doc::Escalation::ENDS_WORKERS.set(&mut escalation, true);
    }
    next.set(doc::State::ESCALATION, escalation);
    let payload = payload(&block);
    let raised = (EventType::EscalationRaised, None, payload.clone());
    let blocked = (EventType::RunBlocked, None, payload);
    let mut change = Change::emitting(next, [raised, blocked], ids, now)?;
    let on = block.blocked_on.as_str().into();
    let mut details = build([("reason", reason.into()), ("blocked_on", on)]);
    if let Some(approval) = approval {
        approval.add_to(&mut details);
    }
    let decision = LedgerDecision::OperatorEscalated;
    change.ledger.push(ledger::governance(decision, &change.state, now, details));
    Ok(change)
}

/// Blocks the run. Fails with `invalid_state_transition` unless the run is active, paused or
/// blocked.
pub fn block(state: &State, block: &Block, ids: &mut Ids, now: Time) -> Result<Change> {
    if !matches!(state.status(), Status::Active | Status::Paused | Status::Blocked) {
        return Err(illegal(state, "be blocked"));
    }
    let mut next = state.clone();
    next.block(block, now)?;
    let about = block.turn.as_ref().and_then(|id| state.turn(id)).and_then(Turn::about);
    Change::emitting(next, [(EventType::RunBlocked, about, payload(block))], ids, now)
}

/// The refusal of an operation that a hook stopped, with the change that blocks the run.
pub fn stopped_by_hook(
    state: &State,
    report: &HookReport,
    ids: &mut Ids,
    now: Time,
) -> Option<Refused> {
    let failure = report.failure()?;
    let name = report.stopper().unwrap_or_default();
    let reason = Block::hook(report.phase, name, &failure.message);
    // A run that has ended cannot be blocked. The refusal is returned without a record then.
    let record = block(state, &reason, ids, now).ok().map(Box::new);
    Some(Refused { failure, record })
}

pub(crate) fn payload(block: &Block) -> Object {
    build([
        ("category", block.category.as_str().into()),
        ("blocked_on", block.blocked_on.as_str().into()),
        ("detail", Value::from(block.detail.as_str())),
    ])
}
