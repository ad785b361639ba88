//! Operations on turns.

use accord_api::{Decision, Json, Need, local_operation};
use accord_contract::Code;

use super::answers::{
    RunAcceptAnswer, RunDispatchAnswer, RunDriveAnswer, RunRejectAnswer, RunStageAnswer,
    RunTurnAnswer,
};
use super::codes::{
    OF_ASSIGNMENTS, OF_CHANGES, OF_COMMITS, OF_CYCLES, OF_DECISIONS, OF_DOCUMENTS, OF_EVIDENCE,
    OF_FILES, OF_GIT, OF_HOOKS, OF_OPENING, OF_RESULTS, OF_RUNTIMES, OF_TURN, OF_WORKERS,
};

local_operation! {
    /// Assigns a turn to a role.
    pub struct AssignTurn("run_assign") {
        needs Need::Write;
        answers Json<RunTurnAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_GIT, OF_HOOKS,
            OF_RUNTIMES, OF_ASSIGNMENTS,
        ];
    }

    /// Dispatches an assigned turn: its bundle is written.
    pub struct DispatchTurn("run_dispatch") {
        needs Need::Write;
        answers Json<RunDispatchAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_TURN, OF_GIT, OF_HOOKS,
            OF_RUNTIMES, &[Code::XchainFinalizationFailed, Code::XchainBudgetExhausted],
        ];
    }

    /// Stages the result of a turn that a person did.
    pub struct StageResult("run_stage") {
        needs Need::Write;
        answers Json<RunStageAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_TURN, OF_GIT,
            &[
                Code::NotForWorkers, Code::XchainFilesRequired, Code::XchainUnknownPhase,
                Code::XchainVersionControlChanged,
            ],
        ];
    }

    /// Accepts the staged result of a turn into the history.
    pub struct AcceptTurn("run_accept") {
        needs Need::Write;
        answers Json<RunAcceptAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_TURN, OF_GIT, OF_HOOKS,
            OF_RESULTS,
        ];
    }

    /// Accepts a turn whose conflicting files a person merged.
    pub struct AcceptMerge("run_accept_merge") {
        needs Need::Decide(Decision::Approve);
        answers Json<RunAcceptAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_TURN, OF_GIT, OF_HOOKS,
            OF_RESULTS, OF_DECISIONS, OF_EVIDENCE,
        ];
    }

    /// Rejects the staged result of a turn.
    pub struct RejectTurn("run_reject") {
        needs Need::Write;
        answers Json<RunRejectAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_TURN, OF_GIT,
            &[Code::XchainTurnAlreadyAccepted],
        ];
    }

    /// Gives the work of a turn to a new turn.
    pub struct ReissueTurn("run_reissue") {
        needs Need::Decide(Decision::Override);
        answers Json<RunTurnAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_TURN, OF_GIT, OF_HOOKS,
            OF_RUNTIMES, OF_ASSIGNMENTS, &[Code::NotForWorkers],
        ];
    }

    /// Runs the next turn with its worker.
    pub struct StepRun("run_step") {
        needs Need::Write;
        answers Json<RunDriveAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_TURN, OF_GIT, OF_HOOKS,
            OF_RUNTIMES, OF_ASSIGNMENTS, OF_CYCLES, OF_WORKERS,
        ];
    }

    /// Runs turn after turn, until a person is needed or the run is completed.
    pub struct LoopRun("run_loop") {
        needs Need::Write;
        answers Json<RunDriveAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_GIT, OF_HOOKS,
            OF_RUNTIMES, OF_ASSIGNMENTS, OF_CYCLES, &[Code::XchainTurnNotActive],
        ];
    }

    /// Runs turn after turn, and approves gates in the name of a person.
    pub struct LoopAndApprove("run_loop_approving") {
        needs Need::Decide(Decision::Approve);
        answers Json<RunDriveAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_GIT, OF_HOOKS,
            OF_RUNTIMES, OF_ASSIGNMENTS, OF_CYCLES, OF_DECISIONS,
            &[Code::XchainTurnNotActive, Code::XchainGateActionFailed],
        ];
    }
}
