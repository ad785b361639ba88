//! What a task says: create and edit.

use accord_api::{Json, Need, operation};
use accord_contract::{Code, Limits, Object, TextForm};

use super::decide::OUTDATED;
use super::{
    Acting, COMMON, InProject, OF_CHANGES, OF_TASK, OfTask, TaskEnvelope, at_task, at_tasks,
    request,
};
use crate::task::{OnViolation, Priority};

/// The longest title, in characters. A title is one line.
const TITLE: TextForm = TextForm::ANY.chars(1, 500).without_nul();
const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();
/// As long as JSON carries the number exactly.
const MILLISECONDS: Limits = Limits::whole(1, 9_007_199_254_740_991);
const TAGS: usize = 50;
const DEPENDENCIES: usize = 200;

request! {
    /// A new task.
    pub struct CreateRequest("TaskCreateRequest") {
        /// What is to be done, in one line.
        required title: String = "title", "text", Limits::text(TITLE);
        /// The body, in Markdown. `instructions` and `guidance` become sections after it.
        optional body: String = "body", "markdown";
        /// The section Instructions.
        optional instructions: String = "instructions", "markdown";
        /// The section Guidance.
        optional guidance: String = "guidance", "markdown";
        /// How urgent it is. Default: that of the project, else `normal`.
        optional priority: Priority = "priority", "priority";
        /// The agent that may do it.
        optional agent: String = "agent", "agent-id", Limits::text(NAME);
        /// The role that may do it.
        optional role: String = "role", "role", Limits::text(NAME);
        /// The team that may do it.
        optional team: String = "team", "team", Limits::text(NAME);
        /// Tags.
        optional tags: Vec<String> = "tags", "tags", Limits::texts(TAGS, NAME);
        /// The tasks that must be done first.
        optional depends_on: Vec<String> = "depends_on", "task-references",
            Limits::texts(DEPENDENCIES, NAME);
        /// The task that it is a part of.
        optional parent: String = "parent", "task-reference", Limits::text(NAME);
        /// What it needs exclusively while it is in progress.
        optional resource: String = "resource", "resource", Limits::text(NAME);
        /// The longest time in progress.
        optional max_in_progress_ms: u64 = "max_in_progress_ms", "duration:ms",
            MILLISECONDS;
        /// What happens after that.
        optional on_violation: OnViolation = "on_violation", "action";
        /// Anything else that is known about it. The members that Accord decides by are set by
        /// their own members of this request.
        optional metadata: Object = "metadata", "metadata";
        /// Programs with their arguments that Accord runs after the report, and whose results are
        /// shown in the review.
        optional checks: Vec<Vec<String>> = "checks", "argument-lists";
        /// Whether finished work waits for a review. Only a person can set it to false.
        optional review_required: bool = "review_required", "flag";
        /// Who may end the review: `human` or `agent`. Only a person can set it.
        optional review_by: ReviewBy = "review_by", "reviewer";
        /// Whether it is ready at once, instead of waiting in the backlog.
        optional ready: bool = "ready", "flag";
    }
}

accord_contract::wire_enum! {
    /// Who may end the review of a task.
    pub enum ReviewBy("TaskReviewBy", closed) {
        /// A person.
        Human = "human",
        /// Its agent too.
        Agent = "agent",
    }
}

request! {
    /// A change of what a task says. A member that is absent stays as it is; null takes it away.
    pub struct EditRequest("TaskEditRequest") {
        /// What is to be done, in one line.
        optional title: String = "title", "text", Limits::text(TITLE);
        /// How urgent it is.
        optional priority: Priority = "priority", "priority";
        /// The agent that may do it.
        nullable agent: String = "agent", "agent-id", Limits::text(NAME);
        /// The role that may do it.
        nullable role: String = "role", "role", Limits::text(NAME);
        /// The team that may do it.
        nullable team: String = "team", "team", Limits::text(NAME);
        /// Tags: all of them.
        optional tags: Vec<String> = "tags", "tags", Limits::texts(TAGS, NAME);
        /// The whole body, in Markdown.
        optional body: String = "body", "markdown";
        /// The section Instructions.
        optional instructions: String = "instructions", "markdown";
        /// The section Guidance.
        optional guidance: String = "guidance", "markdown";
        /// What it needs exclusively while it is in progress.
        nullable resource: String = "resource", "resource", Limits::text(NAME);
        /// The longest time in progress.
        nullable max_in_progress_ms: u64 = "max_in_progress_ms", "duration:ms",
            MILLISECONDS;
        /// What happens after that.
        nullable on_violation: OnViolation = "on_violation", "action";
        /// All checks. While the task is in progress or in review, only a person can set them.
        nullable checks: Vec<Vec<String>> = "checks", "argument-lists";
        /// Whether finished work waits for a review. Only a person can set it.
        nullable review_required: bool = "review_required", "flag";
        /// Who may end the review. Only a person can set it.
        nullable review_by: ReviewBy = "review_by", "reviewer";
        /// The task as it was read: the edit is refused if the task was changed since.
        optional expect: String = "expect", "evidence-digest", Limits::text(NAME);
    }
}

operation! {
    /// Creates a task. The first task of a project creates its tree.
    pub struct CreateTask("create_task", Post at_tasks!("")) of Aof {
        path InProject;
        query Acting;
        body Json<CreateRequest>;
        needs Need::Write;
        answers 201, Json<TaskEnvelope>;
        refuses [
            COMMON,
            OF_CHANGES,
            &[
                Code::AofParentNotFound,
                Code::AofAmbiguousTaskId,
                Code::AofDependencyNotFound,
                Code::AofDependencyCycle,
                Code::AofTaskIdsExhausted,
            ],
        ];
    }

    /// Changes what a task says. A member that is absent stays as it is; null removes it.
    pub struct EditTask("edit_task", Patch at_task!("")) of Aof {
        path OfTask;
        query Acting;
        body Json<EditRequest>;
        needs Need::Write;
        answers 200, Json<TaskEnvelope>;
        refuses [
            COMMON,
            OF_CHANGES,
            OF_TASK,
            OUTDATED,
            &[Code::AofUnauthorizedAgent, Code::AofTaskFinished],
        ];
    }
}
