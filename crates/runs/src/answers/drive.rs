//! The answer of a step and of a loop.

use accord_contract::alx::ErrorEnvelope;
use accord_contract::codes::Failure;
use accord_contract::wire::{Object, message, wire_enum};
use accord_runs_core::state::{State, Status};

use super::{NextAnswer, error_envelope};
use crate::TurnOutcome;
use crate::operations::{LoopResult, LoopStop, NextStep, StepResult};

wire_enum! {
    /// Why a step or loop stopped.
    pub enum RunStop("RunStop", closed) {
        /// The turn was accepted, and the run continues.
        Accepted = "accepted",
        /// The run is completed.
        Completed = "completed",
        /// The run is blocked: a person is needed.
        Blocked = "blocked",
        /// A gate waits for a person.
        GateHeld = "gate_held",
        /// A person does the turn.
        ByHand = "by_hand",
        /// The limit of turns is reached.
        MaxTurns = "max_turns_reached",
        /// It was cancelled.
        Cancelled = "cancelled",
        /// No run is active.
        NotRunning = "not_running",
    }
}

message! {
    /// The end of a step or loop.
    pub struct RunDriveAnswer("RunDriveAnswer", closed) {
        /// Why it stopped.
        required stop: RunStop = "stop", "run-stop";
        /// The number of turns that this command accepted.
        required accepted: u64 = "accepted", "count";
        /// The turn that it stopped at, if any.
        required_or_null turn_id: String = "turn_id", "turn-id";
        /// Why the run is blocked, if the last result was refused.
        optional failure: ErrorEnvelope = "failure", "failure";
        /// Warnings about accepted turns.
        required warnings: Vec<String> = "warnings", "text";
        /// The state of the run.
        required state: Object = "state", "governed-state";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}

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
        match result {
            StepResult::Turn(TurnOutcome::Accepted(done)) => Self {
                accepted: 1,
                turn: Some(done.accepted.turn_id.to_string()),
                warnings: done.accepted.warnings,
                ..Self::new(match done.accepted.state.status() {
                    Status::Completed => RunStop::Completed,
                    Status::Blocked => RunStop::Blocked,
                    Status::Paused => RunStop::GateHeld,
                    _ => RunStop::Accepted,
                })
            },
            StepResult::Turn(TurnOutcome::ByHand(dispatched)) => {
                Self { turn: Some(dispatched.turn.id().to_string()), ..Self::new(RunStop::ByHand) }
            }
            StepResult::Turn(TurnOutcome::Conflicted { turn, failure }) => Self {
                turn: Some(turn.to_string()),
                failure: Some(failure),
                ..Self::new(RunStop::ByHand)
            },
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

impl RunDriveAnswer {
    /// The answer of a step or loop.
    pub fn new(end: &DriveEnd, state: &State, next: Vec<NextAnswer>) -> Self {
        Self {
            stop: end.stop,
            accepted: end.accepted as u64,
            turn_id: end.turn.clone(),
            failure: end.failure.as_ref().map(error_envelope),
            warnings: end.warnings.clone(),
            state: state.document(),
            next,
        }
    }
}
