//! Task trees outside the data folder.

use accord_api::{Json, Need, operation};
use accord_base::ProjectId;
use accord_contract::{Code, Limits, TextForm, envelope, message};

use super::InProject;

/// The tree of one project.
const TREE: &str = "/accord/v1/projects/{project_id}/task-tree";

message! {
    /// A folder to link.
    pub struct TaskTreeRequest("TaskTreeRequest", open) {
        /// The folder with the task tree, on the machine of the server.
        required folder: String = "folder", "path", Limits::text(TextForm::ANY.not_empty());
    }

    /// A folder that is linked to a project.
    pub struct TaskTreeLink("TaskTreeLink", open) {
        /// The project.
        required project_id: ProjectId = "project_id", "project-id";
        /// The folder; null if the project's tasks are in the data folder.
        required_or_null folder: String = "folder", "path";
    }
}

envelope! {
    /// The folder of a project's tasks.
    pub struct TaskTreeEnvelope("TaskTreeEnvelope") {
        /// The link.
        required link: TaskTreeLink = "link", "task-tree";
    }

    /// All linked folders.
    pub struct TaskTreeListEnvelope("TaskTreeListEnvelope") {
        /// The links, by project.
        required links: Vec<TaskTreeLink> = "links", "task-trees";
    }
}

operation! {
    /// Lists the folders with tasks that are linked to projects.
    pub struct ListTaskTrees("task_trees", Get "/accord/v1/task-trees") of Agentic {
        needs Need::Read;
        answers 200 "The links.", Json<TaskTreeListEnvelope>;
        refuses [&[Code::AccessDenied]];
    }

    /// Links a folder with a task tree, such as one in a repository, to a project. The server
    /// schedules its tasks and takes its events over into the project's stream.
    pub struct LinkTaskTree("link_task_tree", Put TREE) of Agentic {
        path InProject;
        body Json<TaskTreeRequest>;
        needs Need::Admin;
        answers 200 "The folder is linked.", Json<TaskTreeEnvelope>;
        refuses [&[Code::NotForWorkers], &[
            Code::AccessDenied,
            Code::AgenticProjectNotFound,
            Code::AofNoTaskTree,
            Code::AofTaskTreeOfAnotherProject,
            Code::AofTaskTreeOfAnotherHost,
            Code::AofTaskTreeUnavailable,
        ]];
    }

    /// Removes the link of a project to a folder. The files stay where they are.
    pub struct UnlinkTaskTree("unlink_task_tree", Delete TREE) of Agentic {
        path InProject;
        needs Need::Admin;
        answers 200 "There is no link.", Json<TaskTreeEnvelope>;
        refuses [&[Code::NotForWorkers], &[Code::AccessDenied, Code::AgenticProjectNotFound]];
    }
}
