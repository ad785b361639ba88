//! Accepts a staged result into the history.

use accord_contract::Failure;
use accord_runs_core::accept::{self as core, Accepted, Conclusion, Inputs, Options};
use accord_runs_core::operations::AcceptMerge;
use accord_runs_core::result::Leniency;
use accord_runs_core::{CheckpointReason, Consent, Result, Subject, TurnId};

use super::step::refuse_if_worker_runs;
use super::{Checkpoint, checkpoint};
use crate::Runs;
use crate::acceptance_driver::drive_acceptance;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accept {
    /// The turn; the only active one if absent.
    pub turn: Option<TurnId>,
    /// Whether the result is accepted without corrections.
    pub strict: bool,
    /// Whether a result that claims work without any changes counts as a review.
    pub force_review: bool,
    /// The decision of the person who merged the conflicting files.
    pub human_merge: Option<Consent>,
    pub checkpoint: bool,
    /// The attempt that the result belongs to; the current one if absent.
    pub attempt: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AcceptResult {
    /// The turn, its line in the history and the new state of the run.
    pub accepted: Accepted,
    pub checkpoint: Option<Checkpoint>,
    /// Why a requested checkpoint failed; the turn is accepted nevertheless.
    pub no_checkpoint: Option<Failure>,
}

impl Runs {
    /// Accepts a turn. Fails with the code of the refusal, which is recorded in the turn or the
    /// run, unless the turn could not be examined: then nothing was written. Fails with
    /// `not_for_workers` if a worker claims that a person merged the files.
    pub fn accept(&self, accept: &Accept) -> Result<AcceptResult> {
        let merge = accept.human_merge.as_ref();
        let merge = merge.map(|merge| self.authorize_consent::<AcceptMerge>(merge));
        let merge = merge.transpose()?;
        let mut operation = self.begin()?;
        if let (Some(turn), Some(attempt)) = (&accept.turn, accept.attempt) {
            // The worker of the turn cycle has ended, but the turn may be at another attempt.
            operation.state.target_at(turn, attempt)?;
        } else if let Ok(turn) = operation.target(accept.turn.as_ref()) {
            // The worker is not done: its partial result must not be accepted.
            refuse_if_worker_runs(&turn)?;
        }
        let human_merge = match &merge {
            None => None,
            Some(consent) => {
                let turn = operation.target(accept.turn.as_ref())?;
                Some(operation.approval(&Subject::Merge(&turn), "merged", consent)?)
            }
        };
        let inputs = Inputs {
            config: operation.config.clone(),
            state: operation.state.clone(),
            index: operation.locked.index(operation.state.run_id())?,
            repo_decisions: operation.locked.repo_decisions()?,
        };
        let leniency = Leniency { strict: accept.strict, force_review: accept.force_review };
        let options = Options { leniency, human_merge };
        let (ids, now) = (operation.environment.ids(), operation.now());
        let machine = core::Acceptance::begin(inputs, accept.turn.as_ref(), options, ids, now)?;
        let turn = machine.turn().clone();
        let guard = operation.locked.guard();
        let refusal =
            guard.map(|guard| guard.refusal(&operation.locked, turn.id(), turn.attempt()));
        let refusal = refusal.transpose()?.flatten();
        let outcome = drive_acceptance(&mut operation, machine, refusal)?;
        operation.save_dispatch_index();
        let accepted = match outcome {
            Conclusion::Refused { failure, .. } => {
                operation.save_session(CheckpointReason::AcceptanceFailed, Some(&turn));
                return Err(failure);
            }
            Conclusion::Accepted(accepted) => *accepted,
        };
        operation.save_session(CheckpointReason::TurnAccepted, Some(&turn));
        // From here on the turn is accepted. A checkpoint that fails cannot change that.
        let mut acceptance = AcceptResult { accepted, checkpoint: None, no_checkpoint: None };
        if accept.checkpoint {
            match checkpoint::make(&mut operation, Some(turn.id())) {
                Ok(made) => {
                    acceptance.checkpoint = made;
                    acceptance.accepted.state = operation.state.clone();
                }
                Err(failure) => acceptance.no_checkpoint = Some(failure),
            }
        }
        Ok(acceptance)
    }
}
