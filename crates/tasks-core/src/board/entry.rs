//! What the board keeps of a task that can still move.

use accord_contract::{Time, Value};

use super::jump::Shifts;
use super::{Turn, retry, sla, unrouted};
use crate::merge::former_ids;
use crate::run::Heartbeat;
use crate::task::{Priority, Task, due, due_at};
use crate::{Status, TaskId};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    pub id: TaskId,
    pub status: Status,
    pub priority: Priority,
    pub created_at: Time,
    pub moved_at: Time,
    pub agent: Option<String>,
    pub role: Option<String>,
    pub team: Option<String>,
    pub tags: Box<[String]>,
    /// Whether a person made it ready although it waits for tasks.
    pub is_forced: bool,
    /// What it needs exclusively.
    pub resource: Option<String>,
    /// The tasks that must be done first.
    pub depends_on: Box<[TaskId]>,
    pub parent: Option<TaskId>,
    /// The ids that it had before merges of git.
    pub former: Box<[TaskId]>,
    /// The agent that works on it.
    pub holder: Option<String>,
    /// The agent of the last run, if that failed.
    pub failed_by: Option<String>,
    /// When it should be done.
    pub due_at: Option<Time>,
    pub lease_until: Option<Time>,
    /// When its run counts as dead.
    pub alive_until: Option<Time>,
    /// When it may be run again after a failed run.
    pub retry_at: Option<Time>,
    pub block_reason: Option<String>,
    /// Whether people were alerted that it is not clear who may do it.
    pub is_alerted: bool,
    /// When it has been in progress for too long, or is still so after the last alert.
    pub overdue_at: Option<Time>,
    /// Whether another copy of the tree gave out its lease, which holds nothing here.
    pub is_elsewhere: bool,
    /// Whether its file says another status, which does not count until a person adopts it.
    pub is_unadopted: bool,
    /// How the clock jumped since these times were written.
    pub(super) shifts: Shifts,
}

impl Entry {
    pub fn of(task: &Task, heartbeat: Option<&Heartbeat>) -> Self {
        let routing = task.routing.as_ref();
        let text = |name: &str| task.metadata(name).and_then(Value::as_str).map(str::to_owned);
        let alive = heartbeat.and_then(|heartbeat| heartbeat.expires_at.as_ref());
        Self {
            id: task.id,
            status: task.status,
            priority: task.urgency(),
            created_at: task.created_at.time(),
            moved_at: task.last_transition_at.time(),
            agent: routing.and_then(|routing| routing.agent.clone()),
            role: routing.and_then(|routing| routing.role.clone()),
            team: routing.and_then(|routing| routing.team.clone()),
            tags: routing.and_then(|routing| routing.tags.clone()).unwrap_or_default().into(),
            is_forced: task.metadata("forcedReady") == Some(&Value::Bool(true)),
            resource: task.resource.clone(),
            depends_on: task.dependencies().into(),
            parent: task.parent_id,
            former: former_ids(task).into(),
            holder: task.lease.value().map(|lease| lease.agent.clone()),
            failed_by: text(retry::FAILED_BY),
            due_at: due(task).and_then(due_at),
            lease_until: task.lease.value().map(|lease| lease.expires_at.time()),
            alive_until: alive.map(accord_contract::time::Timestamp::time),
            retry_at: retry::retry_at(task),
            block_reason: text("blockReason"),
            is_alerted: unrouted::is_alerted(task),
            overdue_at: sla::due_at(task),
            is_elsewhere: false,
            is_unadopted: false,
            shifts: Shifts::default(),
        }
    }

    /// The same task, if another copy of the tree gave out its lease.
    #[must_use]
    pub fn elsewhere(self, is_elsewhere: bool) -> Self {
        Self { is_elsewhere, ..self }
    }

    /// The same task, if a move of it waits for a person.
    #[must_use]
    pub fn unadopted(self) -> Self {
        Self { is_unadopted: true, ..self }
    }

    /// Whether nothing here goes on with the task.
    pub(super) fn is_apart(&self) -> bool {
        self.is_unadopted || (self.is_elsewhere && self.status == Status::InProgress)
    }

    pub fn is_routed(&self) -> bool {
        self.agent.is_some() || self.role.is_some() || self.team.is_some()
    }

    pub(super) fn turn(&self) -> Turn {
        (self.priority, self.created_at, self.id)
    }
}
