//! Blocks a run until a person resolves it.

use accord_contract::{Time, Value};

use super::{Change, Refused, illegal};
use crate::{
    Block, Emitter, EventType, HookReport, Ids, LedgerDecision, Result, State, Status, build, doc,
    ledger,
};

/// Blocks the run at a person's request. Fails with `invalid_state_transition` when the run is not
/// active.
pub fn escalate(state: &State, reason: &str, ids: &mut Ids, now: Time) -> Result<Change> {
    if state.status() != Status::Active {
        return Err(illegal(state, "be stopped"));
    }
    let block = Block::operator(reason);
    let mut next = state.clone();
    next.block(&block, now)?;
    next.set(
        doc::State::ESCALATION,
        build([
            ("source", "operator".into()),
            ("reason", reason.into()),
            ("raised_at", now.to_string().into()),
        ]),
    );
    let mut emitter = Emitter::new(&next, ids, now)?;
    let payload = payload(&block);
    emitter.emit(EventType::EscalationRaised, &next, None, payload.clone());
    emitter.emit(EventType::RunBlocked, &next, None, payload);
    let events = emitter.finish();
    let entry = ledger::governance(
        LedgerDecision::OperatorEscalated,
        &next,
        now,
        build([("reason", reason.into()), ("blocked_on", block.blocked_on.as_str().into())]),
    );
    let mut change = Change::new(next, events);
    change.ledger.push(entry);
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
    let turn = block.turn.as_ref().and_then(|id| state.turn(id));
    let about = turn.map(|turn| (turn.id().as_str(), turn.role()));
    let mut emitter = Emitter::new(&next, ids, now)?;
    emitter.emit(EventType::RunBlocked, &next, about, payload(block));
    let events = emitter.finish();
    Ok(Change::new(next, events))
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

pub(crate) fn payload(block: &Block) -> accord_contract::wire::Object {
    build([
        ("category", block.category.as_str().into()),
        ("blocked_on", block.blocked_on.as_str().into()),
        ("detail", Value::from(block.detail.as_str())),
    ])
}
