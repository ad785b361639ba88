//! Removal of projects over HTTP.

use accord_base::{Caller, ProjectId};
use accord_contract::alx::{Capabilities, ProtocolInfo};
use accord_contract::codes::Code;
use accord_contract::envelope;
use accord_contract::wire::{Object, True, Wire as _};
use accord_memory_core::project::ProjectContents;
use axum::Extension;
use axum::extract::State;
use hyper::{Method, StatusCode};

use crate::http::reply::json;
use crate::http::routes::InProject;
use crate::http::table::{Content, Route};
use crate::http::{Correlation, Host, Reply};

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

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(
            "remove_project",
            Method::DELETE,
            "/accord/v1/projects/{project_id}",
            "Removes a project that was created with x-conformance: true, or that holds no \
             package, fact, session, blob or task. Needs admin for all projects. The numbers of \
             its events are never used again.",
            remove,
        )
        .answers(200, "The project is removed.", Content::json::<RemovedProjectEnvelope>())
        .refuses(&[
            Code::AgenticUnauthorized,
            Code::AgenticProjectNotFound,
            Code::AgenticProjectNotEmpty,
        ]),
    ]
}

async fn remove(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    InProject(project_id): InProject,
) -> Reply {
    let (trees, named) = (host.tasks().clone(), project_id.clone());
    let tasks = move || trees.count(&named);
    let removed = host.memory().remove_project(&caller, &project_id, tasks).await?;
    host.tasks().forget(&project_id);
    let envelope = RemovedProjectEnvelope {
        ok: True,
        correlation_id: correlation.as_str().into(),
        protocol: ProtocolInfo::ours(Capabilities::new()),
        project_id,
        removed: removed.contents,
        last_event: removed.last_event,
        extra: Object::new(),
    };
    Ok(json(StatusCode::OK, envelope.encode().to_string()))
}
