//! Removal of projects.

use accord_api::{Json, Need, operation};
use accord_base::ProjectId;
use accord_contract::{Code, envelope};

use super::InProject;
use crate::project::ProjectContents;

envelope! {
    /// A project that was removed.
    pub struct RemovedProjectEnvelope("RemovedProjectEnvelope") {
        /// The project's id.
        required project_id: ProjectId = "project_id", "project-id";
        /// What was removed with it.
        required removed: ProjectContents = "removed", "counts";
        /// The number of its last event. If the project is created again, its events continue
        /// after it.
        required last_event: u64 = "last_event", "sequence";
    }
}

operation! {
    /// Removes a project that was created with x-conformance: true, or that holds no package,
    /// fact, session, blob, task, live session or decision. Needs admin for all projects. The
    /// numbers of its events are never used again.
    pub struct RemoveProject("remove_project", Delete "/accord/v1/projects/{project_id}")
        of Agentic
    {
        path InProject;
        needs Need::Admin;
        answers 200 "The project is removed.", Json<RemovedProjectEnvelope>;
        refuses [&[
            Code::NotForWorkers,
            Code::AccessDenied,
            Code::AgenticProjectNotFound,
            Code::AgenticProjectNotEmpty,
        ]];
    }
}
