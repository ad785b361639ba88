//! Removal of projects over HTTP.

use accord_base::{Need, ProjectId};
use accord_contract::codes::Code;
use accord_contract::envelope;
use accord_memory_core::project::ProjectContents;
use hyper::{Method, StatusCode};

use crate::http::Route;
use crate::http::reply::encoded;
use crate::http::routes::InProject;
use crate::http::{Context, Reply};
use accord_serving::alx_envelope;
use accord_serving::table::Content;

envelope! {
    /// A project that was removed.
    pub(crate) struct RemovedProjectEnvelope("RemovedProjectEnvelope") {
        /// The project's id.
        required project_id: ProjectId = "project_id", "project-id";
        /// What was removed with it.
        required removed: ProjectContents = "removed", "counts";
        /// The number of its last event. If the project is created again, its events continue
        /// after it.
        required last_event: u64 = "last_event", "sequence";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::new(
            "remove_project",
            Method::DELETE,
            "/accord/v1/projects/{project_id}",
            "Removes a project that was created with x-conformance: true, or that holds no \
             package, fact, session, blob, task or live session. Needs admin for all projects. The \
             numbers of its events are never used again.",
            remove,
        )
        .needs(Need::Admin)
        .answers(200, "The project is removed.", Content::json::<RemovedProjectEnvelope>())
        .refuses(&[
            Code::AgenticUnauthorized,
            Code::AgenticProjectNotFound,
            Code::AgenticProjectNotEmpty,
        ]),
    ]
}

async fn remove(
    Context { host, caller, correlation }: Context,
    InProject(project_id): InProject,
) -> Reply {
    let (trees, named) = (host.tasks().clone(), project_id.clone());
    let tasks = move || trees.count(&named);
    let removed = host.memory().remove_project(&caller, &project_id, tasks).await?;
    host.tasks().forget(&project_id);
    let envelope = alx_envelope!(
        correlation,
        RemovedProjectEnvelope {
            project_id,
            removed: removed.contents,
            last_event: removed.last_event,
        }
    );
    Ok(encoded(StatusCode::OK, &envelope))
}
