//! The board, a report about the tasks, and the briefing of one.

use accord_api::NoBody;
use accord_base::Door;
use accord_contract::Failure;
use accord_tasks_core::Status;
use accord_tasks_core::operations::{
    BoardQuery, BriefingQuery, ListQuery, ListTasks, ReadFormat, TaskBoard, TaskBriefing,
};
use accord_tasks_core::task::Priority;

use super::{PROJECT, TASK, in_project, of_task, request, text};
use accord_mcp::budget::whole;
use accord_mcp::{Answer, Argument, Call, Effect, Tool, ToolResult};

/// The default budget.
const DEFAULT_TOKENS: i64 = 4_000;

/// The budget of a tool that reads.
const BUDGET: Argument = Argument::integer("max_tokens", 300, 1_000_000, "");

/// The budget of a call.
pub(super) fn budget(call: &Call<'_>) -> u32 {
    let asked = call.number("max_tokens").unwrap_or(DEFAULT_TOKENS);
    u32::try_from(asked).unwrap_or(u32::MAX)
}

/// The text of an answer within the budget of its call.
fn within_budget(call: &Call<'_>, answer: &Answer) -> Result<ToolResult, Failure> {
    let budget = usize::try_from(budget(call)).unwrap_or(usize::MAX);
    whole(answer.text(), budget).map(ToolResult::document)
}

const STATUSES: &[&str] =
    &["backlog", "ready", "in-progress", "blocked", "review", "done", "cancelled", "deadletter"];

const FORMAT: Argument =
    Argument::word("format", &["markdown", "json"], "").default_word("markdown");

fn format(call: &Call<'_>) -> Option<ReadFormat> {
    let named = call.text("format").and_then(ReadFormat::parse);
    Some(named.unwrap_or(ReadFormat::Markdown))
}

pub(super) const BOARD: Tool = Tool {
    name: "aof_board",
    description: "Tasks by status, the most urgent first, with counts.",
    arguments: &[
        PROJECT,
        Argument::text("team", ""),
        Argument::word("status", STATUSES, ""),
        Argument::word("priority", &["critical", "high", "normal", "low"], ""),
        FORMAT,
        BUDGET,
    ],
    effect: Effect::Reads,
    ask: |call| {
        let query = BoardQuery {
            team: text(call, "team"),
            status: call.text("status").and_then(Status::parse),
            priority: call.text("priority").and_then(Priority::parse),
            format: format(call),
            max_tokens: Some(budget(call)),
            ..BoardQuery::default()
        };
        Ok(request::<TaskBoard>(in_project(call)?, query, NoBody))
    },
    answer: within_budget,
    null_on: None,
};

pub(super) const STATUS_REPORT: Tool = Tool {
    name: "aof_status_report",
    description: "Lists tasks, one line each, with what they wait for.",
    arguments: &[
        PROJECT,
        Argument::text("agentId", ""),
        Argument::word("status", STATUSES, ""),
        Argument::text("text", "In titles."),
        Argument::flag("all", "Finished ones, too."),
        Argument::flag("compact", ""),
        Argument::integer("limit", 1, 500, ""),
        Argument::text("cursor", ""),
        FORMAT,
        BUDGET,
    ],
    effect: Effect::Reads,
    ask: |call| {
        let compact = call.flag("compact") == Some(true);
        let limit = call.number("limit").and_then(|limit| u32::try_from(limit).ok());
        let query = ListQuery {
            agent: text(call, "agentId"),
            status: call.text("status").and_then(Status::parse).map(|status| vec![status]),
            text: text(call, "text"),
            all: call.flag("all") == Some(true),
            limit: limit.or(compact.then_some(10)),
            cursor: text(call, "cursor"),
            format: format(call),
            max_tokens: Some(budget(call)),
            ..ListQuery::default()
        };
        Ok(request::<ListTasks>(in_project(call)?, query, NoBody))
    },
    answer: within_budget,
    null_on: None,
};

pub(super) const BRIEFING: Tool = Tool {
    name: "aof_task_briefing",
    description: "All about a task: instructions, status, why it was sent back, inputs, work \
        log.",
    arguments: &[PROJECT, TASK, BUDGET],
    effect: Effect::Reads,
    ask: |call| {
        let query = BriefingQuery {
            format: Some(ReadFormat::Markdown),
            max_tokens: Some(budget(call)),
            door: Some(Door::Mcp),
        };
        Ok(request::<TaskBriefing>(of_task(call)?, query, NoBody))
    },
    answer: within_budget,
    null_on: None,
};
