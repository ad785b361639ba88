//! Overviews: `relay_status`, `relay_session_orient` and `relay_orchestrate`.

use accord_api::NoParams;
use accord_contract::{Object, Value};
use accord_memory_core::operations::{
    DigestParams, Orchestrate, Orient, OrientParams, PullPackages, PullParams,
};
use accord_memory_core::query::OrientFormat;
use serde_json::json;

use super::PROJECT;
use crate::tools::{DIGEST, id, in_project, number, reading, text};
use accord_mcp::budget::{Shortening, budget, shortened};
use accord_mcp::{Argument, Effect, Tool, ToolResult};

pub(super) const STATUS: Tool = Tool {
    name: "relay_status",
    description: "The last ten packages of a project with status and handoff note, how many of \
        them await a review, how many questions they leave open, and your session.",
    arguments: &[PROJECT],
    effect: Effect::Reads,
    ask: |call| {
        let asked = PullParams { limit: Some(10), ..PullParams::default() };
        Ok(reading::<PullPackages>(in_project(call)?, asked))
    },
    answer: |call, answer| {
        let packages = answer.object()?.remove("packages").unwrap_or_default();
        let packages = packages.as_array().cloned().unwrap_or_default();
        let awaits = |package: &&Value| package["status"] == "awaiting_review";
        let questions = packages.iter().filter_map(|package| package["open_questions"].as_array());
        let status = json!({
            "session": call.session().ok(),
            "total_recent_packages": packages.len(),
            "pending_review": packages.iter().filter(awaits).count(),
            "open_questions": questions.map(Vec::len).sum::<usize>(),
            "packages": packages.into_iter().map(summary).collect::<Vec<_>>(),
        });
        Ok(ToolResult::document(status.to_string()))
    },
    null_on: None,
};

pub(super) const ORIENT: Tool = Tool {
    name: "relay_session_orient",
    description: "What to know before you begin: standing decisions, the latest handoff, open \
        questions, current facts and recent work. A briefing in Markdown, or a bundle in JSON.",
    arguments: &[
        PROJECT,
        Argument::word("format", &["markdown", "json"], "markdown: a briefing. json: a bundle.")
            .default_word("markdown"),
        Argument::integer(
            "key_packages",
            1,
            200,
            "json: the most packages. A briefing chooses by significance, within its budget.",
        ),
        Argument::integer(
            "open_questions",
            0,
            200,
            "json: the most open questions. A briefing chooses within its budget.",
        ),
        Argument::integer("window_days", 1, 3_660, "How many days to look back."),
    ],
    effect: Effect::Reads,
    ask: |call| {
        let window_days = number(call, "window_days");
        let mut asked = OrientParams { window_days, ..OrientParams::default() };
        match call.text("format") {
            Some("json") => asked.limit = number(call, "key_packages"),
            _ => asked.format = Some(OrientFormat::Briefing),
        }
        Ok(reading::<Orient>(in_project(call)?, asked))
    },
    answer: |call, answer| {
        if call.text("format") != Some("json") {
            return Ok(ToolResult::document(answer.text()));
        }
        let most = call.number("open_questions").and_then(|most| usize::try_from(most).ok());
        let text = match most {
            None => answer.text().to_owned(),
            Some(most) => {
                let mut bundle = answer.object()?;
                for name in ["open_questions", "x-open_question_sources"] {
                    if let Some(Value::Array(questions)) = bundle.get_mut(name) {
                        questions.truncate(most);
                    }
                }
                Value::Object(bundle).to_string()
            }
        };
        shortened(&text, budget(call), &BUNDLE).map(ToolResult::document)
    },
    null_on: None,
};

const BUNDLE: Shortening = Shortening {
    lists: &["open_questions", "active_facts", "recent_packages"],
    extras: &["x-open_question_sources"],
    bare: Some(("project", "project_id")),
    named_by: Some("package_id"),
};

pub(super) const ORCHESTRATE: Tool = Tool {
    name: "relay_orchestrate",
    description: "Sums up a project, or without project_id all projects: numbers, highlights, \
        facts, open questions, and with focus the passages about it. You draw the conclusions.",
    arguments: &[
        Argument::text("project_id", "The project. Without it: all projects."),
        Argument::text("focus", "What to look for, in plain words."),
        Argument::integer("snippets", 0, 200, "The most passages about the focus."),
        Argument::flag("include_archived", "Archived projects, too."),
    ],
    effect: Effect::Reads,
    ask: |call| {
        let project = call.text("project_id").map(|text| id("project", text)).transpose()?;
        let asked = DigestParams {
            project,
            focus: text(call, "focus"),
            snippets: number(call, "snippets").or(Some(25)),
            include_archived: call.flag("include_archived").is_some(),
            ..DigestParams::default()
        };
        Ok(reading::<Orchestrate>(NoParams, asked))
    },
    answer: |call, answer| {
        shortened(answer.text(), budget(call), &DIGEST).map(ToolResult::document)
    },
    null_on: None,
};

/// What Relay shows of a package.
fn summary(package: Value) -> Value {
    let Value::Object(package) = package else { return Value::Null };
    let names = [("id", "package_id"), ("title", "title"), ("status", "status")];
    let names = names.into_iter().chain([("handoff_note", "handoff_note")]);
    let member = |(name, of): (&str, &str)| Some((name.to_owned(), package.get(of)?.clone()));
    Value::Object(names.filter_map(member).collect::<Object>())
}
