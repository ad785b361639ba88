//! Lists of tasks.

use std::collections::BTreeMap;

use accord_contract::message;
use accord_contract::time::Timestamp;
use accord_tasks_core::Status;

use super::TaskItem;

message! {
    /// A page of tasks. Open tasks come first, the most urgent before others, then the oldest;
    /// finished tasks follow, the newest first.
    pub struct ListAnswer("TaskListAnswer", closed) {
        /// The project.
        required project_id: String = "project_id", "project-id";
        /// The tasks.
        required tasks: Vec<TaskItem> = "tasks", "tasks";
        /// How many tasks fit the request, those before this page included.
        required total: u64 = "total", "count";
        /// How many tasks follow after this page.
        required remaining: u64 = "remaining", "count";
        /// The cursor of the next page, if there is one.
        optional next_cursor: String = "next_cursor", "cursor";
        /// How many tasks of the tree have each status.
        required counts: BTreeMap<String, u64> = "counts", "counts";
        /// Tasks that belong on this page and whose files cannot be read.
        required damaged: Vec<String> = "damaged", "task-ids";
    }
}

message! {
    /// The tasks of one status.
    pub struct BoardColumn("TaskBoardColumn", closed) {
        /// The status.
        required status: Status = "status", "status";
        /// How many tasks have it and fit the request.
        required count: u64 = "count", "count";
        /// The first of them.
        required tasks: Vec<TaskItem> = "tasks", "tasks";
        /// How many are left out.
        required hidden: u64 = "hidden", "count";
    }
}

message! {
    /// The board: the tasks by status.
    pub struct BoardAnswer("TaskBoardAnswer", closed) {
        /// The project.
        required project_id: String = "project_id", "project-id";
        /// The title of the project.
        optional title: String = "title", "text";
        /// When the board was read.
        required as_of: Timestamp = "as_of", "time:iso-8601";
        /// How many tasks there are.
        required total: u64 = "total", "count";
        /// A column for each status, in the order of the protocol.
        required columns: Vec<BoardColumn> = "columns", "columns";
        /// Files that cannot be read as tasks.
        required damaged: u64 = "damaged", "count";
        /// The number of the last event of the tree.
        required last_event: u64 = "last_event", "count";
    }
}
