//! Task trees outside the data folder, over HTTP.

use std::path::PathBuf;

use accord_api::{Call, Json};
use accord_base::{ProjectId, Verb};
use accord_contract::Object;
use accord_serving::alx_envelope;
use accord_serving::operation::serve;
use accord_tasks_core::operations::{
    LinkTaskTree, ListTaskTrees, TaskTreeEnvelope, TaskTreeLink, TaskTreeListEnvelope,
    UnlinkTaskTree,
};

use crate::http::{Context, Correlation, Route};
use crate::tasks::links;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        serve(async |Context { host, caller, correlation }, _: Call<ListTaskTrees>| {
            caller.access().may_anywhere(Verb::Read)?;
            let linked = host.tasks().linked().into_iter();
            let covered = linked.filter(|(project, _)| caller.access().covers(project));
            let links = covered.map(|(project, folder)| described(project, Some(folder))).collect();
            Ok(Json(alx_envelope!(correlation, TaskTreeListEnvelope { links })))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<LinkTaskTree>| {
            let (project, folder) = (call.path.project, PathBuf::from(call.body.0.folder));
            // A path names any folder of the machine, so that a key for one project is not enough.
            caller.access().may(Verb::Admin, &project)?;
            let (memory, data) = (host.memory(), host.folder());
            let trees = host.tasks();
            let folder = links::record(trees, memory, &caller, data, &project, &folder).await?;
            Ok(envelope(&correlation, project, Some(folder)))
        }),
        serve(async |Context { host, caller, correlation }, call: Call<UnlinkTaskTree>| {
            let project = call.path.project;
            let (memory, data) = (host.memory(), host.folder());
            links::remove(host.tasks(), memory, &caller, data, &project).await?;
            Ok(envelope(&correlation, project, None))
        }),
    ]
}

fn envelope(
    correlation: &Correlation,
    project: ProjectId,
    folder: Option<PathBuf>,
) -> Json<TaskTreeEnvelope> {
    Json(alx_envelope!(correlation, TaskTreeEnvelope { link: described(project, folder) }))
}

fn described(project_id: ProjectId, folder: Option<PathBuf>) -> TaskTreeLink {
    let folder = folder.map(|folder| folder.to_string_lossy().into_owned());
    TaskTreeLink { project_id, folder, extra: Object::new() }
}
