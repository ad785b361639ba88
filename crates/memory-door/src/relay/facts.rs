//! Facts, which Relay calls subject, relation and object.

use accord_contract::{Failure, Value, Wire as _};
use accord_memory_core::operations::{FactParams, ListFacts};

use super::{ACTOR, PROJECT};
use crate::tools::{
    ALLOW_CREDENTIALS, FACT_RECEIPT, IN_SESSION, assertion, in_project, invalidation, moment,
    number, reading, receipt, text,
};
use accord_mcp::budget::{Shortening, budget, shortened};
use accord_mcp::{Answer, Argument, Call, Effect, Tool, ToolResult};

const SUBJECT: Argument = Argument::text("subject", "What the fact is about.");
const RELATION: Argument = Argument::text("relation", "Which property of it.");
const OBJECT: Argument = Argument::text("object", "Its value.");

pub(super) const ASSERT: Tool = Tool {
    name: "relay_assert_fact",
    description: "Records that something holds from now on. A subject and relation have one \
        current object: another one ends. Asserting what already holds changes nothing.",
    arguments: &[
        SUBJECT.required(),
        RELATION.required(),
        OBJECT.required(),
        Argument::text("source_package_id", "The package that it comes from."),
        PROJECT,
        ACTOR,
        IN_SESSION,
        ALLOW_CREDENTIALS,
    ],
    effect: Effect::Adds,
    ask: |call| {
        let project = call.project()?;
        let mut body = call.members(&["subject", "source_package_id"]);
        for (name, to) in [("relation", "predicate"), ("object", "value")] {
            body.insert(to.into(), call.required(name)?.into());
        }
        body.insert("asserted_by".into(), call.author(project)?.encode());
        assertion(call, body)
    },
    answer: |_, answer| receipt(answer, FACT_RECEIPT),
    null_on: None,
};

pub(super) const INVALIDATE: Tool = Tool {
    name: "relay_invalidate_fact",
    description: "Says that a fact no longer holds and nothing takes its place. With object, only \
        if that is its current value. Returns how many facts ended, 0 or 1.",
    arguments: &[
        SUBJECT.required(),
        RELATION.required(),
        Argument::text("object", "Only if this is the current value."),
        PROJECT,
        ACTOR,
        IN_SESSION,
    ],
    effect: Effect::Ends,
    ask: |call| invalidation(call, "relation", "object"),
    answer: |_, answer| Ok(ToolResult::receipt(answer.object()?)),
    null_on: None,
};

pub(super) const QUERY: Tool = Tool {
    name: "relay_query_facts",
    description: "Facts of a project: the current ones, those at a moment (as_of), or all that \
        ever were (include_ended). Narrow them by subject, relation and object, which must match \
        exactly.",
    arguments: &[
        SUBJECT,
        RELATION,
        OBJECT,
        Argument::text("as_of", "A moment or a day in UTC: the facts that held then."),
        Argument::flag("include_ended", "Also those that no longer hold; not with as_of."),
        Argument::integer("limit", 1, 1_000, "The most facts."),
        PROJECT,
    ],
    effect: Effect::Reads,
    ask: |call| {
        // The route has no filter for values, so more facts are searched than are shown.
        let limit = call.text("object").map_or(number(call, "limit"), |_| Some(SEARCHED));
        let asked = FactParams {
            subject: text(call, "subject"),
            predicate: text(call, "relation"),
            as_of: moment(call)?,
            history: call.flag("include_ended").is_some(),
            limit,
            ..FactParams::default()
        };
        Ok(reading::<ListFacts>(in_project(call)?, asked))
    },
    answer: |call, answer| match call.text("object") {
        Some(object) => with_value(call, answer, object),
        None => shortened(answer.text(), budget(call), &LIST).map(ToolResult::document),
    },
    null_on: None,
};

/// How many facts are searched for a value: the largest page.
const SEARCHED: u32 = 1_000;

const LIST: Shortening = Shortening {
    lists: &["facts"],
    extras: &["next_cursor"],
    bare: None,
    named_by: Some("fact_id"),
};

/// The facts that have a value.
fn with_value(call: &Call<'_>, answer: &Answer, value: &str) -> Result<ToolResult, Failure> {
    let mut page = answer.object()?;
    if let Some(Value::Array(facts)) = page.get_mut("facts") {
        facts.retain(|fact| fact.get("value").and_then(Value::as_str) == Some(value));
        let limit = call.number("limit").and_then(|limit| usize::try_from(limit).ok());
        facts.truncate(limit.unwrap_or(usize::MAX));
    }
    let more = page.remove("next_cursor").is_some_and(|cursor| !cursor.is_null());
    let text = shortened(&Value::Object(page).to_string(), budget(call), &LIST)?;
    let found = ToolResult::document(text);
    if !more {
        return Ok(found);
    }
    Ok(found.noting(format!(
        "Only the first {SEARCHED} facts were searched: narrow them by subject or relation."
    )))
}
