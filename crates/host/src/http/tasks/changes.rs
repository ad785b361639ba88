//! Changes of tasks: create, edit, dependencies, and the verbs of agents and people.

use accord_base::{Decision, Need};
use accord_contract::codes::Code;
use accord_tasks::Tree;
use accord_tasks::requests::DependencyRequest;
use hyper::{Method, StatusCode};

use super::TASKS;
use super::operation::{Operation, on_project, on_task};
use crate::http::table::Route;
use crate::tasks::TaskTrees;

/// One task.
const TASK: &str = "/accord/v1/projects/{project_id}/tasks/{task_id}";

/// The path of a verb on a task.
macro_rules! verb {
    ($verb:literal) => {
        concat!("/accord/v1/projects/{project_id}/tasks/{task_id}/", $verb)
    };
}
pub(super) use verb;

pub(super) fn routes() -> Vec<Route> {
    let mut routes =
        vec![
        on_project(Need::Write, TaskTrees::create)
        .answers(StatusCode::CREATED)
        .post("create_task", TASKS, "Creates a task. The first task of a project creates its tree.")
        .refuses(&[
            Code::AofParentNotFound,
            Code::AofAmbiguousTaskId,
            Code::AofDependencyNotFound,
            Code::AofDependencyCycle,
            Code::AofTaskIdsExhausted,
        ]),
        on_task(Need::Write, Tree::edit)
            .route(
                Method::PATCH,
                "edit_task",
                TASK,
                "Changes what a task says. A member that is absent stays as it is; null removes \
                 it.",
            )
            .refuses(&[
                Code::AofUnauthorizedAgent,
                Code::AofTaskFinished,
                Code::XchainEvidenceChanged,
            ]),
        on_task(Need::Write, Tree::add_dependency)
            .post("add_dependency", verb!("dependencies"), "Makes a task wait for another one.")
            .refuses(&[
                Code::AofUnauthorizedAgent,
                Code::AofTaskFinished,
                Code::AofDependencyNotFound,
                Code::AofDependencyCycle,
            ]),
        Operation::new(
            Need::Write,
            |asked| {
                let mut request = DependencyRequest::default();
                request.blocker.clone_from(&asked.target.blocker);
                Ok(request)
            },
            |tree, target, asked, by| tree.remove_dependency(&target.task, asked, by),
        )
        .route(
            Method::DELETE,
            "remove_dependency",
            verb!("dependencies/{blocker_id}"),
            "Ends that a task waits for another one.",
        )
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

/// Verbs of the agent that has the task, and of people.
fn of_agents() -> [Route; 4] {
    const MOVES: &[Code] = &[Code::AofUnauthorizedAgent, Code::AofInvalidTaskTransition];
    [
        on_task(Need::Write, Tree::block)
            .post("block_task", verb!("block"), "Blocks a task, with a reason. Its lease ends.")
            .refuses(MOVES),
        on_task(Need::Write, Tree::unblock)
            .post("unblock_task", verb!("unblock"), "Makes a blocked task ready again.")
            .refuses(MOVES),
        on_task(Need::Write, Tree::promote)
            .post(
                "promote_task",
                verb!("promote"),
                "Makes a task of the backlog ready. Only a person can force it while the task \
                 waits for others.",
            )
            .refuses(MOVES)
            .refuses(&[Code::AofDependencyUnmet]),
        on_task(Need::Write, Tree::release)
            .post(
                "release_task",
                verb!("release"),
                "Gives a task back: its lease ends, and it is ready for another claim.",
            )
            .refuses(&[Code::AofUnassignedTask, Code::AofUnauthorizedAgent, Code::AofStaleRun]),
    ]
}

/// Verbs of people.
fn of_people() -> [Route; 6] {
    const REVIEWS: &[Code] = &[Code::AofInvalidTaskTransition, Code::XchainEvidenceChanged];
    [
        on_task(Need::Decide(Decision::Review), Tree::approve)
            .post(
                "approve_task",
                verb!("approve"),
                "A person ends a review: the task is done. With `expect`, only if the evidence is \
                 what the person saw.",
            )
            .refuses(REVIEWS),
        on_task(Need::Decide(Decision::Review), Tree::send_back)
            .post(
                "send_back_task",
                verb!("send-back"),
                "A person ends a review: the task is ready again, and its next agent reads why.",
            )
            .refuses(REVIEWS),
        on_task(Need::Decide(Decision::Review), Tree::close)
            .post(
                "close_task",
                verb!("close"),
                "A person ends a task as done, whatever its status is.",
            )
            .refuses(&[Code::AofTaskFinished, Code::XchainEvidenceChanged]),
        on_task(Need::Decide(Decision::Review), Tree::cancel)
            .post("cancel_task", verb!("cancel"), "A person gives a task up.")
            .refuses(&[Code::AofTaskFinished]),
        on_task(Need::Decide(Decision::Review), Tree::resurrect)
            .post(
                "resurrect_task",
                verb!("resurrect"),
                "A person makes a dead letter ready again, with a new retry budget.",
            )
            .refuses(&[Code::AofInvalidTaskTransition]),
        on_task(Need::Decide(Decision::Approve), Tree::adopt)
            .post(
                "adopt_task",
                verb!("adopt"),
                "A person takes over what the file of a task says, where Accord refused it.",
            )
            .refuses(&[Code::AofNothingToAdopt, Code::XchainEvidenceChanged]),
    ]
}
