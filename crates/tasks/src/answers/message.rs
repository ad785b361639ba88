//! What a message did.

use accord_contract::message;
use accord_tasks_core::message::MessageType;
use accord_tasks_core::{Status, TaskId};

use super::{TaskMove, TaskNotice};

message! {
    /// What an input did. One that is not for the protocol changes nothing: its reason is
    /// `not_protocol`.
    pub struct MessageAnswer("AofMessageAnswer", closed) {
        /// Whether everything that the message asks for was done.
        required applied: bool = "applied", "flag";
        /// Why not.
        optional reason: String = "reason", "reason";
        /// The type of the message.
        optional kind: MessageType = "type", "message-type";
        /// The task.
        optional task_id: TaskId = "task_id", "task-id";
        /// Its status now.
        optional status: Status = "status", "status";
        /// Its moves, in order.
        required moves: Vec<TaskMove> = "moves", "moves";
        /// The statuses that people are notified about.
        required notices: Vec<TaskNotice> = "notices", "notices";
        /// What was odd and did not stop the message.
        required warnings: Vec<String> = "warnings", "texts";
    }
}

message! {
    /// A recorded result that was not applied.
    pub struct SessionEndRejection("TaskSessionEndRejection", closed) {
        /// The task.
        required task_id: TaskId = "task_id", "task-id";
        /// Why.
        required reason: String = "reason", "reason";
    }
}

message! {
    /// What the end of a session did.
    pub struct SessionEndAnswer("TaskSessionEndAnswer", closed) {
        /// The moves of tasks, in order.
        required moves: Vec<TaskMove> = "moves", "moves";
        /// Tasks in progress without a result.
        required waiting: Vec<TaskId> = "waiting", "task-ids";
        /// Results that were not applied.
        required rejected: Vec<SessionEndRejection> = "rejected", "rejections";
        /// The statuses that people are notified about.
        required notices: Vec<TaskNotice> = "notices", "notices";
    }
}
