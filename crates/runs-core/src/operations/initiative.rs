//! Operations on an initiative of several repositories.

use accord_api::{Decision, Json, Need, local_operation};
use accord_contract::Code;

use super::answers::{
    CoordinatorGateAnswer, CoordinatorInitAnswer, CoordinatorSendBackAnswer,
    CoordinatorStatusAnswer, CoordinatorStepAnswer, CoordinatorSyncAnswer,
};
use super::codes::{
    OF_ASSIGNMENTS, OF_CHANGES, OF_DECISIONS, OF_DISPATCHES, OF_HOOKS, OF_INITIATIVES,
    OF_REPOSITORY,
};

local_operation! {
    /// Starts an initiative.
    pub struct InitInitiative("coordinator_init") {
        needs Need::Write;
        answers Json<CoordinatorInitAnswer>;
        refuses [OF_REPOSITORY, OF_CHANGES, OF_INITIATIVES];
    }

    /// The status of an initiative, its repositories and the next steps.
    pub struct InitiativeStatus("coordinator_status") {
        needs Need::Read;
        answers Json<CoordinatorStatusAnswer>;
        refuses [OF_REPOSITORY, OF_INITIATIVES];
    }

    /// Takes accepted turns over, and dispatches the next turn.
    pub struct StepInitiative("coordinator_step") {
        needs Need::Write;
        answers Json<CoordinatorStepAnswer>;
        refuses [
            OF_REPOSITORY, OF_CHANGES, OF_INITIATIVES, OF_HOOKS, OF_ASSIGNMENTS, OF_DISPATCHES,
            &[Code::XchainNothingToDispatch, Code::XchainCoordinatorGateBlocked],
        ];
    }

    /// Approves the pending gate of an initiative.
    pub struct ApproveInitiativeGate("coordinator_approve_gate") {
        needs Need::Decide(Decision::Approve);
        answers Json<CoordinatorGateAnswer>;
        refuses [
            OF_REPOSITORY, OF_CHANGES, OF_INITIATIVES, OF_HOOKS, OF_DECISIONS,
            &[Code::XchainCoordinatorGateBlocked],
        ];
    }

    /// Sends the work of the pending gate of an initiative back.
    pub struct SendBackInitiative("coordinator_send_back") {
        needs Need::Decide(Decision::Approve);
        answers Json<CoordinatorSendBackAnswer>;
        refuses [
            OF_REPOSITORY, OF_CHANGES, OF_INITIATIVES, OF_DECISIONS,
            &[Code::XchainUnknownRepository],
        ];
    }

    /// Brings an initiative in line with its repositories.
    pub struct ResyncInitiative("coordinator_resync") {
        needs Need::Write;
        answers Json<CoordinatorSyncAnswer>;
        refuses [OF_REPOSITORY, OF_CHANGES, OF_INITIATIVES, OF_HOOKS];
    }
}
