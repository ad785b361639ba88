//! Projects: create, list, read, change, archive, restore.

use accord_base::{Need, ProjectId};
use accord_contract::codes::Code;
use accord_contract::message;
use accord_contract::wire::Wire as _;
use accord_memory_core::project::{Project, ProjectChange, ProjectRequest};
use accord_memory_core::query::{CURSOR, INCLUDE_ARCHIVED, LIST_LIMIT, PAGE_TOKENS, ProjectQuery};
use axum::response::Response;
use hyper::{Method, StatusCode};

use super::answer::{List, PAGE_BUDGET};
use super::{InProject, Query};
use crate::http::Route;
use crate::http::body::Document;
use crate::http::reply::json;
use crate::http::{Context, Reply};
use accord_serving::table::Content;

/// One project.
const PROJECT: &str = "/v1/projects/{project_id}";

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

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("projects", "/v1/projects", "Lists projects, by their ids.", list)
            .query(INCLUDE_ARCHIVED, "Whether to include archived projects.")
            .query(LIST_LIMIT, "The most items.")
            .query(CURSOR, "`next_cursor` of the previous page.")
            .query(PAGE_TOKENS, PAGE_BUDGET)
            .answers(200, "The projects.", Content::json::<ProjectList>())
            .refuses(&[Code::AgenticInvalidSchema, Code::AgenticInvalidCursor]),
        Route::post("create_project", "/v1/projects", "Creates a project.", create)
            .needs(Need::Admin)
            .takes(Content::json::<ProjectRequest>())
            .answers(201, "The project is created.", Content::json::<Project>())
            .answers(200, "The project existed.", Content::json::<Project>())
            .refuses(&[Code::AgenticInvalidSchema, Code::AgenticDuplicateProjectId]),
        Route::get("project", PROJECT, "Reads one project.", one)
            .answers(200, "The project.", Content::json::<Project>())
            .refuses(&[Code::AgenticProjectNotFound, Code::AgenticIntegrityError]),
        Route::new(
            "change_project",
            Method::PATCH,
            PROJECT,
            "Changes the name or the description of a project.",
            change,
        )
        .needs(Need::Admin)
        .takes(Content::json::<ProjectChange>())
        .answers(200, "The updated project.", Content::json::<Project>())
        .refuses(&[
            Code::AgenticInvalidSchema,
            Code::AgenticProjectNotFound,
            Code::AgenticProjectArchived,
        ]),
        Route::post(
            "archive",
            "/v1/projects/{project_id}/archive",
            "Archives a project, which refuses writes from then on.",
            archive,
        )
        .needs(Need::Admin)
        .answers(200, "The updated project.", Content::json::<Project>())
        .refuses(&[Code::AgenticProjectNotFound]),
        Route::post(
            "unarchive",
            "/v1/projects/{project_id}/unarchive",
            "Restores an archived project.",
            unarchive,
        )
        .needs(Need::Admin)
        .answers(200, "The updated project.", Content::json::<Project>())
        .refuses(&[Code::AgenticProjectNotFound]),
    ]
}

async fn list(Context { host, caller, .. }: Context, query: Query) -> Reply {
    let asked = ProjectQuery::parse(&query.params()?)?;
    let page = host.memory().projects(&caller, asked).await?;
    Ok(List::of("projects", &page))
}

async fn create(Context { host, caller, .. }: Context, Document(sent): Document) -> Reply {
    let created = host.memory().create_project(&caller, &sent).await?;
    let status = if created.new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(json(status, created.project.encode().to_string()))
}

async fn one(Context { host, caller, .. }: Context, InProject(id): InProject) -> Reply {
    Ok(document(&host.memory().project(&caller, &id).await?))
}

async fn change(
    Context { host, caller, .. }: Context,
    InProject(id): InProject,
    Document(sent): Document,
) -> Reply {
    let changed = host.memory().change_project(&caller, &id, &sent).await?;
    Ok(document(&changed))
}

async fn archive(Context { host, caller, .. }: Context, InProject(id): InProject) -> Reply {
    Ok(document(&host.memory().archive(&caller, &id).await?))
}

async fn unarchive(Context { host, caller, .. }: Context, InProject(id): InProject) -> Reply {
    Ok(document(&host.memory().unarchive(&caller, &id).await?))
}

fn document(project: &Project) -> Response {
    json(StatusCode::OK, project.encode().to_string())
}
