//! Rejects a turn. It is retried, or the run is blocked.

use accord_contract::{Object, Time, Value};

use super::{Change, illegal};
use crate::{
    Baseline, Block, Config, EventType, Ids, LedgerDecision, Result, State, Status, TurnId,
    TurnStatus, build, doc, ledger,
};

#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    pub reason: String,
    pub errors: Vec<String>,
    pub failed_stage: Option<String>,
    /// The baseline of the next attempt. It is the turn's own, so that changes of earlier attempts
    /// stay attributable. A turn without one gets the current state of the repository.
    pub baseline: Baseline,
    /// The changes of the turn's worker, as [`crate::dispatch::left_behind`] returns them. Null for
    /// a turn of a person, whose work continues between attempts.
    pub left_behind: Value,
}

/// Rejects a turn. The history gets no line. The ledger gets one only when the rejection ends a
/// conflict. Fails with `invalid_state_transition` when the run takes no turns, or like
/// [`State::target`].
pub fn reject(
    state: &State,
    config: &Config,
    turn: Option<&TurnId>,
    rejection: &Rejection,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    if !matches!(state.status(), Status::Active | Status::Blocked) {
        return Err(illegal(state, "reject a turn"));
    }
    let target = state.target(turn)?;
    let (id, role, attempt) = (target.id().clone(), target.role().to_owned(), target.attempt());
    let conflict = target.value(doc::Turn::CONFLICT_STATE).cloned();
    let mut last = build([
        doc::Rejection::TURN_ID.to(id.as_str()),
        doc::Rejection::ATTEMPT.to(attempt),
        doc::Rejection::REJECTED_AT.to(now),
        doc::Rejection::REASON.to(rejection.reason.as_str()),
        doc::Rejection::VALIDATION_ERRORS.to(&rejection.errors),
        doc::Rejection::FAILED_STAGE.to(rejection.failed_stage.clone()),
    ]);
    if let Some(conflict) = &conflict {
        doc::Rejection::CONFLICT_CONTEXT.set(&mut last, conflict.clone());
    }
    // The limit counts attempts, as in the reference runner: two means one retry.
    let again = attempt < config.rules.max_turn_retries;
    let mut next = state.clone();
    if let Some(turn) = next.turn_mut(&id) {
        turn.set(doc::Turn::LAST_REJECTION, last);
        if !rejection.left_behind.is_null() {
            turn.set(doc::Turn::LEFT_BEHIND, rejection.left_behind.clone());
        }
        if again {
            turn.next_attempt();
            turn.set_status(TurnStatus::Retrying);
            // An unchanged baseline keeps the time at which it was captured.
            if turn.baseline().as_ref() != Some(&rejection.baseline) {
                turn.set(doc::Turn::BASELINE, rejection.baseline.document(now));
            }
            turn.set(doc::Turn::DEADLINE_AT, super::assign::deadline(config, now));
        } else {
            turn.set_status(TurnStatus::Failed);
        }
        if let Some(conflict) = &conflict {
            turn.set(doc::Turn::CONFLICT_CONTEXT, conflict.clone());
            turn.unset(doc::Turn::CONFLICT_STATE);
            // The next attempt sees the accepted changes, so only later ones can conflict.
            turn.skip_conflicts_until(state.turn_sequence());
        }
    }
    let mut ledger = Vec::new();
    if conflict.is_some() {
        let details = build([("turn_id", id.as_str().into()), ("role", role.as_str().into())]);
        ledger.push(ledger::governance(LedgerDecision::ConflictRejected, state, now, details));
    }
    let block = Block::retries_exhausted(&role, &id, &rejection.reason);
    if !again {
        next.block(&block, now)?;
        next.set(doc::State::ESCALATION, escalation(&role, &id, attempt, &rejection.reason, now));
    }
    let about = Some((id.as_str(), role.as_str()));
    let payload = build([
        ("attempt", attempt.into()),
        ("reason", rejection.reason.as_str().into()),
        ("retrying", again.into()),
    ]);
    let rejected = (EventType::TurnRejected, about, payload);
    let blocked = (EventType::RunBlocked, about, super::escalate::payload(&block));
    let events = [Some(rejected), Some(blocked).filter(|_| !again)].into_iter().flatten();
    Ok(Change { ledger, ..Change::emitting(next, events, ids, now)? })
}

fn escalation(role: &str, turn: &TurnId, attempt: u64, reason: &str, now: Time) -> Object {
    build([
        doc::Escalation::SOURCE.to("retries_exhausted"),
        doc::Escalation::FROM_ROLE.to(role),
        doc::Escalation::FROM_TURN_ID.to(turn.as_str()),
        doc::Escalation::ATTEMPTS.to(attempt),
        doc::Escalation::REASON.to(reason),
        doc::Escalation::RAISED_AT.to(now),
    ])
}
