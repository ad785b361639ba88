//! Runs the next turn.

use accord_contract::{Code, Failure};
use accord_runs_core::{Result, Status, Turn, TurnId};

use super::status::has_worker;
use super::{NextStep, PendingApproval};
use crate::turn_cycle::{CycleOptions, TurnOutcome};
use crate::{Notice, Runs};

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Step {
    /// The role of a new turn; the role that is due if absent.
    pub role: Option<String>,
    pub turn: Option<TurnId>,
    pub cycle: CycleOptions,
}

#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one a step, and the large one is the usual one")]
pub enum StepResult {
    Turn(TurnOutcome),
    GateHeld(PendingApproval),
    /// No run is active; this is the next step.
    NotRunning(NextStep),
}

impl Runs {
    /// Runs the next turn: the active one, or a new one. Fails like [`Runs::assign`] and
    /// [`Runs::run_turn`].
    pub fn step(&self, step: &Step) -> Result<StepResult> {
        if step.cycle.checkpoint {
            // A worker may take an hour, and its work could not be committed.
            self.check_committer()?;
        }
        if let Some(turn) = &step.turn {
            self.refuse_if_busy(turn)?;
            return self.run_turn(turn, step.cycle).map(StepResult::Turn);
        }
        if step.role.is_none() {
            match self.status()?.next.into_iter().next() {
                Some(NextStep::ApproveTransition { .. }) => {
                    return Ok(StepResult::GateHeld(PendingApproval::Transition));
                }
                Some(NextStep::ApproveCompletion { .. }) => {
                    return Ok(StepResult::GateHeld(PendingApproval::Completion));
                }
                Some(NextStep::Examine(failure) | NextStep::Adopt(failure)) => return Err(failure),
                Some(NextStep::Checkpoint) if step.cycle.checkpoint => {
                    let made = self.checkpoint(None)?;
                    self.environment.notify(&Notice::Checkpointed { commit: made.commit });
                }
                Some(step @ NextStep::RaiseBudget { .. })
                    if self.state()?.status() == Status::Blocked =>
                {
                    return Ok(StepResult::NotRunning(step));
                }
                // The assignment reports the reason itself.
                Some(
                    NextStep::Assign { .. }
                    | NextStep::Tidy { .. }
                    | NextStep::Checkpoint
                    | NextStep::RaiseBudget { .. },
                )
                | None => {}
                Some(step @ NextStep::Reconcile { merge: true, .. }) => {
                    return Ok(StepResult::NotRunning(step));
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
        let role = assigned.turn.role().to_owned();
        self.environment.notify(&Notice::Assigned { turn: turn.clone(), role });
        self.run_turn(turn, step.cycle).map(StepResult::Turn)
    }

    /// Refuses to dispatch a turn whose worker still runs.
    pub(crate) fn refuse_if_busy(&self, turn: &TurnId) -> Result<()> {
        let state = self.state()?;
        if state.status() != Status::Active {
            return Ok(());
        }
        state.turn(turn).map_or(Ok(()), refuse_if_worker_runs)
    }
}

/// Refuses to take a turn from a worker that still runs.
pub(super) fn refuse_if_worker_runs(turn: &Turn) -> Result<()> {
    let Some(pid) = turn.worker_pid().filter(|_| has_worker(turn)) else { return Ok(()) };
    let id = turn.id();
    let message = format!("the worker of {id} still runs as process {pid}");
    Err(Failure::new(Code::XchainWorkerBusy, message)
        .with("turn_id", id.as_str())
        .with("worker_pid", pid)
        .suggesting(format!(
            "wait for it, or stop the command that waits for it (or the process itself: \
             kill {pid}), then do this again"
        )))
}
