//! Facts: assert, invalidate, list, read.

use accord_api::{Call, Json};
use accord_contract::{Object, Wire as _};
use accord_memory_core::Warning;
use accord_memory_core::fact::AssertOptions;
use accord_memory_core::operations::{
    AssertFact, InvalidateFact, InvalidatedFacts, ListFacts, ReadFact,
};
use accord_memory_core::query::FactQuery;
use accord_serving::operation::{serve, serve_response};
use hyper::StatusCode;

use super::answer::List;
use crate::{Context, Exchange, Route};
use accord_serving::Reply;
use accord_serving::reply::{json, naming_new};

pub fn routes() -> Vec<Route> {
    vec![
        serve_response(assert),
        serve_response(list),
        serve(|Context { host, caller, .. }, call: Call<InvalidateFact>| async move {
            let (memory, project) = (host.memory(), &call.path.project);
            let invalidated = memory.invalidate_fact(&caller, project, call.query).await?;
            Ok(Json(InvalidatedFacts { invalidated, extra: Object::new() }))
        }),
        serve_response(one),
    ]
}

async fn assert(asked: Exchange, call: Call<AssertFact>) -> Reply {
    let (Context { host, caller, .. }, project) = (asked.context, call.path.project);
    let allow_credentials = super::allow_credentials(&asked.headers)?;
    let options = AssertOptions { allow_credentials, ..call.query.into() };
    let asserted = host.memory().assert_fact(&caller, &project, &asked.body, options).await?;
    let mut fact = asserted.fact.encode();
    if !asserted.warnings.is_empty() {
        fact["warnings"] = asserted.warnings.iter().map(Warning::encode).collect();
    }
    let status = if asserted.new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(naming_new(json(status, fact.to_string()), asserted.new_project, &project))
}

async fn list(asked: Exchange, call: Call<ListFacts>) -> Reply {
    let (Context { host, caller, .. }, project) = (asked.context, call.path.project);
    let asked = FactQuery::of(call.query, &project)?;
    Ok(List::of("facts", &host.memory().facts(&caller, &project, asked).await?))
}

async fn one(asked: Exchange, call: Call<ReadFact>) -> Reply {
    let Context { host, caller, .. } = asked.context;
    let fact = host.memory().fact(&caller, call.query.project, call.path.fact).await?;
    Ok(json(StatusCode::OK, fact))
}
