//! What a task says: create and edit.

use accord_api::{Json, Need, operation};
use accord_contract::{Code, Limits, Object, TextForm, message};

use super::decide::OUTDATED;
use super::{
    Acting, COMMON, InProject, NO_TREE, OF_CHANGES, OF_TASK, OfTask, TaskEnvelope, at_task,
    at_tasks, envelope, request,
};
use crate::task::{OnViolation, Priority};
use crate::{Status, TaskId};

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
        /// When it should be done: a day of UTC as `2026-01-31`, or a time.
        optional due: String = "due", "date", Limits::text(NAME);
        /// A name of the task, for `depends_on` and `parent` in a list of new tasks. A second task
        /// with this name is not created: the answer has the first one, with the warning `exists`.
        optional key: String = "key", "task-key", Limits::text(TITLE);
    }

    /// Many new tasks: all of them are created, or none.
    pub struct CreateManyRequest("TaskCreateManyRequest") {
        /// The tasks, at most 500. Without a `key`, the title of a task is its key.
        required tasks: Vec<CreateRequest> = "tasks", "new-tasks";
        /// Whether nothing is created: the answer says what would be.
        optional dry_run: bool = "dry_run", "flag";
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
        /// When it should be done: a day of UTC as `2026-01-31`, or a time.
        nullable due: String = "due", "date", Limits::text(NAME);
        /// The task as it was read: the edit is refused if the task was changed since.
        optional expect: String = "expect", "evidence-digest", Limits::text(NAME);
    }
}

accord_contract::wire_enum! {
    /// What became of a task of a list.
    pub enum NewTaskOutcome("TaskNewOutcome", closed) {
        /// It was created.
        Created = "created",
        /// It would be created.
        WouldCreate = "would_create",
        /// A task with its key exists, and was left as it is.
        Exists = "exists",
    }
}

message! {
    /// A task of a list, and what became of it.
    pub struct NewTask("TaskNew", closed) {
        /// Its key.
        required key: String = "key", "task-key";
        /// What is to be done, in one line.
        required title: String = "title", "text";
        /// What became of it.
        required outcome: NewTaskOutcome = "outcome", "outcome";
        /// Its id; absent if it would be created.
        optional id: TaskId = "id", "task-id";
        /// Its status, or the one that it would have.
        required status: Status = "status", "status";
        /// What it waits for: ids, or keys of the list.
        required depends_on: Vec<String> = "depends_on", "task-references";
    }

    /// What became of the tasks of a list.
    pub struct CreateManyAnswer("TaskCreateManyAnswer", closed) {
        /// The tasks, in the order of the list.
        required tasks: Vec<NewTask> = "tasks", "new-tasks";
        /// How many were created, or would be.
        required created: u64 = "created", "count";
        /// How many existed.
        required existing: u64 = "existing", "count";
    }
}

envelope! {
    /// What became of the tasks of a list.
    TaskCreateManyEnvelope("TaskCreateManyEnvelope") of CreateManyAnswer;
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

    /// Creates many tasks in one commit: all of them, or none. `depends_on` and `parent` can name a
    /// task of the list by its key. A task whose key is known is left as it is, so that the same
    /// list creates nothing twice.
    pub struct CreateTasks("create_tasks", Post at_tasks!("/batch")) of Aof {
        path InProject;
        query Acting;
        body Json<CreateManyRequest>;
        needs Need::Write;
        answers 200, Json<TaskCreateManyEnvelope>;
        refuses [
            COMMON,
            OF_CHANGES,
            NO_TREE,
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
