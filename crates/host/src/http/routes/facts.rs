//! Facts: assert, invalidate, list, read.

use accord_base::Caller;
use accord_contract::codes::Code;
use accord_contract::message;
use accord_contract::wire::{Value, Wire as _};
use accord_memory_core::fact::{Fact, FactAssertion};
use accord_memory_core::query::{FactQuery, InvalidateQuery, assert_options};
use accord_memory_core::{FactId, Warning};
use axum::Extension;
use axum::extract::State;
use hyper::{Method, StatusCode};

use super::answer::List;
use super::{InProject, Named, Query};
use crate::http::body::Document;
use crate::http::reply::json;
use crate::http::table::{Content, Route};
use crate::http::{Host, Reply};

/// The facts of a project.
const FACTS: &str = "/v1/projects/{project_id}/facts";

message! {
    /// A page of facts.
    pub struct FactList("FactList", open) {
        /// The facts.
        required facts: Vec<Fact> = "facts", "facts";
        /// Where the list goes on; null at its end.
        required_or_null next_cursor: String = "next_cursor", "cursor";
    }
}

message! {
    /// How many facts ended.
    pub struct InvalidatedFacts("InvalidatedFacts", open) {
        /// How many facts ended: one or none.
        required invalidated: u64 = "invalidated", "count";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post("assert_fact", FACTS, "Asserts a fact.", assert)
            .query("if_changed", "true: nothing is written where the value holds already.")
            .query("if_out_of_order", "insert (where it does not say) or reject a fact that begins before one that is known.")
            .takes(Content::json::<FactAssertion>())
            .answers(201, "The fact is stored.", Content::json::<Fact>())
            .answers(200, "The fact was there, or holds already.", Content::json::<Fact>())
            .refuses(&[
                Code::AgenticInvalidSchema,
                Code::AgenticDuplicateFactId,
                Code::AgenticFactOutOfOrder,
                Code::AgenticProjectArchived,
            ]),
        Route::get("facts", FACTS, "Lists facts: the current ones, those of a moment, or all that ever were.", list)
            .query("subject", "Only facts about this subject.")
            .query("predicate", "Only facts of this predicate.")
            .query("as_of", "Those that held at this moment or on this day.")
            .query("at", "The same as as_of.")
            .query("history", "true: all that ever were.")
            .query("limit", "At most so many, from 1 to 1000; 100 where it does not say.")
            .query("cursor", "Where the page before ended.")
            .answers(200, "The facts.", Content::json::<FactList>())
            .refuses(&[
                Code::AgenticInvalidSchema,
                Code::AgenticInvalidCursor,
                Code::AgenticProjectNotFound,
            ]),
        Route::new("invalidate_fact", Method::DELETE, FACTS, "Ends the current fact of a subject and predicate.", invalidate)
            .demanded("subject", "What the fact is about.")
            .demanded("predicate", "Which property of it.")
            .query("object", "Only a fact of this value.")
            .query("value", "The same as object.")
        .query("actor", "Who says so, as agent:planner; the actor of the key where it does not say.")
        .query("session_id", "The session in which that actor does it.")
            .answers(200, "How many facts ended.", Content::json::<InvalidatedFacts>())
            .refuses(&[
                Code::AgenticInvalidSchema,
                Code::AgenticProjectNotFound,
                Code::AgenticProjectArchived,
            ]),
        Route::get("fact", "/v1/facts/{fact_id}", "Reads one fact.", one)
            .query("project_id", "The project, where several have a fact of this id.")
            .answers(200, "The fact.", Content::json::<Fact>())
            .refuses(&[
                Code::AgenticFactNotFound,
                Code::AgenticAmbiguousFactId,
                Code::AgenticIntegrityError,
            ]),
    ]
}

async fn assert(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    InProject(project): InProject,
    query: Query,
    Document(sent): Document,
) -> Reply {
    let options = assert_options(&query.params()?)?;
    let asserted = (host.memory())
        .assert_fact(&caller, &project, &sent, options)
        .await?;
    let mut fact = asserted.fact.encode();
    if !asserted.warnings.is_empty() {
        let warnings: Value = asserted.warnings.iter().map(Warning::encode).collect();
        fact["warnings"] = warnings;
    }
    let status = match asserted.new {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    Ok(json(status, fact.to_string()))
}

async fn list(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    let asked = FactQuery::parse(&query.params()?, &project)?;
    let page = host.memory().facts(&caller, &project, asked).await?;
    Ok(List::of("facts", &page))
}

async fn invalidate(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    let asked = InvalidateQuery::parse(&query.params()?)?;
    let ended = (host.memory())
        .invalidate_fact(&caller, &project, asked)
        .await?;
    let answer = serde_json::json!({ "invalidated": ended });
    Ok(json(StatusCode::OK, answer.to_string()))
}

async fn one(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Named(id): Named<FactId>,
    query: Query,
) -> Reply {
    let within = query.project()?;
    let fact = host.memory().fact(&caller, within, id).await?;
    Ok(json(StatusCode::OK, fact))
}
