//! What changed.

use accord_contract::message;

use super::{TaskDetails, envelope};
use crate::route::Notice;
use crate::{Status, TaskId};

message! {
    /// A move of a task.
    pub struct TaskMove("TaskMove", closed) {
        /// The task.
        required task_id: TaskId = "task_id", "task-id";
        /// The status before.
        required from: Status = "from", "status";
        /// The status after.
        required to: Status = "to", "status";
        /// Why.
        optional reason: String = "reason", "text";
    }

    /// A status that people are notified about.
    pub struct TaskNotice("TaskNotice", closed) {
        /// The task.
        required task_id: TaskId = "task_id", "task-id";
        /// Its status.
        required status: Status = "status", "status";
        /// Why.
        optional reason: String = "reason", "text";
    }

    /// A task that was created or changed.
    pub struct TaskAnswer("TaskAnswer", closed) {
        /// The task as it is now.
        required task: TaskDetails = "task", "task";
        /// Its moves, in order.
        required moves: Vec<TaskMove> = "moves", "moves";
        /// The names of members that were changed.
        required changed: Vec<String> = "changed", "names";
        /// The statuses that people are notified about.
        required notices: Vec<TaskNotice> = "notices", "notices";
        /// What was odd and did not stop the change.
        required warnings: Vec<String> = "warnings", "texts";
    }
}

envelope! {
    /// A task that was created or changed.
    TaskEnvelope("TaskEnvelope") of TaskAnswer;
}

impl From<Notice> for TaskNotice {
    fn from(notice: Notice) -> Self {
        Self { task_id: notice.task, status: notice.status, reason: notice.reason }
    }
}
