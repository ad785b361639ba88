//! The tree of a project: its settings, the scheduler, its files.

use accord_base::Caller;
use accord_contract::codes::Code;
use accord_memory_core::query::Number;
use accord_tasks::requests::{AdoptRequest, InitRequest, LintRequest, PollRequest};
use accord_tasks_core::Door;
use axum::Extension;
use axum::extract::State;
use hyper::StatusCode;

use super::OF_CHANGES;
use super::answers::{
    TaskAdoptEnvelope, TaskInitEnvelope, TaskLintEnvelope, TaskPollEnvelope, respond,
};
use super::ask::{
    ABOUT_ACTOR, ABOUT_DOOR, ACTOR, DOOR, Who, check_project, in_tree, in_trees, request,
};
use crate::http::body::Document;
use crate::http::routes::{InProject, Query};
use crate::http::table::{Content, Route};
use crate::http::{Correlation, Host, Reply};
use crate::tasks::{Needs, SERVICE, TaskTrees, service};

const FINDINGS: Number = Number::new("limit", 1, 100_000).or(1_000);

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "init_tasks",
            "/accord/v1/projects/{project_id}/tasks/init",
            "Creates the tree of a project, or changes its settings. Needs admin; settings that \
             decide about the work of agents need a person.",
            init,
        )
        .query(ACTOR, ABOUT_ACTOR)
        .query(DOOR, ABOUT_DOOR)
        .may_take(Content::json::<InitRequest>())
        .answers(200, "The tree.", Content::json::<TaskInitEnvelope>())
        .refuses(OF_CHANGES)
        .refuses(&[Code::AofProjectMismatch]),
        Route::post(
            "adopt_task_settings",
            "/accord/v1/projects/{project_id}/tasks/adopt-settings",
            "A person takes over what `project.yaml` says about `apply` and `review`.",
            adopt,
        )
        .query(ACTOR, ABOUT_ACTOR)
        .query(DOOR, ABOUT_DOOR)
        .may_take(Content::json::<AdoptRequest>())
        .answers(200, "What changed.", Content::json::<TaskAdoptEnvelope>())
        .refuses(OF_CHANGES)
        .refuses(&[
            Code::AofNoTaskTree,
            Code::AofNothingToAdopt,
            Code::XchainEvidenceChanged,
        ]),
        Route::post(
            "poll_tasks",
            "/accord/v1/projects/{project_id}/tasks/poll",
            "Does everything that is due: recovers silent runs, promotes and blocks tasks. A poll \
             that finds nothing writes nothing.",
            poll,
        )
        .query(ACTOR, ABOUT_ACTOR)
        .query(DOOR, ABOUT_DOOR)
        .may_take(Content::json::<PollRequest>())
        .answers(200, "What moved.", Content::json::<TaskPollEnvelope>())
        .refuses(OF_CHANGES)
        .refuses(&[Code::AofNoTaskTree]),
        Route::get(
            "lint_tasks",
            "/accord/v1/projects/{project_id}/tasks/lint",
            "Checks every file of the tree, and changes nothing.",
            lint,
        )
        .query(FINDINGS, "The most findings; the others are counted.")
        .answers(200, "What is wrong.", Content::json::<TaskLintEnvelope>())
        .refuses(&[Code::AofNoTaskTree]),
    ]
}

async fn init(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    InProject(project): InProject,
    query: Query,
    document: Document,
) -> Reply {
    let who = Who::read(&caller, &query.params()?)?;
    let asked: InitRequest = request(&document)?;
    let by = who.acting(&caller, &project, Needs::Settings, None)?;
    check_project(&host, &project).await?;
    let init = move |trees: &TaskTrees| trees.init(&project, &asked, &by);
    let answer = in_trees(&host, init).await?;
    Ok(respond(StatusCode::OK, &correlation, answer))
}

async fn adopt(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    InProject(project): InProject,
    query: Query,
    document: Document,
) -> Reply {
    let who = Who::read(&caller, &query.params()?)?;
    let asked: AdoptRequest = request(&document)?;
    let by = who.acting(&caller, &project, Needs::Person, None)?;
    check_project(&host, &project).await?;
    let answer = in_tree(&host, &project, move |tree| tree.adopt_settings(&asked, &by)).await?;
    Ok(respond(StatusCode::OK, &correlation, answer))
}

async fn poll(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    InProject(project): InProject,
    query: Query,
    document: Document,
) -> Reply {
    let who = Who::read(&caller, &query.params()?)?;
    let asked: PollRequest = request(&document)?;
    let by = who.acting(&caller, &project, Needs::Write, Some(SERVICE))?;
    check_project(&host, &project).await?;
    let answer = in_tree(&host, &project, move |tree| tree.poll(&asked, &by)).await?;
    Ok(respond(StatusCode::OK, &correlation, answer))
}

async fn lint(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    caller.access().may(Needs::Read.verb(), &project)?;
    let mut asked = LintRequest::default();
    asked.limit = Some(FINDINGS.read_or_default(&query.params()?)?.into());
    let answer =
        in_tree(&host, &project, move |tree| tree.lint(&asked, &service(Door::Http))).await?;
    Ok(respond(StatusCode::OK, &correlation, answer))
}
