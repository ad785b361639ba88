//! Questions: what is not settled yet.

use accord_memory_core::operations::{ListQuestions, QuestionParams};

use super::{CURSOR, PROJECT, in_project, number, reading, text, tokens};
use accord_mcp::budget::{BUDGET, budget, whole};
use accord_mcp::{Argument, Effect, Tool, ToolResult};

pub(super) const QUESTIONS: Tool = Tool {
    name: "memory_questions",
    description: "Open questions, newest first, with the packages that ask. To answer one, \
        deposit with answers.",
    arguments: &[
        PROJECT,
        Argument::flag("all", "Answered ones, too."),
        Argument::integer("limit", 1, 200, ""),
        CURSOR,
        BUDGET,
    ],
    effect: Effect::Reads,
    ask: |call| {
        let asked = QuestionParams {
            all: call.flag("all").is_some(),
            limit: number(call, "limit"),
            cursor: text(call, "cursor"),
            max_tokens: tokens(budget(call)),
        };
        Ok(reading::<ListQuestions>(in_project(call)?, asked).recently(&["max_tokens"]))
    },
    answer: |call, answer| whole(answer.text(), budget(call)).map(ToolResult::document),
    null_on: None,
};
