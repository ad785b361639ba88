//! What is said about a tree.

use std::collections::BTreeMap;

use accord_contract::time::Timestamp;
use accord_contract::wire::Value;
use accord_contract::{message, wire_enum};
use accord_tasks_core::TaskId;

use super::{TaskDetails, TaskMove, TaskNotice};
use crate::manifest::{ApplyMode, LayoutName, ReviewMode};

message! {
    /// A tree that was made, or whose settings were changed.
    pub struct InitAnswer("TaskInitAnswer", closed) {
        /// The project.
        required project_id: String = "project_id", "project-id";
        /// The id of the project in AOF, which is the name of its folder.
        required aof_id: String = "aof_id", "project-id";
        /// The root of the tree.
        required root: String = "root", "path";
        /// Whether the tree is new.
        required created: bool = "created", "flag";
        /// When a report moves its task.
        required apply: ApplyMode = "apply", "apply-mode";
        /// Who may end a review.
        required review: ReviewMode = "review", "review-mode";
        /// Where run artifacts are.
        required layout: LayoutName = "layout", "run-layout";
        /// How long a lease lasts.
        required lease_ttl_ms: u64 = "lease_ttl_ms", "duration:ms";
        /// How long a heartbeat lasts.
        required heartbeat_ttl_ms: u64 = "heartbeat_ttl_ms", "duration:ms";
    }
}

message! {
    /// A difference that was taken over.
    pub struct AdoptedChange("TaskAdoptedChange", closed) {
        /// The member.
        required member: String = "member", "name";
        /// What Accord had; null for nothing.
        required accord: Value = "accord", "value";
        /// What the file says; null for nothing.
        required file: Value = "file", "value";
    }
}

message! {
    /// What a person took over from a file.
    pub struct AdoptAnswer("TaskAdoptAnswer", closed) {
        /// The task as it is now; absent for the settings of the tree.
        optional task: TaskDetails = "task", "task";
        /// What changed, or would change.
        required adopted: Vec<AdoptedChange> = "adopted", "changes";
        /// The digest of what the decision is about, for `expect`.
        optional evidence: String = "evidence", "evidence-digest";
        /// Moves, in order.
        required moves: Vec<TaskMove> = "moves", "moves";
        /// The statuses that people are notified about.
        required notices: Vec<TaskNotice> = "notices", "notices";
    }
}

wire_enum! {
    /// How bad a finding is.
    pub enum LintSeverity("TaskLintSeverity", closed) {
        /// Something cannot work as it is.
        Error = "error",
        /// It works, and is not as it should be.
        Warning = "warning",
    }
}

message! {
    /// Something that is wrong in a tree.
    pub struct LintFinding("TaskLintFinding", closed) {
        /// The name of what is wrong.
        required code: String = "code", "lint-code";
        /// How bad it is.
        required severity: LintSeverity = "severity", "severity";
        /// The path, within the tree.
        required path: String = "path", "tree-path";
        /// What is wrong.
        required problem: String = "problem", "text";
        /// The task, if it is about one.
        optional task_id: TaskId = "task_id", "task-id";
        /// What to do about it.
        optional suggestion: String = "suggestion", "text";
    }
}

message! {
    /// Whether the files of a tree are what they should be.
    pub struct LintAnswer("TaskLintAnswer", closed) {
        /// Whether nothing is wrong.
        required clean: bool = "clean", "flag";
        /// How many tasks were checked.
        required tasks: u64 = "tasks", "count";
        /// How many events were checked.
        required events: u64 = "events", "count";
        /// What is wrong.
        required findings: Vec<LintFinding> = "findings", "findings";
        /// How many findings are left out.
        required hidden: u64 = "hidden", "count";
    }
}

message! {
    /// A task that needs a person.
    pub struct PollAlert("TaskPollAlert", closed) {
        /// The task.
        required task_id: TaskId = "task_id", "task-id";
        /// Why.
        required reason: String = "reason", "reason";
    }
}

message! {
    /// What a poll did.
    pub struct PollAnswer("TaskPollAnswer", closed) {
        /// The moves of tasks, in order.
        required moves: Vec<TaskMove> = "moves", "moves";
        /// The tasks that an executor should start, the most urgent first.
        required start: Vec<TaskId> = "start", "task-ids";
        /// Tasks that need a person.
        required alerts: Vec<PollAlert> = "alerts", "alerts";
        /// The statuses that people are notified about.
        required notices: Vec<TaskNotice> = "notices", "notices";
        /// How many tasks of the tree have each status.
        required counts: BTreeMap<String, u64> = "counts", "counts";
        /// When the next action is due without any change of a task.
        optional next_due: Timestamp = "next_due", "time:iso-8601";
    }
}
