//! Reactivation of a blocked run by a person.

use accord_contract::{Extensible, Object, Time};

use super::{Change, illegal};
use crate::{
    Approval, Baseline, EventType, Ids, LedgerDecision, Result, State, Status, Turn, TurnId,
    TurnStatus, build, doc, ledger, rule,
};

/// Reactivates a blocked or paused run. Turns without retries left get one more attempt. Commits
/// and settings of version control that changed meanwhile belong to the person, so active turns get
/// a new baseline at the current commit. The event and the ledger say who resolved it. The person's
/// note is the answer to what the run was blocked for; the prompts of the phase have both. Fails
/// with `invalid_state_transition` in any other status, or when a gate is pending, which only an
/// approval passes.
///
/// Clauses: AX-SM-RESOLVE, AX-SM-RESOLVE-GATE.
pub fn resolve(
    state: &State,
    standing: Option<&Baseline>,
    approval: &Approval,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    check_resolvable(state)?;
    let was = state.blocked_on().unwrap_or_default().to_owned();
    let mut next = state.clone();
    next.unblock()?;
    let has_failed = |turn: &&Turn| *turn.status() == Extensible::Known(TurnStatus::Failed);
    let failed: Vec<_> = next.turns().filter(has_failed).map(|turn| turn.id().clone()).collect();
    for id in failed {
        if let Some(turn) = next.turn_mut(&id) {
            turn.set_status(TurnStatus::Retrying);
            turn.next_attempt();
        }
    }
    next.set(doc::State::NON_PROGRESS_COUNT, 0_u64);
    if let Some(answer) = answer(state, approval, now) {
        next.set(doc::State::ANSWER, answer);
    }
    let head = standing.and_then(|standing| standing.head_ref.as_deref());
    // Without version control there is no commit to move to.
    let moved = match (standing, head) {
        (Some(standing), Some(head)) => move_baselines(&mut next, standing, head, now),
        _ => Vec::new(),
    };
    let mut details = build([("resolved", was.as_str().into())]);
    approval.add_to(&mut details);
    let resolved = (EventType::EscalationResolved, None, details.clone());
    let moved = moved.iter().map(|(turn, role, from)| {
        let payload = build([("from_ref", from.as_str().into()), ("to_ref", head.into())]);
        let about = Some((turn.as_str(), role.as_str()));
        (EventType::StateReconciledOperatorCommits, about, payload)
    });
    let mut change = Change::emitting(next, [resolved].into_iter().chain(moved), ids, now)?;
    let decision = LedgerDecision::EscalationResolved;
    change.ledger.push(ledger::governance(decision, &change.state, now, details));
    Ok(change)
}

/// The note of the person, with the question: the reason of the block.
fn answer(state: &State, approval: &Approval, now: Time) -> Option<Object> {
    let note = approval.person.note.as_deref()?;
    let blocked = doc::State::BLOCKED_REASON.get(state.members());
    let recovery = blocked.and_then(|blocked| doc::Blocked::RECOVERY.get(blocked));
    let question = recovery.and_then(|recovery| doc::Recovery::DETAIL.get(recovery));
    Some(build([
        doc::Answer::QUESTION.to(question.or(state.blocked_on())),
        doc::Answer::ASKED_BY_TURN.to(blocked.and_then(|it| doc::Blocked::TURN_ID.get(it))),
        doc::Answer::ANSWER.to(note),
        doc::Answer::ANSWERED_BY.to(approval.person.actor.as_str()),
        doc::Answer::ANSWERED_AT.to(now),
    ]))
}

/// Checks that a person can resolve the run. Fails like [`resolve`].
///
/// Clauses: AX-SM-RESOLVE, AX-SM-RESOLVE-GATE.
pub fn check_resolvable(state: &State) -> Result<()> {
    if !matches!(state.status(), Status::Blocked | Status::Paused) {
        return Err(illegal(state, "be resolved"));
    }
    let gate_waits = state.pending_transition().is_some() || state.pending_completion().is_some();
    if rule!(gate_waits; ResolutionPassesGate => false) {
        let failure = illegal(state, "be resolved while a gate waits");
        return Err(failure.suggesting("approve the gate, or send the request back, instead"));
    }
    Ok(())
}

/// Moves the baseline of active turns to this commit and these settings. Returns the turns whose
/// commit changed.
fn move_baselines(
    state: &mut State,
    standing: &Baseline,
    head: &str,
    now: Time,
) -> Vec<(TurnId, String, String)> {
    let turns: Vec<TurnId> = state.turns().map(|turn| turn.id().clone()).collect();
    let mut moved = Vec::new();
    for id in turns {
        let Some(turn) = state.turn_mut(&id) else { continue };
        let Some(mut baseline) = turn.baseline() else { continue };
        // A baseline without a commit was captured outside version control and cannot be moved.
        let Some(from) = baseline.head_ref.replace(head.to_owned()) else { continue };
        if from == head && baseline.view == standing.view {
            continue;
        }
        baseline.way_ref = None;
        baseline.view.clone_from(&standing.view);
        turn.set(doc::Turn::BASELINE, baseline.document(now));
        if from != head {
            moved.push((id, turn.role().to_owned(), from));
        }
    }
    moved
}
