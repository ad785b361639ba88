//! Facts: assert, invalidate, list, read.

use accord_base::Need;
use accord_contract::codes::Code;
use accord_contract::message;
use accord_contract::wire::{Value, Wire as _};
use accord_memory_core::fact::{Fact, FactAssertion};
use accord_memory_core::query::{
    ACTOR, AS_OF, AT, CURSOR, FACT_LIMIT, FactQuery, HISTORY, IF_CHANGED, IF_OUT_OF_ORDER,
    InvalidateQuery, OBJECT, OBJECT_VALUE, PAGE_TOKENS, PREDICATE, PROJECT_ID, SESSION_ID, SUBJECT,
    assert_options,
};
use accord_memory_core::{FactId, Warning};
use hyper::{Method, StatusCode};

use super::answer::{List, PAGE_BUDGET};
use super::{InProject, PathId, Query};
use crate::http::Route;
use crate::http::body::Document;
use crate::http::reply::json;
use crate::http::{Context, Reply};
use accord_serving::reply::naming_new;
use accord_serving::table::Content;

/// The facts of a project.
const FACTS: &str = "/v1/projects/{project_id}/facts";

message! {
    /// A page of facts.
    pub struct FactList("FactList", open) {
        /// The facts.
        required facts: Vec<Fact> = "facts", "facts";
        /// The cursor of the next page; null on the last page.
        required_or_null next_cursor: String = "next_cursor", "cursor";
        /// The ids of facts that are left out because they are damaged.
        optional integrity_warnings: Vec<FactId> = "x-integrity_warnings", "fact-ids";
    }
}

message! {
    /// The result of an invalidation.
    pub struct InvalidatedFacts("InvalidatedFacts", open) {
        /// The number of facts that ended: 0 or 1.
        required invalidated: u64 = "invalidated", "count";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post("assert_fact", FACTS, "Asserts a fact.", assert)
            .needs(Need::Write)
            .query(IF_CHANGED, "Whether to write nothing if this value is current.")
            .query(IF_OUT_OF_ORDER, "What to do with a fact that begins before a known one.")
            .takes(Content::json::<FactAssertion>())
            .answers(201, "The fact is stored.", Content::json::<Fact>())
            .answers(200, "The fact existed, or the value is current.", Content::json::<Fact>())
            .refuses(&[
                Code::AgenticInvalidSchema,
                Code::AgenticDuplicateFactId,
                Code::AgenticFactOutOfOrder,
                Code::AgenticIntegrityError,
                Code::AgenticProjectNotFound,
                Code::AgenticProjectArchived,
                Code::XchainNotForWorkers,
            ]),
        Route::get(
            "facts",
            FACTS,
            "Lists facts: the current ones, those valid at a time, or all.",
            list,
        )
        .query(SUBJECT, "Only facts about this subject.")
        .query(PREDICATE, "Only facts of this predicate.")
        .query(AS_OF, "Facts that were valid at this time or on this day.")
        .query(AT, "The same as as_of.")
        .query(HISTORY, "Whether to include facts that have ended.")
        .query(FACT_LIMIT, "The most items.")
        .query(CURSOR, "`next_cursor` of the previous page.")
        .query(PAGE_TOKENS, PAGE_BUDGET)
        .answers(200, "The facts.", Content::json::<FactList>())
        .refuses(&[
            Code::AgenticInvalidSchema,
            Code::AgenticInvalidCursor,
            Code::AgenticProjectNotFound,
        ]),
        Route::new(
            "invalidate_fact",
            Method::DELETE,
            FACTS,
            "Ends the current fact of a subject and predicate.",
            invalidate,
        )
        .needs(Need::Write)
        .required_query(SUBJECT, "The subject of the fact.")
        .required_query(PREDICATE, "The predicate of the fact.")
        .query(OBJECT, "Only if this is the current value.")
        .query(OBJECT_VALUE, "The same as object.")
        .query(ACTOR, "The actor: its type, a colon and its id; default: the actor of the key.")
        .query(SESSION_ID, "The session of the actor; only with actor.")
        .answers(200, "The number of facts that ended.", Content::json::<InvalidatedFacts>())
        .refuses(&[
            Code::AgenticInvalidSchema,
            Code::AgenticProjectNotFound,
            Code::AgenticProjectArchived,
            Code::XchainNotForWorkers,
        ]),
        Route::get("fact", "/v1/facts/{fact_id}", "Reads one fact.", one)
            .query(PROJECT_ID, "The project; needed if several projects have a fact with this id.")
            .answers(200, "The fact.", Content::json::<Fact>())
            .refuses(&[
                Code::AgenticFactNotFound,
                Code::AgenticAmbiguousFactId,
                Code::AgenticIntegrityError,
            ]),
    ]
}

async fn assert(
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    query: Query,
    Document(sent): Document,
) -> Reply {
    let options = assert_options(&query.params()?)?;
    let asserted = (host.memory()).assert_fact(&caller, &project, &sent, options).await?;
    let mut fact = asserted.fact.encode();
    if !asserted.warnings.is_empty() {
        let warnings: Value = asserted.warnings.iter().map(Warning::encode).collect();
        fact["warnings"] = warnings;
    }
    let status = if asserted.new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(naming_new(json(status, fact.to_string()), asserted.new_project, &project))
}

async fn list(
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    let asked = FactQuery::parse(&query.params()?, &project)?;
    let page = host.memory().facts(&caller, &project, asked).await?;
    Ok(List::of("facts", &page))
}

async fn invalidate(
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    let asked = InvalidateQuery::parse(&query.params()?)?;
    let ended = (host.memory()).invalidate_fact(&caller, &project, asked).await?;
    let answer = serde_json::json!({ "invalidated": ended });
    Ok(json(StatusCode::OK, answer.to_string()))
}

async fn one(
    Context { host, caller, .. }: Context,
    PathId(id): PathId<FactId>,
    query: Query,
) -> Reply {
    let within = query.project()?;
    let fact = host.memory().fact(&caller, within, id).await?;
    Ok(json(StatusCode::OK, fact))
}
