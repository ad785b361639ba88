//! A turn is rejected: it is tried again, or the run is blocked.

use accord_contract::codes::Failure;
use accord_runs_core::TurnId;
use accord_runs_core::run::{self, Rejection};
use accord_runs_core::state::Status;

use super::RunUpdate;
use super::staged::archive_result;
use super::step::refuse_if_worker_runs;
use crate::Runs;

/// Why a turn is rejected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reject {
    /// The turn; the only one, when none is named.
    pub turn: Option<TurnId>,
    /// Why, for people and for the worker's next try.
    pub reason: String,
    /// What was wrong with its result.
    pub errors: Vec<String>,
    /// The stage that found it.
    pub failed_stage: Option<String>,
}

/// A turn that was rejected.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rejected {
    /// Whether it may be tried again; else the run is blocked.
    pub again: bool,
    /// Where the rejected result is kept, where there was one that can be read.
    pub kept: Option<String>,
    /// The run that it belongs to.
    pub update: RunUpdate,
}

impl Runs {
    /// Rejects a turn. Its result is kept aside, and its staging is empty for the next try.
    ///
    /// # Errors
    /// `worker_busy` while its worker works, `invalid_state_transition`, `turn_not_active`,
    /// `target_required` or `turn_already_accepted`.
    pub fn reject(&self, reject: &Reject) -> Result<Rejected, Failure> {
        let mut operation = self.begin()?;
        let turn = operation.target(reject.turn.as_ref())?;
        refuse_if_worker_runs(&turn)?;
        // Another try of it could never be accepted.
        let index = operation.locked.index(operation.state.run_id())?;
        index.check_not_accepted(turn.id())?;
        let rejection = Rejection {
            reason: reject.reason.clone(),
            errors: reject.errors.clone(),
            failed_stage: reject.failed_stage.clone(),
            // What earlier tries left behind is still the turn's own.
            baseline: match turn.baseline() {
                Some(baseline) => baseline,
                None => operation.baseline()?,
            },
            left_behind: self.left_behind(&turn),
        };
        let now = operation.now();
        let change = run::reject(
            &operation.state,
            &operation.config,
            Some(turn.id()),
            &rejection,
            &mut operation.ids,
            now,
        )?;
        let (kept, further) = archive_result(&operation, &turn, now)?;
        operation.commit(&change, further)?;
        operation.save_dispatch_index();
        let blocked = operation.state.status() == Status::Blocked;
        if blocked {
            operation.run_escalation_hooks(Some(&turn), Some(&reject.reason));
            operation.save_session("blocked", Some(&turn));
        }
        Ok(Rejected {
            again: !blocked,
            kept,
            update: RunUpdate {
                state: change.state,
                events: change.events,
            },
        })
    }
}
