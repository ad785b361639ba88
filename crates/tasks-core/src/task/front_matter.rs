//! What the front matter of a task file says.

use accord_canon::sha256;
use accord_contract::{Limits, Object, TextForm, Timestamp, Value, Wire as _, message, wire_enum};

use crate::{Status, TaskId, rule};

const NOT_EMPTY: TextForm = TextForm::ANY.not_empty();

wire_enum! {
    /// How urgent a task is.
    pub enum Priority("TaskPriority", closed) {
        /// Before everything else.
        Critical = "critical",
        /// Before ordinary tasks.
        High = "high",
        /// Ordinary.
        Normal = "normal",
        /// After ordinary tasks.
        Low = "low",
    }

    /// What happens to a task that takes too long.
    pub enum OnViolation("TaskOnViolation", closed) {
        /// People are alerted.
        Alert = "alert",
        /// It is blocked.
        Block = "block",
        /// It becomes a dead letter.
        Deadletter = "deadletter",
    }
}

message! {
    /// Who may do a task.
    pub struct Routing("TaskRouting", open) {
        /// A role.
        optional role: String = "role", "role";
        /// A team.
        optional team: String = "team", "team";
        /// An agent.
        optional agent: String = "agent", "agent-id";
        /// Tags.
        optional tags: Vec<String> = "tags", "tags";
    }

    /// How long a task may take.
    pub struct Sla("TaskSla", open) {
        /// The longest time in progress.
        optional max_in_progress_ms: u64 = "maxInProgressMs", "duration:ms";
        /// What happens after that.
        optional on_violation: OnViolation = "onViolation", "action";
    }

    /// The lease of an agent on a task.
    pub struct Lease("TaskLease", open) {
        /// The agent.
        required agent: String = "agent", "agent-id";
        /// When it was acquired.
        required acquired_at: Timestamp = "acquiredAt", "time:iso-8601";
        /// When it ends.
        required expires_at: Timestamp = "expiresAt", "time:iso-8601";
        /// How often it was renewed.
        optional renew_count: u64 = "renewCount", "count";
    }

    /// The front matter of a task file.
    pub struct Task("Task", open) {
        /// The version of the format: 1, or 2 in newer files of the reference.
        required schema_version: u64 = "schemaVersion", "version", Limits::whole(1, 2);
        /// The id.
        required id: TaskId = "id", "task-id";
        /// The project.
        optional project: String = "project", "project-id", Limits::text(NOT_EMPTY);
        /// What is to be done, in one line.
        required title: String = "title", "text", Limits::text(NOT_EMPTY);
        /// The status.
        required status: Status = "status", "status";
        /// How urgent it is. Default: `normal`.
        optional priority: Priority = "priority", "priority";
        /// Who may do it.
        optional routing: Routing = "routing", "routing";
        /// How long it may take.
        optional sla: Sla = "sla", "sla";
        /// The lease of the agent that works on it.
        nullable lease: Lease = "lease", "lease";
        /// When it was created.
        required created_at: Timestamp = "createdAt", "time:iso-8601";
        /// When it was changed last.
        required updated_at: Timestamp = "updatedAt", "time:iso-8601";
        /// When its status changed last.
        required last_transition_at: Timestamp = "lastTransitionAt", "time:iso-8601";
        /// Who created it.
        required created_by: String = "createdBy", "actor-id";
        /// The task that it is a part of.
        optional parent_id: TaskId = "parentId", "task-id";
        /// The tasks that must be done first.
        optional depends_on: Vec<TaskId> = "dependsOn", "task-ids";
        /// The beginning of the SHA-256 of the body.
        optional content_hash: String = "contentHash", "digest";
        /// Anything else that is known about it.
        optional metadata: Object = "metadata", "metadata";
        /// What it needs exclusively while it is in progress.
        optional resource: String = "resource", "resource";
    }
}

impl Task {
    pub(super) fn read(members: &Object) -> Result<Self, String> {
        Self::from_document(Value::Object(members.clone())).map_err(|error| error.to_string())
    }

    pub fn urgency(&self) -> Priority {
        self.priority.unwrap_or(Priority::Normal)
    }

    pub fn dependencies(&self) -> &[TaskId] {
        self.depends_on.as_deref().unwrap_or_default()
    }

    /// The agent that has the task: the holder of the lease, else the agent that it is routed to.
    /// Clauses: AOF-AUTH-SENDER.
    pub fn agent(&self) -> Option<&str> {
        let routed = || self.routing.as_ref()?.agent.as_deref();
        self.lease.value().map(|lease| lease.agent.as_str()).or_else(routed)
    }

    pub fn metadata(&self, name: &str) -> Option<&Value> {
        self.metadata.as_ref()?.get(name)
    }
}

/// Whether a person must look at finished work. Only the value `false` turns that off.
/// Clauses: AOF-CR-REVIEW-REQUIRED.
pub fn is_review_required(task: &Task) -> bool {
    let review = task.metadata("reviewRequired");
    rule!(
        review != Some(&Value::Bool(false));
        AnyFalseSkipsReview => !matches!(review, Some(Value::Bool(false) | Value::String(_)))
    )
}

/// How often the task was delegated. Anything but a number is 0.
/// Clauses: AOF-HO-DEPTH.
pub fn delegation_depth(task: &Task) -> f64 {
    let depth = task.metadata("delegationDepth");
    rule!(
        depth.and_then(Value::as_f64).unwrap_or(0.0);
        TextIsADepth => depth.map_or(0.0, |_| 1.0)
    )
}

/// The hash of a body: 16 digits.
pub fn content_hash(body: &str) -> String {
    let mut digits = sha256(body.as_bytes()).hex();
    digits.truncate(16);
    digits
}
