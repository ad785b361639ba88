//! Answers from the results of services. The core declares them
//! ([`accord_runs_core::operations::answers`]); a refusal is an [`ErrorEnvelope`].

mod coordinator;
mod drive;
mod next;
mod proposal;
mod run;

use accord_contract::alx::{ErrorBody, ErrorEnvelope};
use accord_contract::{Failure, Field};

pub use coordinator::{
    coordinator_gate_answer, coordinator_init_answer, coordinator_send_back_answer,
    coordinator_status_answer, coordinator_step_answer, coordinator_sync_answer,
    coordinator_sync_plan, divergence_answer,
};
pub use drive::{DriveEnd, drive_answer};
pub use next::{CommandNames, next_answer, next_command, stage_again};
pub use proposal::{proposal_answer, proposal_decision_answer, proposals_answer};
pub use run::{
    accept_answer, adopt_answer, checkpoint_answer, dispatch_answer, doctor_answer, init_answer,
    plan_answer, reject_answer, run_answer, stage_answer, status_answer, turn_answer,
};

/// A failure as a document. Its details are members of `error`.
pub fn error_envelope(failure: &Failure) -> ErrorEnvelope {
    let (category, code) = (failure.code.category().into(), failure.code.into());
    let mut error = ErrorBody::new(category, code, failure.message.clone());
    let suggestion = failure.suggestion.as_deref().unwrap_or(failure.code.meaning());
    error.suggestion = Field::Value(suggestion.to_owned());
    if let Some(details) = &failure.details {
        error.extra.extend((**details).clone());
    }
    ErrorEnvelope::of_command(error, None)
}
