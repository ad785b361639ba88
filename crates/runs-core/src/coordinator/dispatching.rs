//! Dispatch of a turn in two commits. The first records the intent before the repository is
//! changed. The second records the turn.
//!
//! Invariant: after a crash between the two, it can be decided whether the turn was assigned,
//! because the sequence of a repository only grows.

use accord_contract::{Extensible, Object, Time};

use super::choice::dispatched_line;
use super::projection::Initiative;
use super::{
    Choice, CoordinatorChange, CoordinatorDecision, CoordinatorLedger, CoordinatorState, RepoView,
    turn_context,
};
use crate::doc::{self, Member, Text};
use crate::{Ids, RunId, TurnId, TurnStatus, build};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dispatching {
    pub choice: Choice,
    pub context: String,
    /// The repository's sequence before the dispatch.
    pub since: u64,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DispatchedTurn {
    Active {
        turn: TurnId,
        /// Whether its bundle may have been written.
        dispatched: bool,
    },
    Over(TurnId),
    /// The turn was never assigned.
    Nothing,
}

impl Dispatching {
    /// The turn that is being dispatched, according to a state.
    pub fn of(state: &CoordinatorState) -> Option<Self> {
        let members = state.dispatching()?;
        let name = |member: Member<Text>| member.get(members).map(str::to_owned);
        Some(Self {
            choice: Choice {
                workstream: name(doc::Dispatching::WORKSTREAM_ID)?,
                repo: name(doc::Dispatching::REPO_ID)?,
                role: name(doc::Dispatching::ROLE)?,
            },
            context: name(doc::Dispatching::CONTEXT_REF)?,
            since: doc::Dispatching::SINCE_SEQUENCE.get(members)?,
        })
    }

    pub fn find(&self, view: &RepoView) -> DispatchedTurn {
        let Some(state) = &view.state else { return DispatchedTurn::Nothing };
        // A role has at most one active turn, and only a newer one can be the intended turn.
        let is_own = |role: &str, sequence: u64| role == self.choice.role && sequence > self.since;
        let active = state.turns().find(|turn| is_own(turn.role(), turn.assigned_sequence()));
        if let Some(turn) = active {
            let dispatched = *turn.status() != Extensible::Known(TurnStatus::Assigned);
            return DispatchedTurn::Active { turn: turn.id().clone(), dispatched };
        }
        let run = state.run_id().map(RunId::as_str);
        let is_over = |line: &&Object| {
            let role = doc::History::ROLE.get(line).unwrap_or_default();
            let sequence = doc::History::ASSIGNED_SEQUENCE.get(line);
            doc::History::RUN_ID.get(line) == run && is_own(role, sequence.unwrap_or(0))
        };
        let over = view.history.iter().rev().find(is_over);
        let over = over.and_then(|line| TurnId::parse(doc::History::TURN_ID.get(line)?));
        over.map_or(DispatchedTurn::Nothing, DispatchedTurn::Over)
    }
}

pub fn begin_dispatch(
    initiative: &Initiative<'_>,
    choice: &Choice,
    view: &RepoView,
    ids: &mut Ids,
    now: Time,
) -> (Dispatching, CoordinatorChange) {
    let context = turn_context(initiative, choice, ids, now);
    // The sequence is read before the assignment, so the intended turn has a greater one.
    let since = view.state.as_ref().map_or(0, |state| state.turn_sequence());
    let mut state = initiative.state.clone();
    let record = build([
        doc::Dispatching::WORKSTREAM_ID.to(choice.workstream.as_str()),
        doc::Dispatching::REPO_ID.to(choice.repo.as_str()),
        doc::Dispatching::ROLE.to(choice.role.as_str()),
        doc::Dispatching::CONTEXT_REF.to(context.reference.as_str()),
        doc::Dispatching::SINCE_SEQUENCE.to(since),
        doc::Dispatching::REQUESTED_AT.to(now),
    ]);
    state.set(doc::Coordinator::DISPATCHING, record);
    let mut change = CoordinatorChange::of_state(state, initiative.barriers.clone());
    change.history.push(context.line.clone());
    let reference = context.reference.clone();
    let dispatching = Dispatching { choice: choice.clone(), context: reference, since };
    change.context = Some(context);
    (dispatching, change)
}

pub fn end_dispatch(
    initiative: &Initiative<'_>,
    dispatching: &Dispatching,
    turn: &TurnId,
    ledger: &mut CoordinatorLedger,
    now: Time,
) -> CoordinatorChange {
    let Dispatching { choice, context, .. } = dispatching;
    let mut change = forget_dispatch(initiative);
    let mut line: Object = dispatched_line(initiative, choice, turn, now);
    doc::MultiHistory::CONTEXT_REF.set(&mut line, context.as_str());
    change.history.push(line);
    let Choice { workstream, repo, role } = choice;
    let statement = format!("{repo} gets a turn as {role} for {workstream}");
    let about = [
        ("repo_id", repo.as_str().into()),
        ("repo_run_id", initiative.state.repo_run(repo).into()),
        ("repo_turn_id", turn.as_str().into()),
        ("workstream_id", workstream.as_str().into()),
        ("context_ref", context.as_str().into()),
    ];
    let category = CoordinatorDecision::Dispatch;
    change.decisions.push(ledger.line(initiative.state, category, &statement, about, now));
    change
}

/// Discards the intent of a turn that was never assigned.
pub fn forget_dispatch(initiative: &Initiative<'_>) -> CoordinatorChange {
    let mut state = initiative.state.clone();
    state.clear(doc::Coordinator::DISPATCHING);
    CoordinatorChange::of_state(state, initiative.barriers.clone())
}
