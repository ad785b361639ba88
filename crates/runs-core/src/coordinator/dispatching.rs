//! Handing a turn out, in two commits: one before the repository is touched, which says what
//! is meant, and one behind it, which says which turn it became.
//!
//! Invariant: whoever finds the first without the second can tell whether the turn was
//! assigned, since a repository's sequence only grows.

use accord_contract::time::Time;
use accord_contract::wire::{Extensible, Object, Value};

use super::choice::dispatched_line;
use super::projection::Place;
use super::{
    Choice, CoordinatorChange, CoordinatorDecision, CoordinatorLedger, CoordinatorState, RepoView,
    turn_context,
};
use crate::members::{build, count, text};
use crate::state::TurnStatus;
use crate::{Ids, RunId, TurnId};

/// A turn that is being handed out.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Dispatching {
    /// Which turn is meant.
    pub choice: Choice,
    /// What it is told.
    pub context: String,
    /// How far the repository had counted before.
    pub since: u64,
}

/// What became of a turn that was being handed out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Found {
    /// The repository works on it; whether its bundle was written.
    Active {
        /// The turn.
        turn: TurnId,
        /// Whether a worker can have been told.
        dispatched: bool,
    },
    /// The repository is through with it.
    Over(TurnId),
    /// It was never assigned.
    Nothing,
}

impl Dispatching {
    /// The turn that a state says is being handed out.
    pub fn of(state: &CoordinatorState) -> Option<Self> {
        let members = state.dispatching()?;
        let name = |name: &str| text(members, name).map(str::to_owned);
        Some(Self {
            choice: Choice {
                workstream: name("workstream_id")?,
                repo: name("repo_id")?,
                role: name("role")?,
            },
            context: name("context_ref")?,
            since: count(members, "since_sequence")?,
        })
    }

    /// Looks for the turn in its repository.
    pub fn find(&self, view: &RepoView) -> Found {
        let Some(state) = &view.state else {
            return Found::Nothing;
        };
        let active = state
            .turns()
            .find(|turn| turn.role() == self.choice.role && turn.assigned_sequence() > self.since);
        if let Some(turn) = active {
            return Found::Active {
                turn: turn.id().clone(),
                dispatched: *turn.status() != Extensible::Known(TurnStatus::Assigned),
            };
        }
        let run = state.run_id().map(RunId::as_str);
        let over = view.history.iter().rev().find(|line| {
            text(line, "run_id") == run
                && text(line, "role") == Some(self.choice.role.as_str())
                && count(line, "assigned_sequence").is_some_and(|sequence| sequence > self.since)
        });
        let over = over.and_then(|line| TurnId::parse(text(line, "turn_id")?));
        over.map_or(Found::Nothing, Found::Over)
    }
}

/// Says which turn is meant, and what it is told.
pub fn begin_dispatch(
    place: &Place<'_>,
    choice: &Choice,
    view: &RepoView,
    ids: &mut Ids,
    now: Time,
) -> (Dispatching, CoordinatorChange) {
    let context = turn_context(place, choice, ids, now);
    let since = view.state.as_ref().map_or(0, |state| state.turn_sequence());
    let mut state = place.state.clone();
    state.set(
        "dispatching",
        build([
            ("workstream_id", choice.workstream.as_str().into()),
            ("repo_id", choice.repo.as_str().into()),
            ("role", choice.role.as_str().into()),
            ("context_ref", context.reference.as_str().into()),
            ("since_sequence", since.into()),
            ("requested_at", now.to_string().into()),
        ]),
    );
    let mut change = CoordinatorChange::of_state(state, place.barriers.clone());
    change.history.push(context.line.clone());
    let dispatching = Dispatching {
        choice: choice.clone(),
        context: context.reference.clone(),
        since,
    };
    change.context = Some(context);
    (dispatching, change)
}

/// Says which turn it became.
pub fn end_dispatch(
    place: &Place<'_>,
    dispatching: &Dispatching,
    turn: &TurnId,
    ledger: &mut CoordinatorLedger,
    now: Time,
) -> CoordinatorChange {
    let Dispatching {
        choice, context, ..
    } = dispatching;
    let mut change = forget_dispatch(place);
    let mut line: Object = dispatched_line(place, choice, turn, now);
    line.insert("context_ref".into(), context.as_str().into());
    change.history.push(line);
    let statement = format!(
        "{} gets a turn as {} for {}",
        choice.repo, choice.role, choice.workstream
    );
    change.decisions.push(ledger.line(
        place.state,
        CoordinatorDecision::Dispatch,
        &statement,
        [
            ("repo_id", choice.repo.as_str().into()),
            ("repo_run_id", place.state.repo_run(&choice.repo).into()),
            ("repo_turn_id", turn.as_str().into()),
            ("workstream_id", choice.workstream.as_str().into()),
            ("context_ref", context.as_str().into()),
        ],
        now,
    ));
    change
}

/// Gives up a turn that was never assigned.
pub fn forget_dispatch(place: &Place<'_>) -> CoordinatorChange {
    let mut state = place.state.clone();
    state.set("dispatching", Value::Null);
    CoordinatorChange::of_state(state, place.barriers.clone())
}
