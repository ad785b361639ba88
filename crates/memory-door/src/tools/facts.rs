//! Facts: what holds, from when to when.

use accord_api::Call as OperationCall;
use accord_api::parameter::{Definition as _, Moment, Params};
use accord_contract::{Failure, Object, Time, Wire as _};
use accord_memory_core::operations::{
    AssertFact, AssertParams, FactParams, InvalidateFact, InvalidateParams, ListFacts,
};

use super::{
    ACTOR, ALLOW_CREDENTIALS, CURSOR, EXTRA, FACT_RECEIPT, IN_SESSION, PROJECT, credentials,
    in_project, number, reading, receipt, text, tokens, written,
};
use accord_mcp::budget::{BUDGET, budget, whole};
use accord_mcp::{Argument, Call, Effect, HostRequest, Tool, ToolResult};

const SUBJECT: Argument = Argument::text("subject", "");
const PREDICATE: Argument = Argument::text("predicate", "");

pub(super) const FACTS: Tool = Tool {
    name: "memory_facts",
    description: "Facts that hold now, at as_of, or ever (history). subject and predicate match \
        exactly.",
    arguments: &[
        PROJECT,
        SUBJECT,
        PREDICATE,
        Argument::text("as_of", "UTC."),
        Argument::flag("history", ""),
        Argument::integer("limit", 1, 1_000, ""),
        CURSOR,
        BUDGET,
    ],
    effect: Effect::Reads,
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
    description: "Records that something holds from now on, such as service:billing version \
        2.4.1. It ends the earlier value.",
    arguments: &[
        PROJECT,
        SUBJECT.required(),
        PREDICATE.required(),
        Argument::text("value", "A string.").required(),
        Argument::ratio("confidence", ""),
        Argument::text("valid_from", ""),
        Argument::text("source_package_id", ""),
        Argument::texts("tags", ""),
        ACTOR,
        IN_SESSION,
        EXTRA,
        ALLOW_CREDENTIALS,
    ],
    effect: Effect::Adds,
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
    description: "Ends a fact. For a new value use memory_fact_assert.",
    arguments: &[
        PROJECT,
        SUBJECT.required(),
        PREDICATE.required(),
        Argument::text("value", "Only this one."),
        ACTOR,
        IN_SESSION,
    ],
    effect: Effect::Ends,
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
