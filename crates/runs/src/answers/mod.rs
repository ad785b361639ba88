//! The answers of runs and coordinators: part of Accord's wire contract.
//!
//! `accord run … --json` prints these documents. Documents of the protocol (state, turns, history
//! lines) are in them as they are. A refusal is an [`ErrorEnvelope`].

mod coordinator;
mod drive;
mod next;
mod proposal;
mod run;

use accord_contract::alx::{ErrorBody, ErrorEnvelope};
use accord_contract::codes::Failure;
use accord_contract::wire::Field;

pub use coordinator::{
    CoordinatorDivergence, CoordinatorGateAnswer, CoordinatorInitAnswer, CoordinatorRepo,
    CoordinatorSendBackAnswer, CoordinatorStatusAnswer, CoordinatorStepAnswer,
    CoordinatorSyncAnswer, CoordinatorTurn, CoordinatorWorkstream,
};
pub use drive::{DriveEnd, RunDriveAnswer, RunStop};
pub use next::{CommandNames, NextAnswer};
pub use proposal::{
    RunProposal, RunProposalAnswer, RunProposalDecisionAnswer, RunProposalFile, RunProposalsAnswer,
};
pub use run::{
    RunAcceptAnswer, RunAdoptAnswer, RunAnswer, RunCheckpointAnswer, RunDispatchAnswer,
    RunDoctorAnswer, RunFinding, RunInitAnswer, RunKeptChange, RunMerge, RunPlanAnswer,
    RunRejectAnswer, RunStageAnswer, RunStatusAnswer, RunTurnAnswer,
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

accord_contract::contract_messages! {
    Response;
    RunInitAnswer = "run-init-answer",
    RunAnswer = "run-answer",
    RunTurnAnswer = "run-turn-answer",
    RunDispatchAnswer = "run-dispatch-answer",
    RunAcceptAnswer = "run-accept-answer",
    RunRejectAnswer = "run-reject-answer",
    RunDriveAnswer = "run-drive-answer",
    RunStageAnswer = "run-stage-answer",
    RunCheckpointAnswer = "run-checkpoint-answer",
    RunStatusAnswer = "run-status-answer",
    RunPlanAnswer = "run-plan-answer",
    RunAdoptAnswer = "run-adopt-answer",
    RunDoctorAnswer = "run-doctor-answer",
    RunProposalsAnswer = "run-proposals-answer",
    RunProposalAnswer = "run-proposal-answer",
    RunProposalDecisionAnswer = "run-proposal-decision-answer",
    CoordinatorInitAnswer = "coordinator-init-answer",
    CoordinatorStatusAnswer = "coordinator-status-answer",
    CoordinatorStepAnswer = "coordinator-step-answer",
    CoordinatorGateAnswer = "coordinator-gate-answer",
    CoordinatorSendBackAnswer = "coordinator-send-back-answer",
    CoordinatorSyncAnswer = "coordinator-sync-answer",
}
