//! Operations on an initiative of several repositories.

use accord_api::{Decision, Json, Need, local_operation};
use accord_contract::Code;

use super::answers::{
    CoordinatorGateAnswer, CoordinatorInitAnswer, CoordinatorSendBackAnswer,
    CoordinatorStatusAnswer, CoordinatorStepAnswer, CoordinatorSyncAnswer,
};
use super::codes::{
    OF_ASSIGNMENTS, OF_CHANGES, OF_COMMITS, OF_DECISIONS, OF_DOCUMENTS, OF_EVIDENCE, OF_FILES,
    OF_GIT, OF_HOOKS, OF_INITIATIVES, OF_OPENING, OF_PROJECTIONS, OF_RUNTIMES,
};

local_operation! {
    /// Starts an initiative.
    pub struct InitInitiative("coordinator_init") {
        needs Need::Write;
        answers Json<CoordinatorInitAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_INITIATIVES,
            &[Code::XchainCoordinatorDiverged],
        ];
    }

    /// The status of an initiative, its repositories and the next steps.
    pub struct InitiativeStatus("coordinator_status") {
        needs Need::Read;
        answers Json<CoordinatorStatusAnswer>;
        refuses [OF_INITIATIVES, OF_FILES, &[Code::XchainFileSystemFailed]];
    }

    /// Takes accepted turns over, and dispatches the next turn.
    pub struct StepInitiative("coordinator_step") {
        needs Need::Write;
        answers Json<CoordinatorStepAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_INITIATIVES,
            OF_PROJECTIONS, OF_GIT, OF_HOOKS, OF_RUNTIMES, OF_ASSIGNMENTS,
            &[
                Code::XchainNothingToDispatch, Code::XchainTurnNotActive,
                Code::XchainFinalizationFailed,
            ],
        ];
    }

    /// Approves the pending gate of an initiative.
    pub struct ApproveInitiativeGate("coordinator_approve_gate") {
        needs Need::Decide(Decision::Approve);
        answers Json<CoordinatorGateAnswer>;
        refuses [
            OF_INITIATIVES, OF_FILES, OF_COMMITS, OF_PROJECTIONS, OF_HOOKS, OF_DECISIONS,
            OF_EVIDENCE, &[Code::XchainFileSystemFailed, Code::XchainInvalidStateTransition],
        ];
    }

    /// Sends the work of the pending gate of an initiative back.
    pub struct SendBackInitiative("coordinator_send_back") {
        needs Need::Decide(Decision::Approve);
        answers Json<CoordinatorSendBackAnswer>;
        refuses [
            OF_INITIATIVES, OF_FILES, OF_COMMITS, OF_PROJECTIONS, OF_DECISIONS, OF_EVIDENCE,
            &[
                Code::XchainFileSystemFailed, Code::XchainInvalidStateTransition,
                Code::XchainUnknownRepository,
            ],
        ];
    }

    /// Brings an initiative in line with its repositories.
    pub struct ResyncInitiative("coordinator_resync") {
        needs Need::Write;
        answers Json<CoordinatorSyncAnswer>;
        refuses [
            OF_INITIATIVES, OF_FILES, OF_COMMITS, OF_PROJECTIONS, &[Code::XchainFileSystemFailed],
        ];
    }
}
