//! Projects: create, list, read, change, archive, restore.

use accord_api::parameter::{CURSOR, Flag, Number, Opaque};
use accord_api::{Json, Need, Verbatim, operation, params};
use accord_contract::{Code, message};

use super::{InProject, at_project};
use crate::ProjectId;
use crate::project::{Project, ProjectChange, ProjectRequest};
use crate::query::{INCLUDE_ARCHIVED, LIST_LIMIT, PAGE_TOKENS};

params! {
    /// Which projects are listed.
    #[derive(Default)]
    pub struct ProjectParams {
        /// Whether to include archived projects.
        flag include_archived: Flag = INCLUDE_ARCHIVED;
        /// The most items.
        optional limit: Number = LIST_LIMIT;
        /// `next_cursor` of the previous page.
        optional cursor: Opaque = CURSOR;
        /// The most tokens of the page. It ends before the first item that does not fit.
        /// `x-remaining` counts what follows, and `x-too_large` has id, title and size of items
        /// that no page of this budget can hold.
        optional max_tokens: Number = PAGE_TOKENS;
    }
}

message! {
    /// A page of projects.
    pub struct ProjectList("ProjectList", open) {
        /// The projects.
        required projects: Vec<Project> = "projects", "projects";
        /// The cursor of the next page; null on the last page.
        required_or_null next_cursor: String = "next_cursor", "cursor";
        /// The ids of projects that are left out because they are damaged.
        optional integrity_warnings: Vec<ProjectId> = "x-integrity_warnings", "project-ids";
    }
}

operation! {
    /// Lists projects, by their ids.
    pub struct ListProjects("projects", Get "/v1/projects") of Agentic {
        query ProjectParams;
        needs Need::Read;
        answers 200 "The projects.", Json<ProjectList>;
        refuses [&[Code::AgenticInvalidSchema, Code::AgenticInvalidCursor]];
    }

    /// Creates a project.
    pub struct CreateProject("create_project", Post "/v1/projects") of Agentic {
        body Verbatim<ProjectRequest>;
        needs Need::Create;
        answers 201 "The project is created.", Json<Project>;
        also 200 "The project existed.";
        refuses [&[
            Code::NotForWorkers,
            Code::AgenticInvalidSchema,
            Code::AgenticDuplicateProjectId,
        ]];
    }

    /// Reads one project.
    pub struct ReadProject("project", Get at_project!("")) of Agentic {
        path InProject;
        needs Need::Read;
        answers 200 "The project.", Json<Project>;
        refuses [&[Code::AgenticProjectNotFound, Code::AgenticIntegrityError]];
    }

    /// Changes the name or the description of a project.
    pub struct ChangeProject("change_project", Patch at_project!("")) of Agentic {
        path InProject;
        body Verbatim<ProjectChange>;
        needs Need::Admin;
        answers 200 "The updated project.", Json<Project>;
        refuses [&[Code::NotForWorkers], &[Code::AgenticInvalidSchema, Code::AgenticProjectNotFound,
            Code::AgenticProjectArchived]];
    }

    /// Archives a project, which refuses writes from then on.
    pub struct ArchiveProject("archive", Post at_project!("/archive")) of Agentic {
        path InProject;
        needs Need::Admin;
        answers 200 "The updated project.", Json<Project>;
        refuses [&[Code::NotForWorkers], &[Code::AgenticProjectNotFound]];
    }

    /// Restores an archived project.
    pub struct UnarchiveProject("unarchive", Post at_project!("/unarchive")) of Agentic {
        path InProject;
        needs Need::Admin;
        answers 200 "The updated project.", Json<Project>;
        refuses [&[Code::NotForWorkers], &[Code::AgenticProjectNotFound]];
    }
}
