//! The next turn is carried through.

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Value;
use accord_runs_core::TurnId;
use accord_runs_core::state::{Status, Turn};

use super::status::has_worker;
use super::{Gate, NextStep};
use crate::Runs;
use crate::environment::Notice;
use crate::turn_cycle::{CycleOptions, TurnOutcome};

/// Which turn is carried through, and how.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Step {
    /// The role that gets a turn; the one that is due, when none is named.
    pub role: Option<String>,
    /// The active turn that is carried on.
    pub turn: Option<TurnId>,
    /// How.
    pub cycle: CycleOptions,
}

/// Where a step came to.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "one a step, and the large one is the usual one"
)]
pub enum StepResult {
    /// A turn was carried as far as it goes.
    Turn(TurnOutcome),
    /// A gate waits for a person.
    GateHeld(Gate),
    /// No run goes on; this is to be done first.
    NotRunning(NextStep),
}

impl Runs {
    /// Carries the next turn through: the active one, or one that is assigned for it.
    ///
    /// # Errors
    /// As [`Runs::assign`] and [`Runs::carry`].
    pub fn step(&self, step: &Step) -> Result<StepResult, Failure> {
        if let Some(turn) = &step.turn {
            self.refuse_if_busy(turn)?;
            return self.run_turn(turn, step.cycle).map(StepResult::Turn);
        }
        if step.role.is_none() {
            let overview = self.status()?;
            let next = overview.next.into_iter().next();
            match next {
                Some(NextStep::ApproveTransition { .. }) => {
                    return Ok(StepResult::GateHeld(Gate::Transition));
                }
                Some(NextStep::ApproveCompletion { .. }) => {
                    return Ok(StepResult::GateHeld(Gate::Completion));
                }
                Some(NextStep::Examine(failure)) => return Err(failure),
                Some(NextStep::Checkpoint) if step.cycle.checkpoint => {
                    let made = self.checkpoint(None)?;
                    self.environment.notify(&Notice::Checkpointed {
                        commit: made.commit,
                    });
                }
                Some(stands @ NextStep::RaiseBudget { .. })
                    if self.state()?.status() == Status::Blocked =>
                {
                    return Ok(StepResult::NotRunning(stands));
                }
                // What stands in the way is said best by the assignment itself.
                Some(
                    NextStep::Assign { .. }
                    | NextStep::Tidy { .. }
                    | NextStep::Checkpoint
                    | NextStep::RaiseBudget { .. },
                )
                | None => {}
                Some(stands @ NextStep::Reconcile { merge: true, .. }) => {
                    return Ok(StepResult::NotRunning(stands));
                }
                Some(other) => match other.turn() {
                    Some(turn) => {
                        self.refuse_if_busy(turn)?;
                        return self.run_turn(turn, step.cycle).map(StepResult::Turn);
                    }
                    None => return Ok(StepResult::NotRunning(other)),
                },
            }
        }
        let assigned = self.assign(step.role.as_deref())?;
        let turn = assigned.turn.id();
        self.environment.notify(&Notice::Assigned {
            turn: turn.clone(),
            role: assigned.turn.role().to_owned(),
        });
        self.run_turn(turn, step.cycle).map(StepResult::Turn)
    }

    /// Refuses to give a turn to a second worker while its first one works.
    pub(crate) fn refuse_if_busy(&self, turn: &TurnId) -> Result<(), Failure> {
        let state = self.state()?;
        if state.status() != Status::Active {
            return Ok(());
        }
        state.turn(turn).map_or(Ok(()), refuse_if_worker_runs)
    }
}

/// Refuses to take a turn from a worker, or to give it to a second one, while its first one works.
pub(super) fn refuse_if_worker_runs(turn: &Turn) -> Result<(), Failure> {
    let pid = turn.member("worker_pid").and_then(Value::as_u64);
    let Some(pid) = pid.filter(|_| has_worker(turn)) else {
        return Ok(());
    };
    let id = turn.id();
    let message = format!("the worker of {id} still works, as process {pid}");
    Err(Failure::new(Code::XchainWorkerBusy, message)
        .with("turn_id", id.as_str())
        .with("worker_pid", pid)
        .suggesting(format!(
            "wait for it, or end the command that waits for it (or the process itself: \
             kill {pid}), then do this again"
        )))
}
