//! Sessions: start, end, list, read.

use accord_api::{Call, Json};
use accord_contract::Wire as _;
use accord_memory_core::operations::{EndSession, ListSessions, ReadSession, StartSession};
use accord_memory_core::query::SessionQuery;
use accord_serving::operation::{serve, serve_response};
use hyper::StatusCode;

use super::answer::List;
use crate::{Context, Exchange, Route};
use accord_serving::Reply;
use accord_serving::reply::{encoded, json, naming_new};

pub fn routes() -> Vec<Route> {
    vec![
        serve_response(start),
        serve_response(list),
        serve(|Context { host, caller, .. }, call: Call<ReadSession>| async move {
            let (within, id) = (call.query.project, call.path.session);
            Ok(Json(host.memory().session(&caller, within, id).await?))
        }),
        serve_response(end),
    ]
}

async fn start(asked: Exchange, call: Call<StartSession>) -> Reply {
    let (Context { host, caller, .. }, project) = (asked.context, call.path.project);
    let started = host.memory().start_session(&caller, &project, &asked.body).await?;
    let response = json(StatusCode::CREATED, started.session.encode().to_string());
    Ok(naming_new(response, started.new_project, &project))
}

async fn list(asked: Exchange, call: Call<ListSessions>) -> Reply {
    let (Context { host, caller, .. }, project) = (asked.context, call.path.project);
    let asked = SessionQuery::of(call.query, &project)?;
    Ok(List::of("sessions", &host.memory().sessions(&caller, &project, asked).await?))
}

async fn end(asked: Exchange, call: Call<EndSession>) -> Reply {
    let Context { host, caller, .. } = asked.context;
    let (within, id) = (call.query.project, call.path.session);
    let session = host.memory().end_session(&caller, within, id, &asked.body).await?;
    Ok(encoded(StatusCode::OK, &session))
}
