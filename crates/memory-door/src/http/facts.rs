//! Facts: assert, invalidate, list, read.

use accord_api::{Call, Json};
use accord_contract::{Object, Wire as _};
use accord_memory_core::fact::AssertOptions;
use accord_memory_core::operations::{
    AssertFact, InvalidateFact, InvalidatedFacts, ListFacts, ReadFact, WriteHeaders,
};
use accord_memory_core::query::FactQuery;
use accord_memory_core::{WARNINGS, Warning};
use accord_serving::operation::{serve, serve_response};
use hyper::StatusCode;

use super::answer::{List, warning_apart};
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
    let WriteHeaders { allow_credentials, complete_ids } = super::write_headers(&asked.headers)?;
    let sent = match complete_ids {
        true => host.memory().with_whole_ids(&caller, &project, asked.body).await?,
        false => asked.body,
    };
    let options = AssertOptions { allow_credentials, ..call.query.into() };
    let asserted = host.memory().assert_fact(&caller, &project, &sent, options).await?;
    let mut fact = asserted.fact.encode();
    // A fact can have a member of this name, which stays as it was sent.
    let apart = fact.get(WARNINGS).is_some().then_some(asserted.warnings.as_slice());
    if apart.is_none() && !asserted.warnings.is_empty() {
        fact[WARNINGS] = asserted.warnings.iter().map(Warning::encode).collect();
    }
    let status = if asserted.new { StatusCode::CREATED } else { StatusCode::OK };
    let response = warning_apart(json(status, fact.to_string()), apart);
    Ok(naming_new(response, asserted.new_project, &project))
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
