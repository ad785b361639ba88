//! Changes of tasks: create, edit, dependencies, and the verbs of agents and people.

use accord_base::Caller;
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Message;
use accord_tasks::Tree;
use accord_tasks::answers::TaskAnswer;
use accord_tasks::requests::{
    AdoptRequest, ApproveRequest, BlockRequest, CancelRequest, CloseRequest, CreateRequest,
    DependencyRequest, EditRequest, PromoteRequest, ReleaseRequest, ResurrectRequest,
    SendBackRequest, UnblockRequest,
};
use accord_tasks_core::By;
use axum::Extension;
use axum::extract::State;
use hyper::{Method, StatusCode};

use super::answers::{Enveloped, TaskEnvelope, respond};
use super::ask::{
    ABOUT_ACTOR, ABOUT_DOOR, ACTOR, DOOR, InTask, Who, check_project, in_tree, in_trees, request,
};
use super::{OF_CHANGES, OF_TASK, TASKS};
use crate::http::body::Document;
use crate::http::routes::{InProject, Query};
use crate::http::table::{Content, Route};
use crate::http::{Correlation, Host, Reply};
use crate::tasks::{Needs, TaskTrees};

/// One task.
const TASK: &str = "/accord/v1/projects/{project_id}/tasks/{task_id}";

/// The dependencies of a task.
const DEPENDENCIES: &str = "/accord/v1/projects/{project_id}/tasks/{task_id}/dependencies";

/// One dependency of a task.
const DEPENDENCY: &str =
    "/accord/v1/projects/{project_id}/tasks/{task_id}/dependencies/{blocker_id}";

/// The path of a verb on a task.
macro_rules! verb {
    ($verb:literal) => {
        concat!("/accord/v1/projects/{project_id}/tasks/{task_id}/", $verb)
    };
}
pub(super) use verb;

pub(super) fn routes() -> Vec<Route> {
    let mut routes = vec![
        Route::post(
            "create_task",
            TASKS,
            "Creates a task. The first task of a project creates its tree.",
            create,
        )
        .query(ACTOR, ABOUT_ACTOR)
        .query(DOOR, ABOUT_DOOR)
        .takes(Content::json::<CreateRequest>())
        .answers(201, "The task.", Content::json::<TaskEnvelope>())
        .refuses(OF_CHANGES)
        .refuses(&[
            Code::AofParentNotFound,
            Code::AofAmbiguousTaskId,
            Code::AofDependencyNotFound,
            Code::AofDependencyCycle,
            Code::AofTaskIdsExhausted,
        ]),
        edit(),
        Change::<DependencyRequest, TaskAnswer> {
            name: "add_dependency",
            method: Method::POST,
            path: DEPENDENCIES,
            summary: "Makes a task wait for another one.",
            needs: Needs::Write,
            is_bodiless: false,
            refuses: &[
                Code::AofUnauthorizedAgent,
                Code::AofTaskFinished,
                Code::AofDependencyNotFound,
                Code::AofDependencyCycle,
            ],
            run: |tree, task, request, by| tree.add_dependency(task, request, by),
        }
        .route(),
        Route::new(
            "remove_dependency",
            Method::DELETE,
            DEPENDENCY,
            "Ends that a task waits for another one.",
            remove_dependency,
        )
        .query(ACTOR, ABOUT_ACTOR)
        .query(DOOR, ABOUT_DOOR)
        .answers(200, "The task.", Content::json::<TaskEnvelope>())
        .refuses(OF_CHANGES)
        .refuses(OF_TASK)
        .refuses(&[
            Code::AofUnauthorizedAgent,
            Code::AofTaskFinished,
            Code::AofDependencyNotFound,
        ]),
    ];
    routes.extend(of_agents());
    routes.extend(of_people());
    routes
}

fn edit() -> Route {
    Change::<EditRequest, TaskAnswer> {
        name: "edit_task",
        method: Method::PATCH,
        path: TASK,
        summary: "Changes what a task says. A member that is absent stays as it is; null removes \
                  it.",
        needs: Needs::Write,
        is_bodiless: false,
        refuses: &[Code::AofUnauthorizedAgent, Code::AofTaskFinished, Code::XchainEvidenceChanged],
        run: |tree, task, request, by| tree.edit(task, request, by),
    }
    .route()
}

/// Verbs of the agent that has the task, and of people.
fn of_agents() -> Vec<Route> {
    let verb = |name, path, summary, is_bodiless, refuses| Verb {
        name,
        path,
        summary,
        needs: Needs::Write,
        is_bodiless,
        refuses,
    };
    const REFUSES: &[Code] = &[Code::AofUnauthorizedAgent, Code::AofInvalidTaskTransition];
    vec![
        verb(
            "block_task",
            verb!("block"),
            "Blocks a task, with a reason. Its lease ends.",
            false,
            REFUSES,
        )
        .route::<BlockRequest, _>(|tree, task, request, by| tree.block(task, request, by)),
        verb("unblock_task", verb!("unblock"), "Makes a blocked task ready again.", true, REFUSES)
            .route::<UnblockRequest, _>(|tree, task, request, by| tree.unblock(task, request, by)),
        verb(
            "promote_task",
            verb!("promote"),
            "Makes a task of the backlog ready. Only a person can force it while the task waits \
             for others.",
            true,
            &[Code::AofUnauthorizedAgent, Code::AofInvalidTaskTransition, Code::AofDependencyUnmet],
        )
        .route::<PromoteRequest, _>(|tree, task, request, by| tree.promote(task, request, by)),
        verb(
            "release_task",
            verb!("release"),
            "Gives a task back: its lease ends, and it is ready for another claim.",
            true,
            &[Code::AofUnassignedTask, Code::AofUnauthorizedAgent, Code::AofStaleRun],
        )
        .route::<ReleaseRequest, _>(|tree, task, request, by| tree.release(task, request, by)),
    ]
}

/// Verbs of people.
fn of_people() -> Vec<Route> {
    let verb = |name, path, summary, is_bodiless, refuses| Verb {
        name,
        path,
        summary,
        needs: Needs::Person,
        is_bodiless,
        refuses,
    };
    const OF_REVIEWS: &[Code] = &[Code::AofInvalidTaskTransition, Code::XchainEvidenceChanged];
    vec![
        verb(
            "approve_task",
            verb!("approve"),
            "A person ends a review: the task is done. With `expect`, only if the evidence is \
             what the person saw.",
            true,
            OF_REVIEWS,
        )
        .route::<ApproveRequest, _>(|tree, task, request, by| tree.approve(task, request, by)),
        verb(
            "send_back_task",
            verb!("send-back"),
            "A person ends a review: the task is ready again, and its next agent reads why.",
            false,
            OF_REVIEWS,
        )
        .route::<SendBackRequest, _>(|tree, task, request, by| tree.send_back(task, request, by)),
        verb(
            "close_task",
            verb!("close"),
            "A person ends a task as done, whatever its status is.",
            true,
            &[Code::AofTaskFinished, Code::XchainEvidenceChanged],
        )
        .route::<CloseRequest, _>(|tree, task, request, by| tree.close(task, request, by)),
        verb(
            "cancel_task",
            verb!("cancel"),
            "A person gives a task up.",
            true,
            &[Code::AofTaskFinished],
        )
        .route::<CancelRequest, _>(|tree, task, request, by| tree.cancel(task, request, by)),
        verb(
            "resurrect_task",
            verb!("resurrect"),
            "A person makes a dead letter ready again, with a new retry budget.",
            true,
            &[Code::AofInvalidTaskTransition],
        )
        .route::<ResurrectRequest, _>(|tree, task, request, by| tree.resurrect(task, request, by)),
        verb(
            "adopt_task",
            verb!("adopt"),
            "A person takes over what the file of a task says, where Accord refused it.",
            true,
            &[Code::AofNothingToAdopt, Code::XchainEvidenceChanged],
        )
        .route::<AdoptRequest, _>(|tree, task, request, by| tree.adopt(task, request, by)),
    ]
}

/// A verb on a task: a POST below its path.
struct Verb {
    name: &'static str,
    path: &'static str,
    summary: &'static str,
    needs: Needs,
    is_bodiless: bool,
    refuses: &'static [Code],
}

impl Verb {
    fn route<R: Message + Send + 'static, A: Enveloped>(
        self,
        run: fn(&Tree, &str, &R, &By) -> Result<A, Failure>,
    ) -> Route {
        let Self { name, path, summary, needs, is_bodiless, refuses } = self;
        let method = Method::POST;
        Change { name, method, path, summary, needs, is_bodiless, refuses, run }.route()
    }
}

async fn create(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    InProject(project): InProject,
    query: Query,
    document: Document,
) -> Reply {
    let who = Who::read(&caller, &query.params()?)?;
    let request: CreateRequest = document.read()?;
    let by = who.acting(&caller, &project, Needs::Write, None)?;
    check_project(&host, &project).await?;
    let create = move |trees: &TaskTrees| trees.create(&project, &request, &by);
    let answer = in_trees(&host, create).await?;
    Ok(respond(StatusCode::CREATED, &correlation, answer))
}

async fn remove_dependency(
    State(host): State<Host>,
    Extension(caller): Extension<Caller>,
    Extension(correlation): Extension<Correlation>,
    at: InTask,
    query: Query,
) -> Reply {
    let who = Who::read(&caller, &query.params()?)?;
    let by = who.acting(&caller, &at.project, Needs::Write, None)?;
    check_project(&host, &at.project).await?;
    let blocker = at.blocker.expect("the path of this route has a blocker");
    let mut request = DependencyRequest::default();
    request.blocker = blocker;
    let remove = move |tree: &Tree| tree.remove_dependency(&at.task, &request, &by);
    let answer = in_tree(&host, &at.project, remove).await?;
    Ok(respond(StatusCode::OK, &correlation, answer))
}

/// A change of a task: what it takes, answers and refuses.
pub(super) struct Change<R, A> {
    pub(super) name: &'static str,
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) needs: Needs,
    /// Whether the body can be empty.
    pub(super) is_bodiless: bool,
    pub(super) refuses: &'static [Code],
    pub(super) run: fn(&Tree, &str, &R, &By) -> Result<A, Failure>,
}

impl<R: Message + Send + 'static, A: Enveloped> Change<R, A> {
    /// The route.
    pub(super) fn route(self) -> Route {
        let Self { needs, run, .. } = self;
        let handler = move |State(host): State<Host>,
                            Extension(caller): Extension<Caller>,
                            Extension(correlation): Extension<Correlation>,
                            at: InTask,
                            query: Query,
                            document: Document| async move {
            let who = Who::read(&caller, &query.params()?)?;
            let request: R = request(&document)?;
            let by = who.acting(&caller, &at.project, needs, None)?;
            check_project(&host, &at.project).await?;
            let change = move |tree: &Tree| run(tree, &at.task, &request, &by);
            let answer = in_tree(&host, &at.project, change).await?;
            Reply::Ok(respond(StatusCode::OK, &correlation, answer))
        };
        let route = Route::new(self.name, self.method, self.path, self.summary, handler)
            .query(ACTOR, ABOUT_ACTOR)
            .query(DOOR, ABOUT_DOOR);
        let route = match self.is_bodiless {
            true => route.may_take(Content::json::<R>()),
            false => route.takes(Content::json::<R>()),
        };
        route
            .answers(200, "The answer.", Content::json::<A::Envelope>())
            .refuses(OF_CHANGES)
            .refuses(OF_TASK)
            .refuses(self.refuses)
    }
}
