//! A staged result becomes part of the history.

use accord_contract::codes::Failure;
use accord_runs_core::TurnId;
use accord_runs_core::accept::{self as core, Accepted, Conclusion, Inputs, Options};
use accord_runs_core::result::Leniency;

use super::step::refuse_if_worker_runs;
use super::{Checkpoint, checkpoint};
use crate::Runs;
use crate::acceptance_driver::drive_acceptance;

/// How a turn is accepted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accept {
    /// The turn; the only one, when none is named.
    pub turn: Option<TurnId>,
    /// Whether the result is taken as it is, or not at all.
    pub strict: bool,
    /// Whether a result that claims work and shows none is taken for a review.
    pub force_review: bool,
    /// Whether a person merged what was in conflict.
    pub human_merge: bool,
    /// Whether what the turn changed is committed to git at once.
    pub checkpoint: bool,
    /// The try whose result it is; whichever the turn is at, when nothing is said.
    pub attempt: Option<u64>,
}

/// A turn that is part of the history.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AcceptResult {
    /// The turn, its line in the history and the run that follows.
    pub accepted: Accepted,
    /// The checkpoint, where one was asked for and made.
    pub checkpoint: Option<Checkpoint>,
    /// Why there is none although there was something to commit; the turn is accepted all the
    /// same.
    pub no_checkpoint: Option<Failure>,
}

impl Runs {
    /// Accepts a turn.
    ///
    /// # Errors
    /// The code of what speaks against it. The turn, or the run, then says so, unless the turn
    /// could not be looked at: then nothing was written.
    pub fn accept(&self, accept: &Accept) -> Result<AcceptResult, Failure> {
        let mut operation = self.begin()?;
        if let (Some(turn), Some(attempt)) = (&accept.turn, accept.attempt) {
            operation.state.target_at(turn, attempt)?;
        } else if let Ok(turn) = operation.target(accept.turn.as_ref()) {
            // Half a worker's work is not for others to hand in.
            refuse_if_worker_runs(&turn)?;
        }
        let inputs = Inputs {
            config: operation.config.clone(),
            state: operation.state.clone(),
            index: operation.locked.index(operation.state.run_id())?,
            repo_decisions: operation.locked.repo_decisions()?,
        };
        let options = Options {
            leniency: Leniency {
                strict: accept.strict,
                force_review: accept.force_review,
            },
            human_merge: accept.human_merge,
        };
        let ids = operation.environment.ids();
        let machine =
            core::Acceptance::begin(inputs, accept.turn.as_ref(), options, ids, operation.now())?;
        let turn = machine.turn().clone();
        let outcome = drive_acceptance(&mut operation, machine)?;
        operation.save_dispatch_index();
        let accepted = match outcome {
            Conclusion::Refused { failure, .. } => {
                operation.save_session("acceptance_failed", Some(&turn));
                return Err(failure);
            }
            Conclusion::Accepted(accepted) => *accepted,
        };
        operation.save_session("turn_accepted", Some(&turn));
        let mut acceptance = AcceptResult {
            accepted,
            checkpoint: None,
            no_checkpoint: None,
        };
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
