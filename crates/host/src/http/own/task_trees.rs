//! Task trees outside the data folder, over HTTP.

use std::path::PathBuf;

use accord_base::{Need, ProjectId, Verb};
use accord_contract::codes::Code;
use accord_contract::wire::{Limits, Object, TextForm};
use accord_contract::{envelope, message};
use hyper::{Method, StatusCode};

use crate::http::Route;
use crate::http::body::Document;
use crate::http::reply::encoded;
use crate::http::routes::InProject;
use crate::http::{Context, Correlation, Reply};
use crate::tasks::links;
use accord_serving::alx_envelope;
use accord_serving::table::Content;

/// The tree of one project.
const TREE: &str = "/accord/v1/projects/{project_id}/task-tree";

message! {
    /// A folder to link.
    pub(crate) struct TaskTreeRequest("TaskTreeRequest", open) {
        /// The folder with the task tree, on the machine of the server.
        required folder: String = "folder", "path", Limits::text(TextForm::ANY.not_empty());
    }
}

message! {
    /// A folder that is linked to a project.
    pub(crate) struct TaskTreeLink("TaskTreeLink", open) {
        /// The project.
        required project_id: ProjectId = "project_id", "project-id";
        /// The folder; null if the project's tasks are in the data folder.
        required_or_null folder: String = "folder", "path";
    }
}

envelope! {
    /// The folder of a project's tasks.
    pub(crate) struct TaskTreeEnvelope("TaskTreeEnvelope") {
        /// The link.
        required link: TaskTreeLink = "link", "task-tree";
    }
}

envelope! {
    /// All linked folders.
    pub(crate) struct TaskTreeListEnvelope("TaskTreeListEnvelope") {
        /// The links, by project.
        required links: Vec<TaskTreeLink> = "links", "task-trees";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "task_trees",
            "/accord/v1/task-trees",
            "Lists the folders with tasks that are linked to projects.",
            list,
        )
        .answers(200, "The links.", Content::json::<TaskTreeListEnvelope>())
        .refuses(&[Code::AgenticUnauthorized]),
        Route::new(
            "link_task_tree",
            Method::PUT,
            TREE,
            "Links a folder with a task tree, such as one in a repository, to a project. The \
             server schedules its tasks and takes its events over into the project's stream.",
            link,
        )
        .needs(Need::Admin)
        .takes(Content::json::<TaskTreeRequest>())
        .answers(200, "The folder is linked.", Content::json::<TaskTreeEnvelope>())
        .refuses(&[
            Code::AgenticUnauthorized,
            Code::AgenticProjectNotFound,
            Code::AofNoTaskTree,
            Code::AofTaskTreeOfAnotherProject,
            Code::AofTaskTreeOfAnotherHost,
            Code::AofTaskTreeUnavailable,
        ]),
        Route::new(
            "unlink_task_tree",
            Method::DELETE,
            TREE,
            "Removes the link of a project to a folder. The files stay where they are.",
            unlink,
        )
        .needs(Need::Admin)
        .answers(200, "There is no link.", Content::json::<TaskTreeEnvelope>())
        .refuses(&[Code::AgenticUnauthorized, Code::AgenticProjectNotFound]),
    ]
}

async fn list(Context { host, caller, correlation }: Context) -> Reply {
    caller.access().may_anywhere(Verb::Read)?;
    let linked = host.tasks().linked().into_iter();
    let covered = linked.filter(|(project, _)| caller.access().covers(project));
    let envelope = alx_envelope!(
        correlation,
        TaskTreeListEnvelope {
            links: covered.map(|(project, folder)| described(project, Some(folder))).collect(),
        }
    );
    Ok(encoded(StatusCode::OK, &envelope))
}

async fn link(
    Context { host, caller, correlation }: Context,
    InProject(project): InProject,
    document: Document,
) -> Reply {
    let request: TaskTreeRequest = document.read()?;
    // A path names any folder of the machine, so that a key for one project is not enough.
    caller.access().may(Verb::Admin, &project)?;
    let folder = PathBuf::from(request.folder);
    let (memory, data) = (host.memory(), host.folder());
    let folder = links::record(host.tasks(), memory, &caller, data, &project, &folder).await?;
    Ok(answer(&correlation, project, Some(folder)))
}

async fn unlink(
    Context { host, caller, correlation }: Context,
    InProject(project): InProject,
) -> Reply {
    let (memory, data) = (host.memory(), host.folder());
    links::remove(host.tasks(), memory, &caller, data, &project).await?;
    Ok(answer(&correlation, project, None))
}

fn answer(
    correlation: &Correlation,
    project: ProjectId,
    folder: Option<PathBuf>,
) -> crate::Response {
    let envelope =
        alx_envelope!(correlation, TaskTreeEnvelope { link: described(project, folder) });
    encoded(StatusCode::OK, &envelope)
}

fn described(project_id: ProjectId, folder: Option<PathBuf>) -> TaskTreeLink {
    let folder = folder.map(|folder| folder.to_string_lossy().into_owned());
    TaskTreeLink { project_id, folder, extra: Object::new() }
}
