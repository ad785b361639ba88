//! Withdraws a turn and assigns its work again, to the same role or another.
//!
//! Invariants:
//! - the withdrawn turn leaves a line in the history, does not count as accepted, and is never
//!   reactivated;
//! - its delegation, or its review of delegations, moves to the new turn;
//! - the new turn passes every guard of an assignment, and a refusal keeps the old turn.

use accord_contract::{Object, Time, Value};

use super::{Assignable, BaselineCheck, Change, Refused, check_assignment, illegal};
use crate::history::REISSUED;
use crate::{
    Config, Emitter, EventType, HookBatch, HookReport, Ids, LedgerDecision, Result, State, Status,
    Turn, TurnId, budget, build, delegation, doc, ledger,
};

/// A checked reissue. Only its hooks can still refuse it.
#[derive(Clone, Debug)]
pub struct Reissuable {
    before: State,
    old: Turn,
    reason: String,
    /// The `blocked_on` that the reissue resolves.
    resolved: Option<String>,
    replacement: Assignable,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Reissued {
    pub change: Change,
    pub history_entry: Object,
    pub turn: Turn,
}

/// Checks whether a turn can be withdrawn and reassigned to a role. A run that the turn blocks is
/// reactivated. Fails with `invalid_state_transition` when the run takes no turns, like
/// [`State::target`], or with the code of a guard of [`check_assignment`].
pub fn check_reissue(
    state: &State,
    config: &Config,
    turn: Option<&TurnId>,
    (role, reason): (&str, &str),
    baseline: BaselineCheck,
    history_length: u64,
) -> Result<Reissuable> {
    let old = state.target(turn)?.clone();
    let resolved = match state.status() {
        Status::Active => None,
        Status::Blocked if is_about(state, &old) => Some(state.blocked_on().unwrap_or_default()),
        _ => return Err(illegal(state, "have a turn reissued")),
    };
    // The guards judge the run without the old turn, whose place and reservation the new one takes.
    let mut without = state.clone();
    if resolved.is_some() {
        without.unblock()?;
        without.set(doc::State::NON_PROGRESS_COUNT, 0_u64);
    }
    without.remove_turn(old.id());
    budget::write_off(&mut without, config, &old);
    delegation::requeue(&mut without, &old, role);
    let replacement = check_assignment(&without, config, role, baseline, history_length)?;
    let (before, reason) = (state.clone(), reason.to_owned());
    let resolved = resolved.map(str::to_owned);
    Ok(Reissuable { before, old, reason, resolved, replacement })
}

impl Reissuable {
    pub fn old(&self) -> &Turn {
        &self.old
    }

    pub fn hooks(&self) -> Option<HookBatch> {
        self.replacement.hooks()
    }

    /// Reissues the turn after its hooks ran. Fails like [`Assignable::confirm`]. The old turn then
    /// stays active.
    pub fn confirm(
        self,
        report: &HookReport,
        ids: &mut Ids,
        now: Time,
    ) -> Result<Reissued, Refused> {
        // The check comes first because the replacement would block the state without the old turn.
        if let Some(refused) = super::stopped_by_hook(&self.before, report, ids, now) {
            return Err(refused);
        }
        let Self { before, old, reason, resolved, replacement } = self;
        let (mut change, mut turn) = replacement.confirm(report, ids, now)?;
        let next = &mut change.state;
        turn.set(doc::Turn::REISSUED_FROM, old.id().as_str());
        if let Some(intake) = old.value(doc::Turn::INTAKE_CONTEXT) {
            turn.set(doc::Turn::INTAKE_CONTEXT, intake.clone());
        }
        // The state already has a copy of the turn from its assignment.
        if let Some(active) = next.turn_mut(turn.id()) {
            *active = turn.clone();
        }
        let siblings: Vec<TurnId> = next.turns().map(|turn| turn.id().clone()).collect();
        for sibling in siblings {
            if let Some(sibling) = next.turn_mut(&sibling) {
                sibling.replace_concurrent(turn.id(), old.id());
            }
        }
        let (head, new_head) = (head(&old), head(&turn));
        let payload = build([
            ("old_turn_id", old.id().as_str().into()),
            ("reason", reason.as_str().into()),
            ("old_head", head.clone()),
            ("new_head", new_head.clone()),
            ("old_runtime", old.runtime_id().into()),
            ("new_runtime", turn.runtime_id().into()),
            ("old_role", old.role().into()),
            ("new_role", turn.role().into()),
        ]);
        let mut emitter = Emitter::new(next, ids, now)?;
        emitter.emit(EventType::TurnReissued, next, turn.about(), payload);
        let details = build([
            ("turn_id", old.id().as_str().into()),
            ("new_turn_id", turn.id().as_str().into()),
            ("role", old.role().into()),
            ("new_role", turn.role().into()),
            ("reason", reason.as_str().into()),
            ("old_baseline", build([("head_ref", head)]).into()),
            ("new_baseline", build([("head_ref", new_head)]).into()),
        ]);
        change.ledger.push(ledger::governance(LedgerDecision::TurnReissued, next, now, details));
        if let Some(was) = resolved {
            let details = build([("resolved", was.into())]);
            emitter.emit(EventType::EscalationResolved, next, None, details.clone());
            let line = ledger::governance(LedgerDecision::EscalationResolved, next, now, details);
            change.ledger.push(line);
        }
        change.events.extend(emitter.finish());
        let history_entry = history_entry(&before, &old, &turn, &reason, now);
        Ok(Reissued { history_entry, change, turn })
    }
}

fn is_about(state: &State, turn: &Turn) -> bool {
    let blocked = state.value(doc::State::BLOCKED_REASON);
    doc::Blocked::TURN_ID.get(&blocked) == Some(turn.id().as_str())
}

fn head(turn: &Turn) -> Value {
    turn.baseline().and_then(|baseline| baseline.head_ref).into()
}

fn history_entry(state: &State, turn: &Turn, new: &Turn, reason: &str, now: Time) -> Object {
    // The line has no accepted sequence, because a withdrawn turn was never accepted.
    let mut entry = build([
        doc::History::TURN_ID.to(turn.id().as_str()),
        doc::History::RUN_ID.to(state.run_id()),
        doc::History::ROLE.to(turn.role()),
        doc::History::PHASE.to(state.phase()),
        doc::History::RUNTIME_ID.to(turn.runtime_id()),
        doc::History::STATUS.to(REISSUED),
        doc::History::SUMMARY.to(format!("Taken back: {reason}")),
        doc::History::FILES_CHANGED.to(Value::Array(Vec::new())),
        doc::History::ASSIGNED_SEQUENCE.to(turn.assigned_sequence()),
        doc::History::REISSUE_REASON.to(reason),
        doc::History::REISSUED_AS.to(new.id().as_str()),
        doc::History::ACCEPTED_AT.to(now),
    ]);
    if let Some(cost) = turn.observed_cost() {
        doc::History::OBSERVED_COST.set(&mut entry, cost.document());
    }
    if let Some(began) = turn.began() {
        doc::History::DURATION_MS.set(&mut entry, now.millis_since(began));
    }
    entry
}
