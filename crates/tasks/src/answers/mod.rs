//! The answers of operations on tasks: part of Accord's wire contract.
//!
//! `accord task … --json`, HTTP and MCP give these documents.

mod briefing;
mod change;
mod claim;
mod events;
mod list;
mod message;
mod task;
mod tree;

pub use briefing::{BriefingAnswer, BriefingDependency};
pub use change::{TaskAnswer, TaskMove, TaskNotice};
pub use claim::{ClaimAnswer, ClaimNextAnswer, HeartbeatAnswer};
pub use events::{AofEvent, EventsAnswer};
pub use list::{BoardAnswer, BoardColumn, ListAnswer};
pub use message::{MessageAnswer, SessionEndAnswer, SessionEndRejection};
pub use task::{
    DependencyView, LeaseView, OutputView, PersonDecision, RunView, ShowAnswer, TaskDetails,
    TaskItem,
};
pub use tree::{
    AdoptAnswer, AdoptedChange, InitAnswer, LintAnswer, LintFinding, LintSeverity, PollAlert,
    PollAnswer,
};

use crate::notify::TaskNotification;

accord_contract::contract_messages! {
    Response;
    InitAnswer = "task-init-answer",
    TaskAnswer = "task-answer",
    ShowAnswer = "task-show-answer",
    ListAnswer = "task-list-answer",
    BoardAnswer = "task-board-answer",
    ClaimAnswer = "task-claim-answer",
    ClaimNextAnswer = "task-claim-next-answer",
    HeartbeatAnswer = "task-heartbeat-answer",
    AdoptAnswer = "task-adopt-answer",
    LintAnswer = "task-lint-answer",
    PollAnswer = "task-poll-answer",
    MessageAnswer = "aof-message-answer",
    SessionEndAnswer = "task-session-end-answer",
    BriefingAnswer = "task-briefing-answer",
    EventsAnswer = "task-events-answer",
    TaskNotification = "task-notification",
}
