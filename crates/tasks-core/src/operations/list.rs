//! Lists of tasks, and the board.

use std::collections::BTreeMap;

use accord_api::body::{Markdown, OneOf, Text as TextBody};
use accord_api::parameter::{CURSOR, Flag, MAX_TOKENS, Number, Opaque, Text, Word, Words};
use accord_api::{Json, Need, operation, params};
use accord_contract::{Code, TextForm, Timestamp, message, wire_enum};

use super::{COMMON, InProject, NO_TREE, TaskItem, at_tasks, envelope};
use crate::briefing::LEAST_TOKENS;
use crate::task::Priority;
use crate::{Status, TaskId};

wire_enum! {
    /// The formats of what is read about tasks.
    pub enum ReadFormat("TaskReadFormat", closed) {
        /// A JSON document.
        Json = "json",
        /// Markdown, for agents.
        Markdown = "markdown",
    }
}

const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();
const STATUSES: TextForm = TextForm::ANY
    .pattern(concat!(
        "^(backlog|ready|in-progress|blocked|review|done|cancelled|deadletter)",
        "(,(backlog|ready|in-progress|blocked|review|done|cancelled|deadletter))*$",
    ))
    .example("ready,blocked");
const AGENT: Text = Text::new("agent", NAME);
const TEAM: Text = Text::new("team", NAME);
const PRIORITY: Word<Priority> = Word::new("priority");
pub(super) const FORMAT: Word<ReadFormat> = Word::new("format").or(ReadFormat::Json);
pub(super) const BUDGET: Number = Number::new("max_tokens", LEAST_TOKENS, MAX_TOKENS);

/// The tasks of a page, unless the request says otherwise.
pub const DEFAULT_LIMIT: u32 = 50;

/// The tasks of a column, unless the request says otherwise.
pub const DEFAULT_COLUMN: u32 = 10;

params! {
    /// Which tasks are listed.
    #[derive(Default)]
    pub struct ListQuery {
        /// Only tasks with these statuses. Default: all but done and cancelled.
        optional status: Words<Status> = Words::new("status", STATUSES);
        /// Also finished tasks.
        flag all: Flag = Flag::new("all");
        /// Only tasks that are routed to this role.
        optional role: Text = Text::new("role", NAME);
        /// Only tasks with this tag.
        optional tag: Text = Text::new("tag", NAME);
        /// Only the parts of this task.
        optional parent: Text = Text::new("parent", NAME);
        /// Only tasks whose titles or bodies contain all words of this text, in any case.
        optional text: Text = Text::new("text", NAME);
        /// The most tasks.
        optional limit: Number = Number::new("limit", 1, 500).or(DEFAULT_LIMIT);
        /// `next_cursor` of the previous page.
        optional cursor: Opaque = CURSOR;
        /// The most tokens of the page, which has at least one task.
        optional max_tokens: Number = BUDGET;
        /// Only tasks that this agent has, or that are routed to it.
        optional agent: Text = AGENT;
        /// Only tasks that are routed to this team.
        optional team: Text = TEAM;
        /// Only tasks with this priority.
        optional priority: Word<Priority> = PRIORITY;
        /// `markdown` is shorter, for agents; its budget is 4000 tokens unless `max_tokens` says
        /// otherwise.
        optional format: Word<ReadFormat> = FORMAT;
    }

    /// Which tasks are on the board.
    #[derive(Default)]
    pub struct BoardQuery {
        /// Only tasks with this status.
        optional status: Word<Status> = Word::new("status");
        /// The most tasks of a column.
        optional limit: Number = Number::new("limit", 1, 500).or(DEFAULT_COLUMN);
        /// The most tokens. What does not fit is counted as hidden.
        optional max_tokens: Number = BUDGET;
        /// Only tasks that this agent has, or that are routed to it.
        optional agent: Text = AGENT;
        /// Only tasks that are routed to this team.
        optional team: Text = TEAM;
        /// Only tasks with this priority.
        optional priority: Word<Priority> = PRIORITY;
        /// `markdown` is shorter, for agents; its budget is 4000 tokens unless `max_tokens` says
        /// otherwise.
        optional format: Word<ReadFormat> = FORMAT;
    }
}

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
        /// Tasks of which git left two versions: `accord task merge` decides between them.
        optional unmerged: Vec<TaskId> = "unmerged", "task-ids";
    }

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
        /// Tasks of which git left two versions: `accord task merge` decides between them.
        optional unmerged: Vec<TaskId> = "unmerged", "task-ids";
        /// The number of the last event of the tree.
        required last_event: u64 = "last_event", "count";
    }
}

envelope! {
    /// A page of tasks.
    TaskListEnvelope("TaskListEnvelope") of ListAnswer;
    /// The tasks by status.
    TaskBoardEnvelope("TaskBoardEnvelope") of BoardAnswer;
}

/// A JSON document, or Markdown.
pub type Formatted<E> = OneOf<Json<E>, TextBody<Markdown>>;

operation! {
    /// Lists tasks: open ones first, the most urgent before others, then the oldest.
    pub struct ListTasks("tasks", Get at_tasks!("")) of Aof {
        path InProject;
        query ListQuery;
        needs Need::Read;
        answers 200, Formatted<TaskListEnvelope>;
        refuses [
            COMMON,
            NO_TREE,
            &[Code::AgenticInvalidCursor, Code::AofTaskNotFound, Code::AofAmbiguousTaskId],
        ];
    }

    /// Shows the tasks by status, with the first ones of each.
    pub struct TaskBoard("task_board", Get at_tasks!("/board")) of Aof {
        path InProject;
        query BoardQuery;
        needs Need::Read;
        answers 200, Formatted<TaskBoardEnvelope>;
        refuses [COMMON, NO_TREE];
    }
}
