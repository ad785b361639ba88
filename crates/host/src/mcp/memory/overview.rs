//! Overviews: an orientation, a digest, the projects.

use accord_contract::codes::Failure;
use accord_memory_core::query::{MAX_TOKENS, MIN_TOKENS};

use super::super::budget::{BUDGET, Shortening, budget, shortened};
use super::super::{Answer, Argument, Ask, Call, Effect, Tool, ToolResult};
use super::PROJECT;

const WINDOW: Argument =
    Argument::integer("window_days", 1, 3_660, "How many days to look back.").default_number(14);

pub(super) const ORIENT: Tool = Tool {
    name: "memory_orient",
    title: "Get oriented",
    description: "Call this before you begin to work: the project, its recent packages (newest \
        first), all current facts and the open questions, within a budget of tokens.",
    arguments: &[
        PROJECT,
        WINDOW,
        Argument::integer("limit", 1, 200, "The most packages.").default_number(20),
        BUDGET,
    ],
    effect: Effect::Reads,
    output: None,
    ask: |call| {
        // The host refuses a budget below its minimum; its answer is shortened here.
        let asked = u32::try_from(budget(call)).unwrap_or(MAX_TOKENS);
        Ok(Ask::get(&["v1", "projects", call.project()?, "orient"])
            .query("window_days", call.number("window_days"))
            .query("limit", call.number("limit"))
            .query("max_tokens", Some(asked.clamp(MIN_TOKENS, MAX_TOKENS))))
    },
    answer: |call, answer| {
        let how = Shortening {
            lists: &["open_questions", "active_facts", "recent_packages"],
            extras: &["x-open_question_sources"],
            bare: Some(("project", "project_id")),
            named_by: Some("package_id"),
        };
        serve(call, answer, &how)
    },
    null_on: None,
};

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
            None => Some(call.project()?),
        };
        Ok(Ask::get(&["v1", "orchestrate"])
            .query("project", project)
            .query("focus", call.text("focus"))
            .query("snippets", call.number("snippets").or(Some(10)))
            .query("window_days", call.number("window_days"))
            .query("include_archived", call.flag("include_archived")))
    },
    answer: |call, answer| {
        let how = Shortening {
            lists: &["snippets", "open_questions", "projects", "active_facts"],
            extras: &[],
            bare: Some(("project", "project_id")),
            named_by: None,
        };
        serve(call, answer, &how)
    },
    null_on: None,
};

pub(super) const PROJECTS: Tool = Tool {
    name: "memory_projects",
    title: "List projects",
    description: "The projects that you may see, by their ids.",
    arguments: &[
        Argument::flag("include_archived", "Archived projects, too."),
        Argument::integer("limit", 1, 200, "The most projects.").default_number(50),
        Argument::text("cursor", "next_cursor of the page before."),
        BUDGET,
    ],
    effect: Effect::Reads,
    output: None,
    ask: |call| {
        Ok(Ask::get(&["v1", "projects"])
            .query("include_archived", call.flag("include_archived"))
            .query("limit", call.number("limit"))
            .query("cursor", call.text("cursor")))
    },
    answer: |call, answer| {
        let how = Shortening {
            lists: &["projects"],
            extras: &["next_cursor"],
            bare: None,
            named_by: Some("project_id"),
        };
        serve(call, answer, &how)
    },
    null_on: None,
};

fn serve(call: &Call<'_>, answer: &Answer, how: &Shortening) -> Result<ToolResult, Failure> {
    shortened(answer.text(), budget(call), how).map(ToolResult::document)
}
