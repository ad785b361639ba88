//! What the operations on governed runs answer: part of Accord's wire contract.
//!
//! `accord run … --json` prints these documents. Documents of the protocol (state, turns, history
//! lines) are in them as they are.

mod coordinator;
mod drive;
mod next;
mod proposal;
mod run;

pub use coordinator::{
    CoordinatorDivergence, CoordinatorGateAnswer, CoordinatorInitAnswer, CoordinatorRepo,
    CoordinatorSendBackAnswer, CoordinatorStatusAnswer, CoordinatorStepAnswer,
    CoordinatorSyncAnswer, CoordinatorTurn, CoordinatorWorkstream,
};
pub use drive::{RunDriveAnswer, RunStop};
pub use next::NextAnswer;
pub use proposal::{
    RunProposal, RunProposalAnswer, RunProposalDecisionAnswer, RunProposalFile, RunProposalsAnswer,
};
pub use run::{
    Level, RunAcceptAnswer, RunAdoptAnswer, RunAnswer, RunCheck, RunCheckpointAnswer,
    RunDispatchAnswer, RunDoctorAnswer, RunFacts, RunFinding, RunInitAnswer, RunKeptChange,
    RunMerge, RunPlanAnswer, RunRejectAnswer, RunSentBack, RunStageAnswer, RunStatusAnswer,
    RunTurnAnswer, RunWorkerSays,
};

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
