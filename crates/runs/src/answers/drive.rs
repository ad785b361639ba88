//! The answer of a step and of a loop.

use accord_contract::Failure;
use accord_runs_core::operations::answers::{NextAnswer, RunDriveAnswer, RunStop};
use accord_runs_core::{State, Status, TurnId};

use super::error_envelope;
use crate::TurnOutcome;
use crate::operations::{LoopResult, LoopStop, NextStep, StepResult};

/// The end of a step or loop.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DriveEnd {
    /// Why it stopped.
    pub stop: RunStop,
    /// The number of turns that this command accepted.
    pub accepted: usize,
    /// The turn that it stopped at.
    pub turn: Option<String>,
    /// Why the last result was refused.
    pub failure: Option<Failure>,
    /// Warnings about accepted turns.
    pub warnings: Vec<String>,
}

impl DriveEnd {
    /// An end without a turn.
    pub fn new(stop: RunStop) -> Self {
        Self { stop, accepted: 0, turn: None, failure: None, warnings: Vec::new() }
    }

    /// The end at a step that a person must take first.
    fn at(next: &NextStep) -> Self {
        let stop = match next {
            NextStep::Resolve { .. } | NextStep::RaiseBudget { .. } => RunStop::Blocked,
            NextStep::Start { restart: true } => RunStop::Completed,
            NextStep::Work { by_hand: true, .. } | NextStep::Reconcile { .. } => RunStop::ByHand,
            // The coordinator of an initiative assigns the next turn.
            NextStep::Assign { .. } => RunStop::Accepted,
            _ => RunStop::NotRunning,
        };
        Self { turn: next.turn().map(ToString::to_string), ..Self::new(stop) }
    }
}

impl From<StepResult> for DriveEnd {
    fn from(result: StepResult) -> Self {
        let at = |turn: &TurnId, stop| Self { turn: Some(turn.to_string()), ..Self::new(stop) };
        match result {
            StepResult::Turn(TurnOutcome::Accepted(done)) => {
                let stop = match done.accepted.state.status() {
                    Status::Completed => RunStop::Completed,
                    Status::Blocked => RunStop::Blocked,
                    Status::Paused => RunStop::GateHeld,
                    _ => RunStop::Accepted,
                };
                let warnings = done.accepted.warnings;
                Self { accepted: 1, warnings, ..at(&done.accepted.turn_id, stop) }
            }
            StepResult::Turn(TurnOutcome::ByHand(given)) => at(given.turn.id(), RunStop::ByHand),
            StepResult::Turn(TurnOutcome::Conflicted { turn, failure }) => {
                Self { failure: Some(failure), ..at(&turn, RunStop::ByHand) }
            }
            StepResult::Turn(TurnOutcome::Blocked(failure)) => {
                Self { failure: Some(failure), ..Self::new(RunStop::Blocked) }
            }
            StepResult::GateHeld(_) => Self::new(RunStop::GateHeld),
            StepResult::NotRunning(next) => Self::at(&next),
        }
    }
}

impl From<LoopResult> for DriveEnd {
    fn from(result: LoopResult) -> Self {
        let end = match result.stop {
            LoopStop::Completed => Self::new(RunStop::Completed),
            LoopStop::Blocked => Self::new(RunStop::Blocked),
            LoopStop::GateHeld(_) => Self::new(RunStop::GateHeld),
            LoopStop::ByHand(dispatched) => {
                Self { turn: Some(dispatched.turn.id().to_string()), ..Self::new(RunStop::ByHand) }
            }
            LoopStop::MaxTurns => Self::new(RunStop::MaxTurns),
            LoopStop::Cancelled => Self::new(RunStop::Cancelled),
            LoopStop::NotRunning(next) => Self::at(&next),
        };
        Self { accepted: result.accepted, warnings: result.warnings, ..end }
    }
}

/// The answer of a step or loop.
pub fn drive_answer(end: &DriveEnd, state: &State, next: Vec<NextAnswer>) -> RunDriveAnswer {
    RunDriveAnswer {
        stop: end.stop,
        accepted: end.accepted as u64,
        turn_id: end.turn.clone(),
        failure: end.failure.as_ref().map(error_envelope),
        warnings: end.warnings.clone(),
        state: state.document(),
        next,
    }
}
