//! Overviews: an orientation, a digest, the projects.

use accord_api::NoParams;
use accord_memory_core::operations::{
    DigestParams, ListProjects, Orchestrate, Orient, OrientParams, ProjectParams,
};
use accord_memory_core::query::{
    DEFAULT_BRIEFING_TOKENS, MAX_TOKENS, MIN_BRIEFING_TOKENS, OrientFormat,
};

use super::{CURSOR, PROJECT, in_project, number, reading, text, tokens};
use accord_mcp::budget::{BUDGET, DEFAULT_TOKENS, Shortening, budget, shortened, whole};
use accord_mcp::{Argument, Call, Effect, Tool, ToolResult};

const WINDOW: Argument = Argument::integer("window_days", 1, 3_660, "");

pub(super) const ORIENT: Tool = Tool {
    name: "memory_orient",
    description: "Call before you begin: a Markdown briefing of rules, handoff, reviews, open \
        questions, facts, recent work. Read items in full with memory_pull.",
    arguments: &[
        PROJECT,
        Argument::word(
            "format",
            &["briefing", "briefing-json", "bundle"],
            "bundle: whole packages.",
        )
        .default_word("briefing"),
        Argument::text("focus", "What you will work on."),
        WINDOW,
        Argument::integer("limit", 1, 200, "bundle only."),
        Argument::integer("max_tokens", MIN_BRIEFING_TOKENS as i64, MAX_TOKENS as i64, ""),
    ],
    effect: Effect::Reads,
    ask: |call| {
        let format = call.text("format").and_then(OrientFormat::parse);
        let asked = OrientParams {
            format: Some(format.unwrap_or(OrientFormat::Briefing)),
            focus: text(call, "focus"),
            window_days: number(call, "window_days"),
            limit: number(call, "limit"),
            max_tokens: tokens(orient_budget(call)),
        };
        Ok(reading::<Orient>(in_project(call)?, asked).recently(&["format", "focus"]))
    },
    answer: |call, answer| whole(answer.text(), orient_budget(call)).map(ToolResult::document),
    null_on: None,
};

/// The budget of an orientation.
fn orient_budget(call: &Call<'_>) -> usize {
    let default = match call.text("format") {
        Some("bundle") => DEFAULT_TOKENS,
        _ => DEFAULT_BRIEFING_TOKENS.into(),
    };
    let asked = call.number("max_tokens").unwrap_or(default);
    usize::try_from(asked).unwrap_or(usize::MAX)
}

pub(super) const DIGEST: Tool = Tool {
    name: "memory_digest",
    description: "Sums up a project, or all_projects: numbers, highlights, facts, open \
        questions, and passages about focus.",
    arguments: &[
        PROJECT,
        Argument::flag("all_projects", ""),
        Argument::text("focus", ""),
        Argument::integer("snippets", 0, 200, ""),
        WINDOW,
        Argument::flag("include_archived", ""),
        BUDGET,
    ],
    effect: Effect::Reads,
    ask: |call| {
        let project = match call.flag("all_projects") {
            Some(_) => None,
            None => Some(in_project(call)?.project),
        };
        let asked = DigestParams {
            project,
            focus: text(call, "focus"),
            snippets: number(call, "snippets").or(Some(10)),
            window_days: number(call, "window_days"),
            include_archived: call.flag("include_archived").is_some(),
            ..DigestParams::default()
        };
        Ok(reading::<Orchestrate>(NoParams, asked))
    },
    answer: |call, answer| {
        shortened(answer.text(), budget(call), &SHORTENED_DIGEST).map(ToolResult::document)
    },
    null_on: None,
};

pub(in super::super) const SHORTENED_DIGEST: Shortening = Shortening {
    lists: &["snippets", "open_questions", "projects", "active_facts"],
    extras: &[],
    bare: Some(("project", "project_id")),
    named_by: None,
};

pub(super) const PROJECTS: Tool = Tool {
    name: "memory_projects",
    description: "The projects that you may see.",
    arguments: &[
        Argument::flag("include_archived", ""),
        Argument::integer("limit", 1, 200, ""),
        CURSOR,
        BUDGET,
    ],
    effect: Effect::Reads,
    ask: |call| {
        let asked = ProjectParams {
            include_archived: call.flag("include_archived").is_some(),
            limit: number(call, "limit"),
            cursor: text(call, "cursor"),
            max_tokens: tokens(budget(call)),
        };
        Ok(reading::<ListProjects>(NoParams, asked).recently(&["max_tokens"]))
    },
    answer: |call, answer| whole(answer.text(), budget(call)).map(ToolResult::document),
    null_on: None,
};
