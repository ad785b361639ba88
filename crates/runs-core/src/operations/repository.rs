//! Operations on the run of a repository.

use accord_api::body::Lines;
use accord_api::{Decision, Json, Need, local_operation};
use accord_contract::{Code, Object};

use super::answers::{
    RunAnswer, RunCheckpointAnswer, RunDoctorAnswer, RunInitAnswer, RunStatusAnswer,
};
use super::codes::{
    OF_CHANGES, OF_COMMITS, OF_DECISIONS, OF_DOCUMENTS, OF_EVIDENCE, OF_FILES, OF_GIT, OF_OPENING,
};

local_operation! {
    /// Makes a folder a governed repository. Existing files are not changed.
    pub struct InitRepository("run_init") {
        needs Need::Write;
        answers Json<RunInitAnswer>;
        refuses [
            OF_OPENING, OF_FILES,
            &[Code::XchainAlreadyGoverned, Code::XchainInvalidConfig, Code::XchainStateInvalid],
            &[Code::XchainLockTimeout, Code::XchainCommitUnfinished, Code::XchainGitFailed],
        ];
    }

    /// Starts a run.
    pub struct StartRun("run_start") {
        needs Need::Write;
        answers Json<RunAnswer>;
        refuses [OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES];
    }

    /// Starts a run in place of one that is completed or blocked.
    pub struct RestartRun("run_restart") {
        needs Need::Decide(Decision::Override);
        answers Json<RunAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, &[Code::NotForWorkers],
        ];
    }

    /// The status of the run, what blocks it, and the next steps.
    pub struct RunStatus("run_status") {
        needs Need::Read;
        answers Json<RunStatusAnswer>;
        refuses [OF_OPENING, OF_FILES];
    }

    /// Looks for everything that blocks a run, or may block it later.
    pub struct RunDoctor("run_doctor") {
        needs Need::Read;
        answers Json<RunDoctorAnswer>;
        refuses [OF_OPENING];
    }

    /// The turns that were accepted or reissued.
    pub struct RunHistory("run_history") {
        needs Need::Read;
        answers Lines<Object>;
        refuses [OF_OPENING, OF_FILES, OF_DOCUMENTS];
    }

    /// The decisions of the run, or those of the repository.
    pub struct RunDecisions("run_decisions") {
        needs Need::Read;
        answers Lines<Object>;
        refuses [OF_OPENING, OF_FILES, OF_DOCUMENTS];
    }

    /// The events of the run.
    pub struct RunEvents("run_events") {
        needs Need::Read;
        answers Lines<Object>;
        refuses [OF_OPENING, OF_FILES, OF_DOCUMENTS];
    }

    /// Commits the changes of accepted turns to git.
    pub struct CheckpointTurns("run_checkpoint") {
        needs Need::Write;
        answers Json<RunCheckpointAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_GIT,
            &[Code::IdAmbiguous, Code::XchainNothingToCheckpoint],
        ];
    }

    /// Blocks the run until a person has decided.
    pub struct EscalateRun("run_escalate") {
        needs Need::Write;
        answers Json<RunAnswer>;
        refuses [OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES];
    }

    /// The same, and ends the workers that run.
    pub struct StopRun("run_stop") {
        needs Need::Decide(Decision::Approve);
        answers Json<RunAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_DECISIONS, OF_EVIDENCE,
        ];
    }
}
