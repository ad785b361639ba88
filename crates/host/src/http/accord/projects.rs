//! Removal of projects over HTTP.

use accord_api::{Call, Json};
use accord_memory_core::operations::{RemoveProject, RemovedProjectEnvelope};
use accord_serving::alx_envelope;
use accord_serving::operation::serve;

use crate::http::{Context, Route};

pub(crate) fn routes() -> Vec<Route> {
    vec![serve(async |Context { host, caller, correlation }, call: Call<RemoveProject>| {
        let project_id = call.path.project;
        let (trees, named) = (host.tasks().clone(), project_id.clone());
        let tasks = move || trees.count(&named);
        let removed = host.memory().remove_project(&caller, &project_id, tasks).await?;
        host.tasks().forget(&project_id);
        let (removed, last_event) = (removed.contents, removed.last_event);
        Ok(Json(alx_envelope!(
            correlation,
            RemovedProjectEnvelope { project_id, removed, last_event }
        )))
    })]
}
