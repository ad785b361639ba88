//! What is read.

use accord_contract::wire::{Limits, TextForm};
use accord_tasks_core::Status;
use accord_tasks_core::task::Priority;

use super::request;

const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();
/// The most tasks of a page.
pub(crate) const MOST: i64 = 500;
/// The tasks of a page, unless the request says otherwise.
pub(crate) const DEFAULT: u64 = 50;

request! {
    /// Which tasks are listed.
    pub struct ListRequest("TaskListRequest") {
        /// These statuses. Default: all but `done` and `cancelled`.
        optional status: Vec<Status> = "status", "statuses";
        /// Whether finished tasks are listed too.
        optional all: bool = "all", "flag";
        /// The tasks that this agent has or that are routed to it.
        optional agent: String = "agent", "agent-id", Limits::text(NAME);
        /// The tasks that are routed to this role.
        optional role: String = "role", "role", Limits::text(NAME);
        /// The tasks that are routed to this team.
        optional team: String = "team", "team", Limits::text(NAME);
        /// The tasks with this priority.
        optional priority: Priority = "priority", "priority";
        /// The tasks with this tag.
        optional tag: String = "tag", "tag", Limits::text(NAME);
        /// The parts of this task.
        optional parent: String = "parent", "task-reference", Limits::text(NAME);
        /// The tasks whose titles contain this text, in any case.
        optional text: String = "text", "text", Limits::text(NAME);
        /// The most tasks of the answer.
        optional limit: u64 = "limit", "count", Limits::whole(1, MOST);
        /// Where the next page begins.
        optional cursor: String = "cursor", "cursor", Limits::text(NAME);
    }
}

request! {
    /// What is shown of a task.
    pub struct ShowRequest("TaskShowRequest") {
        /// Whether the body is left out.
        optional without_body: bool = "without_body", "flag";
    }
}

request! {
    /// Which tasks are on the board.
    pub struct BoardRequest("TaskBoardRequest") {
        /// The tasks of this team.
        optional team: String = "team", "team", Limits::text(NAME);
        /// The tasks of this agent.
        optional agent: String = "agent", "agent-id", Limits::text(NAME);
        /// The tasks with this status.
        optional status: Status = "status", "status";
        /// The tasks with this priority.
        optional priority: Priority = "priority", "priority";
        /// The most tasks of a column. Default: 10.
        optional limit: u64 = "limit", "count", Limits::whole(1, MOST);
    }
}
