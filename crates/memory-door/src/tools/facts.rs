//! Facts: what holds, from when to when.

use accord_api::Call as OperationCall;
use accord_api::parameter::{Definition as _, Moment, Params};
use accord_contract::{Failure, Object, Time, Wire as _};
use accord_memory_core::operations::{
    AssertFact, AssertParams, FactParams, InvalidateFact, InvalidateParams, ListFacts,
};

use super::{
    ACTOR, ALLOW_CREDENTIALS, FACT_RECEIPT, IN_SESSION, PROJECT, credentials, in_project, number,
    reading, receipt, text, tokens, written,
};
use accord_mcp::budget::{PAGE_BUDGET, budget, whole};
use accord_mcp::{Argument, Call, Effect, HostRequest, Output, Tool, ToolResult};

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
        let asked = FactParams {
            subject: text(call, "subject"),
            predicate: text(call, "predicate"),
            as_of: moment(call)?,
            history: call.flag("history").is_some(),
            limit: number(call, "limit"),
            cursor: text(call, "cursor"),
            max_tokens: tokens(budget(call)),
            ..FactParams::default()
        };
        Ok(reading::<ListFacts>(in_project(call)?, asked).recently(&["max_tokens"]))
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
        ALLOW_CREDENTIALS,
    ],
    effect: Effect::AddsOnce,
    output: Some(FACT_RECEIPT),
    ask: |call| {
        let author = call.author(call.project()?)?;
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
        assertion(call, body)
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
    ask: |call| invalidation(call, "predicate", "value"),
    answer: |_, answer| Ok(ToolResult::receipt(answer.object()?)),
    null_on: None,
};

/// The time that a call asks about.
pub(in super::super) fn moment(call: &Call<'_>) -> Result<Option<Time>, Failure> {
    let as_of = call.text("as_of").map(|text| ("as_of", text));
    Moment::new("as_of").value(&Params::new(as_of)?)
}

/// Asserts a fact. What already holds is not asserted again.
pub(in super::super) fn assertion(call: &Call<'_>, body: Object) -> Result<HostRequest, Failure> {
    let options = AssertParams { if_changed: true, if_out_of_order: None };
    let body = written(body);
    let asked = OperationCall::<AssertFact>::new(in_project(call)?, options, body);
    Ok(HostRequest::operation(&asked).with_headers(&credentials(call)))
}

/// Ends a fact. Its predicate and its value are in the arguments of these names.
pub(in super::super) fn invalidation(
    call: &Call<'_>,
    predicate: &'static str,
    value: &str,
) -> Result<HostRequest, Failure> {
    let author = call.author(call.project()?)?;
    let asked = InvalidateParams {
        subject: call.required("subject")?.to_owned(),
        predicate: call.required(predicate)?.to_owned(),
        object: None,
        value: text(call, value),
        actor: Some(format!("{}:{}", author.kind, author.id)),
        session_id: author.session().cloned(),
    };
    Ok(reading::<InvalidateFact>(in_project(call)?, asked))
}
