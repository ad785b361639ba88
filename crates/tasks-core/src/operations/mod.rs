//! The operations on tasks, a file each for what belongs together: what they take, what they
//! answer, what they need, and with which codes they refuse.
//!
//! `crates/tasks` carries them out; the host serves them; the command and the MCP tools call them.
//! Requests and answers are part of Accord's wire contract. A task is named by its id or the
//! beginning of its id.

mod adopt;
mod briefing;
mod change;
mod claim;
mod comment;
mod create;
mod decide;
mod depend;
mod end_run;
mod events;
mod links;
mod list;
mod merge;
mod message;
mod moves;
mod observed;
mod outputs;
mod session_end;
mod show;
mod task;
mod tree;

use accord_api::parameter::{Segment, Text};
use accord_api::params;
use accord_base::ProjectId;
use accord_contract::{Code, TextForm};

pub use accord_api::parameter::{ACTOR, Acting, DOOR, InProject};
pub use adopt::{
    AdoptAnswer, AdoptRequest, AdoptSettings, AdoptTask, AdoptWriter, AdoptWriterAnswer,
    AdoptWriterRequest, AdoptedChange, TaskAdoptEnvelope, TaskAdoptWriterEnvelope,
};
pub use briefing::{
    BriefingAnswer, BriefingDependency, BriefingQuery, TaskBriefing, TaskBriefingEnvelope,
};
pub use change::{TaskAnswer, TaskEnvelope, TaskMove, TaskNotice};
pub use claim::{
    Briefed, ClaimAnswer, ClaimNextAnswer, ClaimNextRequest, ClaimNextTask, ClaimQuery,
    ClaimRequest, ClaimTask, Heartbeat, HeartbeatAnswer, HeartbeatRequest, ReleaseRequest,
    ReleaseTask, TaskClaimEnvelope, TaskClaimNextEnvelope, TaskHeartbeatEnvelope, UnfitTasks,
};
pub use comment::{CommentOnTask, CommentRequest};
pub use create::{
    CreateManyAnswer, CreateManyRequest, CreateRequest, CreateTask, CreateTasks, EditRequest,
    EditTask, NewTask, NewTaskOutcome, ReviewBy, TaskCreateManyEnvelope,
};
pub use decide::{
    ApproveRequest, ApproveTask, CancelRequest, CancelTask, CloseRequest, CloseTask, Deciding,
    ExpectedEvidence, ReopenRequest, ReopenTask, ResurrectRequest, ResurrectTask, SendBackRequest,
    SendBackTask,
};
pub use depend::{AddDependency, DependencyRequest, RemoveDependency};
pub use end_run::{AgentExit, EndRun, EndRunAnswer, EndRunRequest, RunEnding, TaskEndRunEnvelope};
pub use events::{
    AofEvent, DEFAULT_EVENTS, EventsAnswer, EventsQuery, TaskEvents, TaskEventsEnvelope,
};
pub use links::{
    LinkTaskTree, ListTaskTrees, TaskTreeEnvelope, TaskTreeLink, TaskTreeListEnvelope,
    TaskTreeRequest, UnlinkTaskTree,
};
pub use list::{
    BoardAnswer, BoardColumn, BoardQuery, DEFAULT_COLUMN, DEFAULT_LIMIT, Formatted, ListAnswer,
    ListQuery, ListTasks, ReadFormat, TaskBoard, TaskBoardEnvelope, TaskListEnvelope,
};
pub use merge::{
    MergeAnswer, MergeRequest, MergeTasks, MergedTask, TaskMergeEnvelope, UndeleteRequest,
    UndeleteTask, UnmergedFile,
};
pub use message::{AofMessageEnvelope, MessageAnswer, MessageQuery, SendMessage};
pub use moves::{
    BlockRequest, BlockTask, PromoteRequest, PromoteTask, UnblockRequest, UnblockTask,
};
pub use observed::{
    CHANGED, CHANGES, CHECKS, TaskChange, TaskChanges, TaskCheck, TaskCost, TaskObserved,
};
pub use outputs::{
    FileQuery, OutputsAnswer, OutputsQuery, ReadTaskFile, StageOutput, StageQuery, StagedAnswer,
    TaskOutputs, TaskOutputsEnvelope, TaskStagedEnvelope,
};
pub use session_end::{
    EndSession, SessionEndAnswer, SessionEndRejection, SessionEndRequest, TaskSessionEndEnvelope,
};
pub use show::{ShowAnswer, ShowQuery, ShowTask, TaskShowEnvelope};
pub use task::{
    BlockEnd, DependencyView, LeaseView, OutputView, PersonDecision, RunView, TaskDetails,
    TaskItem, UnadoptedMove,
};
pub use tree::{
    ApplyMode, IdForm, InitAnswer, InitRequest, InitTasks, LayoutName, LintAnswer, LintFinding,
    LintQuery, LintSeverity, LintTasks, PollAlert, PollAnswer, PollRequest, PollTasks, ProjectType,
    ReviewMode, TaskInitEnvelope, TaskLintEnvelope, TaskPollEnvelope,
};

/// The id of a task, or its beginning.
const TASK_ID: TextForm = TextForm::ANY.not_empty().example("TASK-2026-11-16-001");

params! {
    /// A task.
    pub struct OfTask {
        /// The project's id.
        required project: Segment<ProjectId> = Segment::new("project_id");
        /// The task's id, or as much of it as no other task's id has.
        required task: Text = Text::new("task_id", TASK_ID);
    }

    /// A task, and one that it waits for.
    pub struct OfDependency {
        /// The project's id.
        required project: Segment<ProjectId> = Segment::new("project_id");
        /// The task's id, or as much of it as no other task's id has.
        required task: Text = Text::new("task_id", TASK_ID);
        /// The task that must be done first.
        required blocker: Text = Text::new("blocker_id", TASK_ID);
    }
}

/// The failure codes of every operation on tasks. A read can settle what others changed.
const COMMON: &[Code] = &[
    Code::AofTaskTreeUnavailable,
    Code::AofTaskChangeUnconfirmed,
    Code::AofProjectManifestInvalid,
];

/// The additional failure codes of operations that change something.
const OF_CHANGES: &[Code] = &[
    // Nobody is named who acts, or not as actors are named.
    Code::WireFieldMissing,
    Code::WireFieldValue,
    Code::AccessDenied,
    Code::AofPersonRequired,
    Code::NotForWorkers,
    Code::AgenticProjectNotFound,
    Code::AgenticProjectArchived,
];

const OF_TASK: &[Code] = &[
    Code::AofNoTaskTree,
    Code::AofTaskNotFound,
    Code::AofAmbiguousTaskId,
    Code::AofTaskFileInvalid,
];

/// A file that a merge cannot read, or no number that is left.
const TASK_FILES: &[Code] = &[Code::AofTaskFileInvalid, Code::AofTaskIdsExhausted];

const NO_TREE: &[Code] = &[Code::AofNoTaskTree];

/// A path below the tasks of a project.
macro_rules! at_tasks {
    ($rest:literal) => {
        concat!("/accord/v1/projects/{project_id}/tasks", $rest)
    };
}
use at_tasks;

/// A path below one task.
macro_rules! at_task {
    ($rest:literal) => {
        concat!("/accord/v1/projects/{project_id}/tasks/{task_id}", $rest)
    };
}
use at_task;

macro_rules! envelope {
    ($($declared:tt)+) => {
        accord_api::envelopes! {
            "The answer of the operation, as `accord task … --json` prints it.";
            $($declared)+
        }
    };
}
use envelope;

/// Declares a request: a closed message with a default, so that a caller sets what it needs.
macro_rules! request {
    ($(
        $(#[doc = $about:literal])+
        pub struct $name:ident($wire:literal) {
            $(
                $(#[doc = $field_about:literal])*
                $presence:ident $field:ident: $ty:ty = $json:literal, $semantics:literal
                    $(, $limits:expr)?;
            )*
        }
    )+) => {$(
        accord_contract::message! {
            $(#[doc = $about])*
            pub struct $name($wire, closed) {
                $(
                    $(#[doc = $field_about])*
                    $presence $field: $ty = $json, $semantics $(, $limits)?;
                )*
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: Default::default()),* }
            }
        }
    )+};
}
use request;

/// What operations are asked for, in the wire contract.
pub mod requests {
    use super::*;

    accord_contract::contract_messages! {
        Request;
        InitRequest = "task-init-request",
        CreateRequest = "task-create-request",
        CreateManyRequest = "task-create-many-request",
        EditRequest = "task-edit-request",
        ClaimRequest = "task-claim-request",
        ClaimNextRequest = "task-claim-next-request",
        HeartbeatRequest = "task-heartbeat-request",
        ReleaseRequest = "task-release-request",
        BlockRequest = "task-block-request",
        UnblockRequest = "task-unblock-request",
        CancelRequest = "task-cancel-request",
        CloseRequest = "task-close-request",
        ApproveRequest = "task-approve-request",
        SendBackRequest = "task-send-back-request",
        AdoptRequest = "task-adopt-request",
        AdoptWriterRequest = "task-adopt-writer-request",
        PromoteRequest = "task-promote-request",
        ResurrectRequest = "task-resurrect-request",
        ReopenRequest = "task-reopen-request",
        CommentRequest = "task-comment-request",
        DependencyRequest = "task-dependency-request",
        PollRequest = "task-poll-request",
        SessionEndRequest = "task-session-end-request",
        EndRunRequest = "task-end-run-request",
        MergeRequest = "task-merge-request",
        UndeleteRequest = "task-undelete-request",
    }
}

/// What operations answer, in the wire contract.
pub mod answers {
    use super::*;

    accord_contract::contract_messages! {
        Response;
        InitAnswer = "task-init-answer",
        TaskAnswer = "task-answer",
        CreateManyAnswer = "task-create-many-answer",
        ShowAnswer = "task-show-answer",
        ListAnswer = "task-list-answer",
        BoardAnswer = "task-board-answer",
        ClaimAnswer = "task-claim-answer",
        ClaimNextAnswer = "task-claim-next-answer",
        HeartbeatAnswer = "task-heartbeat-answer",
        AdoptAnswer = "task-adopt-answer",
        AdoptWriterAnswer = "task-adopt-writer-answer",
        LintAnswer = "task-lint-answer",
        PollAnswer = "task-poll-answer",
        MessageAnswer = "aof-message-answer",
        SessionEndAnswer = "task-session-end-answer",
        EndRunAnswer = "task-end-run-answer",
        BriefingAnswer = "task-briefing-answer",
        EventsAnswer = "task-events-answer",
        MergeAnswer = "task-merge-answer",
        OutputsAnswer = "task-outputs-answer",
        StagedAnswer = "task-staged-answer",
    }
}
