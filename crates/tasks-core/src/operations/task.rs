//! What is said about a task.

use accord_base::decision::DecisionRecord;
use accord_contract::{Object, Timestamp, message, wire_enum};

use crate::evidence::Output;
use crate::run::{RunResult, RunStatus};
use crate::task::{OnViolation, Priority, TaskComment};
use crate::{Status, TaskId};

wire_enum! {
    /// What ends a block.
    pub enum BlockEnd("TaskBlockEnd", closed) {
        /// Accord tries the task again by itself, at the time in `retry_at`.
        Retry = "retry",
        /// The task goes on by itself once what it waits for is possible again.
        Dependency = "dependency",
        /// Somebody unblocks it: a person, or the agent that blocked it.
        Unblock = "unblock",
        /// A person blocked it, and a person unblocks it.
        Person = "person",
    }
}

message! {
    /// The lease of an agent.
    pub struct LeaseView("TaskLeaseView", closed) {
        /// The agent.
        required agent: String = "agent", "agent-id";
        /// The run, which messages of the agent can name.
        optional run_id: String = "run_id", "run-id";
        /// When it was acquired.
        required since: Timestamp = "since", "time:iso-8601";
        /// When it ends.
        required until: Timestamp = "until", "time:iso-8601";
        /// When the task is taken back, unless the agent sends a heartbeat before.
        optional alive_until: Timestamp = "alive_until", "time:iso-8601";
        /// Whether another copy of the tree gave it out: it holds nothing here.
        optional elsewhere: bool = "elsewhere", "flag";
    }

    /// A task that another one waits for.
    pub struct DependencyView("TaskDependencyView", closed) {
        /// The task.
        required id: TaskId = "id", "task-id";
        /// Its status; null if there is no such task.
        required_or_null status: Status = "status", "status";
    }

    /// A decision of a person about a task.
    pub struct PersonDecision("TaskPersonDecision", open) {
        /// The person.
        required by: String = "by", "actor-id";
        /// The door.
        required door: String = "door", "door";
        /// When.
        required at: Timestamp = "at", "time:iso-8601";
        /// Why, or a note for the records.
        optional note: String = "note", "text";
        /// The digest of what the person decided about.
        optional evidence: String = "evidence", "evidence-digest";
    }

    /// A move that the file of a task says, and that does not count here before a person adopts it.
    pub struct UnadoptedMove("TaskUnadoptedMove", closed) {
        /// The status that the file says.
        required status: Status = "status", "status";
        /// The copy of the tree that says so in its events; absent if no event does.
        optional writer: String = "writer", "writer-id";
        /// The person who decided it there, as the file says.
        optional by: String = "by", "actor-id";
        /// What that means, in a sentence.
        required problem: String = "problem", "text";
        /// What to do about it.
        required suggestion: String = "suggestion", "text";
    }

    /// A task in a list.
    pub struct TaskItem("TaskItem", closed) {
        /// The id.
        required id: TaskId = "id", "task-id";
        /// What is to be done, in one line.
        required title: String = "title", "text";
        /// The status.
        required status: Status = "status", "status";
        /// How urgent it is.
        required priority: Priority = "priority", "priority";
        /// The agent that it is routed to.
        optional agent: String = "agent", "agent-id";
        /// The role that it is routed to.
        optional role: String = "role", "role";
        /// The team that it is routed to.
        optional team: String = "team", "team";
        /// Tags.
        optional tags: Vec<String> = "tags", "tags";
        /// The lease of the agent that works on it.
        optional lease: LeaseView = "lease", "lease";
        /// Who did it: the agent that reported last, or the person who closed it. Absent while
        /// nobody has.
        optional done_by: String = "done_by", "actor-id";
        /// The tasks that it waits for now, with their statuses.
        optional waits_for: Vec<DependencyView> = "waits_for", "dependencies";
        /// Why it is blocked, or a dead letter.
        optional block_reason: String = "block_reason", "text";
        /// What ends the block.
        optional block_ends: BlockEnd = "block_ends", "block-end";
        /// When it is tried again, after an attempt that failed.
        optional retry_at: Timestamp = "retry_at", "time:iso-8601";
        /// When it should be done: a day of UTC, or a time.
        optional due: String = "due", "date";
        /// Whether that is over, and the task is not.
        optional overdue: bool = "overdue", "flag";
        /// The task that it is a part of.
        optional parent: TaskId = "parent", "task-id";
        /// What it needs exclusively while it is in progress.
        optional resource: String = "resource", "resource";
        /// Since when it has its status.
        required since: Timestamp = "since", "time:iso-8601";
        /// When it was created.
        required created_at: Timestamp = "created_at", "time:iso-8601";
        /// A move that its file says and that does not count here.
        optional unadopted: UnadoptedMove = "unadopted", "move";
        /// The task file, within the tree.
        required path: String = "path", "tree-path";
    }

    /// A file that an agent left in `outputs/`.
    pub struct OutputView("TaskOutputView", closed) {
        /// Its path, within the task's folder.
        required path: String = "path", "path";
        /// Its size.
        required bytes: u64 = "bytes", "count:bytes";
        /// Its digest; absent for a file that is too large.
        optional sha256: String = "sha256", "digest";
    }

    /// The last run of a task.
    pub struct RunView("TaskRunView", closed) {
        /// The run.
        optional run_id: String = "run_id", "run-id";
        /// The agent.
        required agent: String = "agent", "agent-id";
        /// When it began.
        required started_at: Timestamp = "started_at", "time:iso-8601";
        /// Its status.
        required status: RunStatus = "status", "run-status";
        /// Its last sign of life.
        optional last_heartbeat: Timestamp = "last_heartbeat", "time:iso-8601";
        /// How it ended.
        optional result: RunResult = "result", "run-result";
    }

    /// Everything about a task.
    pub struct TaskDetails("TaskDetails", closed) {
        /// The id.
        required id: TaskId = "id", "task-id";
        /// The project.
        required project_id: String = "project_id", "project-id";
        /// What is to be done, in one line.
        required title: String = "title", "text";
        /// The status.
        required status: Status = "status", "status";
        /// How urgent it is.
        required priority: Priority = "priority", "priority";
        /// The agent that it is routed to.
        optional agent: String = "agent", "agent-id";
        /// The role that it is routed to.
        optional role: String = "role", "role";
        /// The team that it is routed to.
        optional team: String = "team", "team";
        /// Tags.
        required tags: Vec<String> = "tags", "tags";
        /// The lease of the agent that works on it.
        optional lease: LeaseView = "lease", "lease";
        /// The tasks that must be done first, with their statuses.
        required depends_on: Vec<DependencyView> = "depends_on", "dependencies";
        /// The open tasks that wait for it.
        required dependents: Vec<DependencyView> = "dependents", "dependencies";
        /// The task that it is a part of.
        optional parent: TaskId = "parent", "task-id";
        /// Its open parts.
        required parts: Vec<DependencyView> = "parts", "dependencies";
        /// Why it is blocked, or a dead letter.
        optional block_reason: String = "block_reason", "text";
        /// What ends the block.
        optional block_ends: BlockEnd = "block_ends", "block-end";
        /// When it is tried again, after an attempt that failed.
        optional retry_at: Timestamp = "retry_at", "time:iso-8601";
        /// When it should be done: a day of UTC, or a time.
        optional due: String = "due", "date";
        /// Whether that is over, and the task is not.
        optional overdue: bool = "overdue", "flag";
        /// What it needs exclusively while it is in progress.
        optional resource: String = "resource", "resource";
        /// The longest time in progress.
        optional max_in_progress_ms: u64 = "max_in_progress_ms", "duration:ms";
        /// What happens after that.
        optional on_violation: OnViolation = "on_violation", "action";
        /// Whether finished work waits for a review.
        required review_required: bool = "review_required", "flag";
        /// Why a person sent it back in a review, or opened it again; the last decision.
        optional sent_back: PersonDecision = "sent_back", "decision";
        /// Who approved or closed it.
        optional approval: PersonDecision = "approval", "decision";
        /// The package in which the memory of the project keeps its result, once it is done. There
        /// is none if the project keeps no results.
        optional package_id: String = "package_id", "package-id";
        /// How often it was tried without success.
        required attempts: u64 = "attempts", "count";
        /// Its last run.
        optional run: RunView = "run", "run";
        /// Since when it has its status.
        required since: Timestamp = "since", "time:iso-8601";
        /// When it was created.
        required created_at: Timestamp = "created_at", "time:iso-8601";
        /// Who created it.
        required created_by: String = "created_by", "actor-id";
        /// When it was changed last.
        required updated_at: Timestamp = "updated_at", "time:iso-8601";
        /// Anything else that its file says about it.
        required metadata: Object = "metadata", "metadata";
        /// What people and agents said about it, oldest first.
        optional comments: Vec<TaskComment> = "comments", "comments";
        /// The body, in Markdown. Absent if the request leaves it out.
        optional body: String = "body", "markdown";
        /// A move that its file says and that does not count here.
        optional unadopted: UnadoptedMove = "unadopted", "move";
        /// The task file, within the tree.
        required path: String = "path", "tree-path";
        /// Its folder, within the tree.
        required folder: String = "folder", "tree-path";
        /// The folder of its run artifacts, within the tree.
        required run_folder: String = "run_folder", "tree-path";
    }
}

impl From<DecisionRecord> for PersonDecision {
    fn from(record: DecisionRecord) -> Self {
        Self {
            by: record.actor,
            door: record.door.as_str().to_owned(),
            at: record.decided_at,
            note: record.note,
            evidence: record.evidence,
            extra: Object::new(),
        }
    }
}

impl From<Output> for OutputView {
    fn from(output: Output) -> Self {
        Self { path: output.path, bytes: output.bytes, sha256: output.sha256 }
    }
}
