//! Events of a tree: one line each, numbered by the service that commits them.

use accord_contract::{Object, Time, Value};

use crate::{Status, TaskId};

/// An event without its number.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskEvent {
    pub kind: &'static str,
    pub at: Time,
    pub actor: String,
    pub task: Option<TaskId>,
    pub payload: Object,
}

/// The member of a line that names the program which wrote it. Others count their lines from 1.
const WRITER: &str = "writer";
const ACCORD: &str = "accord";

/// The number of a line of an event log, if Accord wrote it.
pub fn number(line: &Object) -> Option<u64> {
    let is_own = line.get(WRITER).and_then(Value::as_str) == Some(ACCORD);
    line.get("eventId").and_then(Value::as_u64).filter(|_| is_own)
}

/// The task of a line of an event log, if Accord wrote it.
pub fn task(line: &Object) -> Option<TaskId> {
    number(line)?;
    line.get("taskId").and_then(Value::as_str).and_then(|id| TaskId::parse(id).ok())
}

/// Whether a line says that Accord holds the lease of its task: given out, or adopted.
pub fn is_lease(line: &Object) -> bool {
    let kind = line.get("type").and_then(Value::as_str);
    matches!(kind, Some(kind::LEASE_ACQUIRED | kind::ADOPTED))
}

/// The move of a task that a line of another program says.
pub fn moved_by_others(line: &Object) -> Option<(TaskId, Status)> {
    let is_move = line.get("type").and_then(Value::as_str) == Some(kind::TRANSITIONED);
    let to = line.get("payload")?.get("to")?.as_str()?;
    let id = line.get("taskId")?.as_str().filter(|_| is_move && line.get(WRITER).is_none())?;
    Some((TaskId::parse(id).ok()?, Status::parse(to)?))
}

/// The task that a line of any program says is done now.
pub fn completed_task(line: &Object) -> Option<TaskId> {
    let is_move = line.get("type").and_then(Value::as_str) == Some(kind::TRANSITIONED);
    let to = line.get("payload").and_then(|payload| payload.get("to")).and_then(Value::as_str);
    let id = line.get("taskId").and_then(Value::as_str);
    let is_done = is_move && to == Some(Status::Done.as_str());
    id.filter(|_| is_done).and_then(|id| TaskId::parse(id).ok())
}

/// The types of events that this crate decides about.
pub mod kind {
    pub const RECEIVED: &str = "protocol.message.received";
    /// An input was meant as a message and is not a valid one.
    pub const REJECTED: &str = "protocol.message.rejected";
    /// A message has a type that this version does not know.
    pub const UNKNOWN: &str = "protocol.message.unknown";
    /// A message was carried out, and something about it is odd.
    pub const WARNING: &str = "protocol.message.warning";
    pub const CREATED: &str = "task.created";
    /// What a task says was edited.
    pub const UPDATED: &str = "task.updated";
    /// Accord recorded what it observed about a run: sandbox, checks, changes.
    pub const OBSERVED: &str = "task.observed";
    pub const DEPENDENCY_ADDED: &str = "task.dep.added";
    /// A task waits no more for another one.
    pub const DEPENDENCY_REMOVED: &str = "task.dep.removed";
    /// A dead letter is ready again.
    pub const RESURRECTED: &str = "task.resurrected";
    /// A finished task was opened again.
    pub const REOPENED: &str = "task.reopened";
    pub const COMMENTED: &str = "task.commented";
    pub const SETTINGS_CHANGED: &str = "system.config-changed";
    /// An agent, or a person for it, gave a lease back.
    pub const LEASE_RELEASED: &str = "lease.released";
    /// An agent got the lease of a task.
    pub const LEASE_ACQUIRED: &str = "lease.acquired";
    /// An edit of a file does not count and was undone.
    pub const EDIT_REFUSED: &str = "task.edit_refused";
    /// A person took over what a file said.
    pub const ADOPTED: &str = "task.adopted";
    pub const DELETED: &str = "task.deleted";
    /// A person brought a task back whose file was removed.
    pub const UNDELETED: &str = "task.undeleted";
    /// A person asked which of two versions counts, after a merge of git.
    pub const MERGED: &str = "task.merged";
    /// A task got another id, because two copies of the tree gave out the same.
    pub const RENUMBERED: &str = "task.renumbered";
    /// A file cannot be read as a task.
    pub const BROKEN: &str = "task.validation.failed";
    /// What Accord committed about a tree is gone.
    pub const STATE_LOST: &str = "system.recovery";
    /// A task has been in progress for too long.
    pub const SLA_VIOLATION: &str = "sla.violation";
    /// A task failed too often, or in a way that a retry cannot mend.
    pub const DEADLETTERED: &str = "task.deadlettered";
    /// An action of the scheduler failed. It is not tried again before the task changes.
    pub const ACTION_FAILED: &str = "scheduler_action_failed";
    pub const NOTIFICATION_FAILED: &str = "notification.failed";
    /// A task needs a person.
    pub const ALERT: &str = "scheduler_alert";
    pub const COMPLETED: &str = "task.completed";
    pub const TRANSITIONED: &str = "task.transitioned";
    pub const REQUESTED: &str = "delegation.requested";
    pub const ACCEPTED: &str = "delegation.accepted";
    pub const DELEGATION_REJECTED: &str = "delegation.rejected";
}

impl TaskEvent {
    pub fn new(kind: &'static str, actor: &str, task: Option<TaskId>, at: Time) -> Self {
        Self { kind, at, actor: actor.to_owned(), task, payload: Object::new() }
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.payload.insert(name.to_owned(), value.into());
        self
    }

    pub fn moved(
        task: TaskId,
        actor: &str,
        (from, to): (Status, Status),
        reason: Option<&str>,
        at: Time,
    ) -> Self {
        let event = Self::new(kind::TRANSITIONED, actor, Some(task), at);
        let event = event.with("from", from.as_str()).with("to", to.as_str());
        if let Some(reason) = reason { event.with("reason", reason) } else { event }
    }

    pub fn line(&self, number: u64) -> Value {
        let mut line = Object::new();
        line.insert("eventId".into(), number.into());
        line.insert("type".into(), self.kind.into());
        line.insert("timestamp".into(), self.at.to_string().into());
        line.insert("actor".into(), self.actor.as_str().into());
        line.extend(self.task.map(|task| ("taskId".to_owned(), task.to_string().into())));
        line.insert("payload".into(), Value::Object(self.payload.clone()));
        line.insert(WRITER.into(), ACCORD.into());
        Value::Object(line)
    }
}
