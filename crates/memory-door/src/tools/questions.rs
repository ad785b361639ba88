//! Questions: what is not settled yet.

use accord_memory_core::operations::{ListQuestions, QuestionParams};

use super::{PROJECT, in_project, number, reading, text, tokens};
use accord_mcp::budget::{PAGE_BUDGET, budget, whole};
use accord_mcp::{Argument, Effect, Tool, ToolResult};

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
