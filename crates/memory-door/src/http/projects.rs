//! Projects: create, list, read, change, archive, restore.

use accord_api::{Call, Json};
use accord_memory_core::operations::{
    ArchiveProject, ChangeProject, CreateProject, ListProjects, ReadProject, UnarchiveProject,
};
use accord_memory_core::query::ProjectQuery;
use accord_serving::operation::{serve, serve_response};
use hyper::StatusCode;

use super::answer::List;
use crate::{Context, Exchange, Route};
use accord_serving::Reply;
use accord_serving::reply::encoded;

pub fn routes() -> Vec<Route> {
    vec![
        serve_response(list),
        serve_response(create),
        serve(|Context { host, caller, .. }, call: Call<ReadProject>| async move {
            Ok(Json(host.memory().project(&caller, &call.path.project).await?))
        }),
        serve_response(change),
        serve(|Context { host, caller, .. }, call: Call<ArchiveProject>| async move {
            Ok(Json(host.memory().archive(&caller, &call.path.project).await?))
        }),
        serve(|Context { host, caller, .. }, call: Call<UnarchiveProject>| async move {
            Ok(Json(host.memory().unarchive(&caller, &call.path.project).await?))
        }),
    ]
}

async fn list(asked: Exchange, call: Call<ListProjects>) -> Reply {
    let Context { host, caller, .. } = asked.context;
    let page = host.memory().projects(&caller, ProjectQuery::of(call.query)?).await?;
    Ok(List::of("projects", &page))
}

async fn create(asked: Exchange, _: Call<CreateProject>) -> Reply {
    let Context { host, caller, .. } = asked.context;
    let created = host.memory().create_project(&caller, &asked.body).await?;
    let status = if created.new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(encoded(status, &created.project))
}

async fn change(asked: Exchange, call: Call<ChangeProject>) -> Reply {
    let Context { host, caller, .. } = asked.context;
    let (memory, id) = (host.memory(), &call.path.project);
    Ok(encoded(StatusCode::OK, &memory.change_project(&caller, id, &asked.body).await?))
}
