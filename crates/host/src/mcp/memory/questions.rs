//! Questions: what is not settled yet.

use super::PROJECT;
use accord_mcp::budget::{PAGE_BUDGET, budget, whole};
use accord_mcp::{Argument, Ask, Effect, Tool, ToolResult};

pub(super) const QUESTIONS: Tool = Tool {
    name: "memory_questions",
    title: "List questions",
    description: "The open questions of the project, of any age, newest first, each with the \
        packages that ask it. With all: answered ones too, with the packages that answer them. To \
        answer one, call memory_deposit with answers.",
    arguments: &[
        PROJECT,
        Argument::flag("all", "Answered questions, too."),
        Argument::integer("limit", 1, 200, "The most questions.").default_number(50),
        Argument::text("cursor", "next_cursor of the page before."),
        PAGE_BUDGET,
    ],
    effect: Effect::Reads,
    output: None,
    ask: |call| {
        Ok(Ask::get(&["v1", "projects", call.project()?, "questions"])
            .query("all", call.flag("all"))
            .query("limit", call.number("limit"))
            .query("cursor", call.text("cursor"))
            .recent_query("max_tokens", Some(budget(call))))
    },
    answer: |call, answer| whole(answer.text(), budget(call)).map(ToolResult::document),
    null_on: None,
};
