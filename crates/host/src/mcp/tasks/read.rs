//! The board, a report about the tasks, and the briefing of one.

use super::super::budget::whole;
use super::super::{Argument, Ask, Call, Effect, Tool, ToolResult};
use super::{PROJECT, TASK, tasks};

/// The default budget.
const DEFAULT_TOKENS: i64 = 4_000;

/// The budget of a tool that reads.
const BUDGET: Argument = Argument::integer(
    "max_tokens",
    300,
    1_000_000,
    "The most tokens of the answer. What does not fit is counted.",
)
.default_number(DEFAULT_TOKENS);

/// The budget of a call.
pub(super) fn budget(call: &Call<'_>) -> usize {
    let asked = call.number("max_tokens").unwrap_or(DEFAULT_TOKENS);
    usize::try_from(asked).unwrap_or(usize::MAX)
}

const STATUSES: &[&str] =
    &["backlog", "ready", "in-progress", "blocked", "review", "done", "cancelled", "deadletter"];

const FORMAT: Argument = Argument::word(
    "format",
    &["markdown", "json"],
    "markdown: short, for reading. json: the whole document.",
)
.default_word("markdown");

fn format<'a>(call: &Call<'a>) -> &'a str {
    call.text("format").unwrap_or("markdown")
}

pub(super) const BOARD: Tool = Tool {
    name: "aof_board",
    title: "Show the board",
    description: "The tasks of a project by status, the most urgent of each first, with counts.",
    arguments: &[
        PROJECT,
        Argument::text("team", "Only tasks of this team."),
        Argument::word("status", STATUSES, "Only tasks with this status."),
        Argument::word(
            "priority",
            &["critical", "high", "normal", "low"],
            "Only tasks with this priority.",
        ),
        FORMAT,
        BUDGET,
    ],
    effect: Effect::Reads,
    output: None,
    ask: |call| {
        Ok(Ask::get(&tasks(call, &["board"])?)
            .query("team", call.text("team"))
            .query("status", call.text("status"))
            .query("priority", call.text("priority"))
            .query("format", Some(format(call)))
            .query("max_tokens", Some(budget(call))))
    },
    answer: |call, answer| whole(answer.text(), budget(call)).map(ToolResult::document),
    null_on: None,
};

pub(super) const STATUS_REPORT: Tool = Tool {
    name: "aof_status_report",
    title: "List tasks",
    description: "The tasks of a project, or those of one agent: one line each, with id, status, \
        priority, title, and what it waits for; and how many there are of each status.",
    arguments: &[
        PROJECT,
        Argument::text("agentId", "Only tasks that this agent has, or that are assigned to it."),
        Argument::word("status", STATUSES, "Only tasks with this status."),
        Argument::text("text", "Only tasks whose titles contain this."),
        Argument::flag("all", "Finished tasks, too."),
        Argument::flag("compact", "Only the first ten."),
        Argument::integer("limit", 1, 500, "The most tasks.").default_number(50),
        Argument::text("cursor", "The cursor of the page before."),
        FORMAT,
        BUDGET,
    ],
    effect: Effect::Reads,
    output: None,
    ask: |call| {
        let compact = call.flag("compact") == Some(true);
        let limit = call.number("limit").or(compact.then_some(10));
        Ok(Ask::get(&tasks(call, &[])?)
            .query("agent", call.text("agentId"))
            .query("status", call.text("status"))
            .query("text", call.text("text"))
            .query("all", call.flag("all"))
            .query("limit", limit)
            .query("cursor", call.text("cursor"))
            .query("format", Some(format(call)))
            .query("max_tokens", Some(budget(call))))
    },
    answer: |call, answer| whole(answer.text(), budget(call)).map(ToolResult::document),
    null_on: None,
};

pub(super) const BRIEFING: Tool = Tool {
    name: "aof_task_briefing",
    title: "Read a task",
    description: "What there is to know about a task: instructions, status, why it was sent back, \
        inputs, what the tasks before it left, the work log. Markdown within max_tokens.",
    arguments: &[PROJECT, TASK, BUDGET],
    effect: Effect::Reads,
    output: None,
    ask: |call| {
        Ok(Ask::get(&tasks(call, &[call.required("taskId")?, "briefing"])?)
            .query("door", Some("mcp"))
            .query("format", Some("markdown"))
            .query("max_tokens", Some(budget(call))))
    },
    answer: |call, answer| whole(answer.text(), budget(call)).map(ToolResult::document),
    null_on: None,
};
