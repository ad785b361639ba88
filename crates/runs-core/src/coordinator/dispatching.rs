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
        let active = state
            .turns()
            .find(|turn| turn.role() == self.choice.role && turn.assigned_sequence() > self.since);
        if let Some(turn) = active {
            return DispatchedTurn::Active {
                turn: turn.id().clone(),
                dispatched: *turn.status() != Extensible::Known(TurnStatus::Assigned),
            };
        }
        let run = state.run_id().map(RunId::as_str);
        let over = view
            .history
            .iter()
            .rev()
            .find(|line| {
                doc::History::RUN_ID.get(line) == run
                    && doc::History::ROLE.get(line) == Some(self.choice.role.as_str())
                    && doc::History::ASSIGNED_SEQUENCE
                        .get(line)
                        .is_some_and(|sequence| sequence > self.since)
            })
            .and_then(|line| TurnId::parse(doc::History::TURN_ID.get(line)?));
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
    state.set(
        doc::Coordinator::DISPATCHING,
        build([
            doc::Dispatching::WORKSTREAM_ID.to(choice.workstream.as_str()),
            doc::Dispatching::REPO_ID.to(choice.repo.as_str()),
            doc::Dispatching::ROLE.to(choice.role.as_str()),
            doc::Dispatching::CONTEXT_REF.to(context.reference.as_str()),
            doc::Dispatching::SINCE_SEQUENCE.to(since),
            doc::Dispatching::REQUESTED_AT.to(now),
        ]),
    );
    let mut change = CoordinatorChange::of_state(state, initiative.barriers.clone());
    change.history.push(context.line.clone());
    let dispatching =
        Dispatching { choice: choice.clone(), context: context.reference.clone(), since };
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
    let statement =
        format!("{} gets a turn as {} for {}", choice.repo, choice.role, choice.workstream);
    change.decisions.push(ledger.line(
        initiative.state,
        CoordinatorDecision::Dispatch,
        &statement,
        [
            ("repo_id", choice.repo.as_str().into()),
            ("repo_run_id", initiative.state.repo_run(&choice.repo).into()),
            ("repo_turn_id", turn.as_str().into()),
            ("workstream_id", choice.workstream.as_str().into()),
            ("context_ref", context.as_str().into()),
        ],
        now,
    ));
    change
}

/// Discards the intent of a turn that was never assigned.
pub fn forget_dispatch(initiative: &Initiative<'_>) -> CoordinatorChange {
    let mut state = initiative.state.clone();
    state.clear(doc::Coordinator::DISPATCHING);
    CoordinatorChange::of_state(state, initiative.barriers.clone())
}
