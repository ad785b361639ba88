//! Facts: what holds, from when to when.

use accord_base::SessionId;
use accord_contract::wire::Wire as _;

use super::{ACTOR, FACT_RECEIPT, IN_SESSION, PROJECT, receipt};
use accord_mcp::budget::{PAGE_BUDGET, budget, whole};
use accord_mcp::{Argument, Ask, Effect, Output, Tool, ToolResult};

const SUBJECT: Argument =
    Argument::text("subject", "What the fact is about.").example("service:billing");
const PREDICATE: Argument = Argument::text("predicate", "Which property of it.").example("version");

pub(super) const FACTS: Tool = Tool {
    name: "memory_facts",
    title: "Look facts up",
    description: "Facts of a project: the current ones, those at a moment (as_of), or all that \
        ever were (history). Narrow them by subject and predicate, which must match exactly.",
    arguments: &[
        PROJECT,
        SUBJECT,
        PREDICATE,
        Argument::text("as_of", "A moment or a day in UTC: the facts that held then.")
            .example("2026-04-18T20:00:00Z"),
        Argument::flag("history", "Also those that no longer hold; not with as_of."),
        Argument::integer("limit", 1, 1_000, "The most facts.").default_number(100),
        Argument::text("cursor", "next_cursor of the page before."),
        PAGE_BUDGET,
    ],
    effect: Effect::Reads,
    output: None,
    ask: |call| {
        Ok(Ask::get(&["v1", "projects", call.project()?, "facts"])
            .query("subject", call.text("subject"))
            .query("predicate", call.text("predicate"))
            .query("as_of", call.text("as_of"))
            .query("history", call.flag("history"))
            .query("limit", call.number("limit"))
            .query("cursor", call.text("cursor"))
            .recent_query("max_tokens", Some(budget(call))))
    },
    answer: |call, answer| whole(answer.text(), budget(call)).map(ToolResult::document),
    null_on: None,
};

pub(super) const ASSERT: Tool = Tool {
    name: "memory_fact_assert",
    title: "Assert a fact",
    description: "Records that something holds from now on. A subject and predicate have one \
        current value: the one that was there ends. Asserting what already holds changes nothing.",
    arguments: &[
        PROJECT,
        SUBJECT.required(),
        PREDICATE.required(),
        Argument::text("value", "The value, always as a string; \"97.0\", not 97.0.")
            .required()
            .example("2.4.1"),
        Argument::ratio("confidence", "How sure you are, from 0 to 1. Default: 1."),
        Argument::text("valid_from", "From when on it holds, in UTC. Default: now.")
            .example("2026-04-18T20:00:00Z"),
        Argument::text("source_package_id", "The package that it comes from."),
        Argument::texts("tags", "Labels."),
        ACTOR,
        IN_SESSION,
        Argument::members(
            "extra",
            "Members of your own, kept as they are; every name begins with x-.",
        ),
    ],
    effect: Effect::AddsOnce,
    output: Some(FACT_RECEIPT),
    ask: |call| {
        let project = call.project()?;
        let author = call.author(project)?;
        let mut body = call.members(&[
            "subject",
            "predicate",
            "value",
            "confidence",
            "valid_from",
            "source_package_id",
            "tags",
        ]);
        body.insert("asserted_by".into(), author.encode());
        Ok(Ask::post(&["v1", "projects", project, "facts"], body).query("if_changed", Some(true)))
    },
    answer: |_, answer| receipt(answer, FACT_RECEIPT),
    null_on: None,
};

pub(super) const INVALIDATE: Tool = Tool {
    name: "memory_fact_invalidate",
    title: "End a fact",
    description: "Says that a fact no longer holds and nothing takes its place; its history stays. \
        For a new value call memory_fact_assert instead. Gives how many facts ended, 0 or 1.",
    arguments: &[
        PROJECT,
        SUBJECT.required(),
        PREDICATE.required(),
        Argument::text("value", "Only if this is the current value."),
        ACTOR,
        IN_SESSION,
    ],
    effect: Effect::Ends,
    output: Some(&[Output::count("invalidated")]),
    ask: |call| {
        let project = call.project()?;
        let author = call.author(project)?;
        let actor = format!("{}:{}", author.kind, author.id);
        let session = author.session().map(SessionId::as_str);
        Ok(Ask::delete(&["v1", "projects", project, "facts"])
            .query("subject", call.text("subject"))
            .query("predicate", call.text("predicate"))
            .query("value", call.text("value"))
            .query("actor", Some(actor))
            .query("session_id", session))
    },
    answer: |_, answer| Ok(ToolResult::receipt(answer.object()?)),
    null_on: None,
};
