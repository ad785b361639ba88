//! Rejects a turn: there is another attempt, or the run is blocked.

use accord_runs_core::run::{self, Rejection};
use accord_runs_core::{CheckpointReason, Result, Status, TurnId};

use super::RunUpdate;
use super::staged::archive_result;
use super::step::refuse_if_worker_runs;
use crate::{Operation, Runs};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reject {
    /// The turn; the only active one if absent.
    pub turn: Option<TurnId>,
    /// The reason, for people and for the next attempt.
    pub reason: String,
    pub errors: Vec<String>,
    pub failed_stage: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Rejected {
    /// Whether there is another attempt; otherwise the run is blocked.
    pub again: bool,
    /// The copy of the rejected result, if there was a readable one.
    pub kept: Option<String>,
    pub update: RunUpdate,
}

impl Runs {
    /// Rejects a turn. A copy of its result is kept, and its staging folder is emptied. Fails with
    /// `worker_busy` while its worker runs; `invalid_state_transition`, `turn_not_active`,
    /// `target_required` or `turn_already_accepted`.
    pub fn reject(&self, reject: &Reject) -> Result<Rejected> {
        let mut operation = self.begin()?;
        let turn = operation.target(reject.turn.as_ref())?;
        refuse_if_worker_runs(&turn)?;
        // No other attempt of it could be accepted.
        let index = operation.locked.index(operation.state.run_id())?;
        index.check_not_accepted(turn.id())?;
        let rejection = Rejection {
            reason: reject.reason.clone(),
            errors: reject.errors.clone(),
            failed_stage: reject.failed_stage.clone(),
            // Changes of earlier attempts still belong to the turn.
            baseline: turn.baseline().map_or_else(|| operation.baseline(), Ok)?,
            left_behind: self.left_behind(&turn),
        };
        let now = operation.now();
        let Operation { state, config, ids, .. } = &mut operation;
        let change = run::reject(state, config, Some(turn.id()), &rejection, ids, now)?;
        let (kept, further) = archive_result(&operation, &turn, now)?;
        operation.commit(&change, further)?;
        operation.save_dispatch_index();
        let blocked = operation.state.status() == Status::Blocked;
        if blocked {
            operation.run_escalation_hooks(Some(&turn), Some(&reject.reason));
            operation.save_session(CheckpointReason::Blocked, Some(&turn));
        }
        let update = RunUpdate { state: change.state, events: change.events };
        Ok(Rejected { again: !blocked, kept, update })
    }
}
