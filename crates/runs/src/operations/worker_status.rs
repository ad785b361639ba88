//! Records the status of a turn's worker.

use accord_contract::{Object, Value};
use accord_runs_core::{Result, RuntimeType, Turn, TurnId, TurnStatus, dispatch};

use super::RunUpdate;
use crate::{Operation, Runs};

impl Runs {
    /// The changes of a turn's worker so far; null if a person does the turn, or if unreadable.
    pub(crate) fn left_behind(&self, turn: &Turn) -> Value {
        let seen = || {
            let config = self.config().ok()?;
            let runtime = config.runtime(turn.runtime_id()?)?;
            if runtime.kind == RuntimeType::Manual {
                return None;
            }
            let git = self.environment.git(self.repository().root());
            git.ok()??.observe(turn.baseline().as_ref(), false).ok()
        };
        // Files that cannot be read stay attributed to the turn.
        seen().map_or(Value::Null, |seen| dispatch::left_behind(&seen))
    }

    /// Records the status of an attempt, with more members: the process of its worker, the time of
    /// its first output. Fails with `invalid_state_transition` if the run is not active;
    /// `turn_not_active` if there is no such turn; `attempt_over` if it is at another attempt.
    pub fn record_worker_status(
        &self,
        turn: &TurnId,
        attempt: u64,
        status: TurnStatus,
        about: Object,
    ) -> Result<RunUpdate> {
        let mut operation = self.begin()?;
        operation.state.target_at(turn, attempt)?;
        // The turn stops anyway. A person can put the changed records in force only in this state.
        if operation.locked.guard().is_some_and(|guard| guard.is_stopped(turn)) {
            return Ok(RunUpdate { state: operation.state, events: Vec::new() });
        }
        let now = operation.now();
        let Operation { state, ids, .. } = &mut operation;
        let change = dispatch::mark_with(state, turn, status, about, ids, now)?;
        operation.commit_update(change)
    }
}
