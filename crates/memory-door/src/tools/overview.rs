//! Overviews: an orientation, a digest, the projects.

use accord_api::NoParams;
use accord_memory_core::operations::{
    DigestParams, ListProjects, Orchestrate, Orient, OrientParams, ProjectParams,
};
use accord_memory_core::query::{
    DEFAULT_BRIEFING_TOKENS, MAX_TOKENS, MIN_BRIEFING_TOKENS, OrientFormat,
};

use super::{PROJECT, in_project, number, reading, text, tokens};
use accord_mcp::budget::{
    BUDGET, DEFAULT_TOKENS, PAGE_BUDGET, Shortening, budget, shortened, whole,
};
use accord_mcp::{Argument, Call, Effect, Tool, ToolResult};

const WINDOW: Argument =
    Argument::integer("window_days", 1, 3_660, "How many days to look back.").default_number(14);

pub(super) const ORIENT: Tool = Tool {
    name: "memory_orient",
    title: "Get oriented",
    description: "Call this before you begin to work. Gives a briefing in Markdown: standing rules \
        and decisions, the latest handoff, what waits for review, open questions, current facts, \
        who is active, recent work. Every item has an id; read it in full with memory_pull. \
        format bundle gives recent packages whole, as JSON.",
    arguments: &[
        PROJECT,
        Argument::word(
            "format",
            &["briefing", "briefing-json", "bundle"],
            "briefing: Markdown. briefing-json: the same as JSON. bundle: whole packages.",
        )
        .default_word("briefing"),
        Argument::text("focus", "What you will work on, in plain words: it is shown first.")
            .example("retry of failed payments"),
        WINDOW,
        Argument::integer("limit", 1, 200, "bundle: the most packages. Default: 20."),
        Argument::integer(
            "max_tokens",
            MIN_BRIEFING_TOKENS as i64,
            MAX_TOKENS as i64,
            "The most tokens of the answer. What does not fit is counted. bundle: 2000 or more. \
             Default: 2000, for a bundle 8000.",
        ),
    ],
    effect: Effect::Reads,
    output: None,
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
    title: "Sum up projects",
    description: "Sums up what happened: numbers, highlights, facts, open questions, and with \
        focus the passages about it. Of one project, or with all_projects of every project you may \
        see, with what waits for review in each.",
    arguments: &[
        PROJECT,
        Argument::flag("all_projects", "Sum up all projects rather than one."),
        Argument::text("focus", "What to look for, in plain words.").example("release blockers"),
        Argument::integer("snippets", 0, 200, "The most passages about the focus.")
            .default_number(10),
        WINDOW,
        Argument::flag("include_archived", "Archived projects, too."),
        BUDGET,
    ],
    effect: Effect::Reads,
    output: None,
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
    title: "List projects",
    description: "The projects that you may see, by their ids.",
    arguments: &[
        Argument::flag("include_archived", "Archived projects, too."),
        Argument::integer("limit", 1, 200, "The most projects.").default_number(50),
        Argument::text("cursor", "next_cursor of the page before."),
        PAGE_BUDGET,
    ],
    effect: Effect::Reads,
    output: None,
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
