//! Changes of tasks: create, edit, dependencies, and the verbs of agents and people.

use accord_api::{Call, Envelope as _, Json};
use accord_tasks::Tree;
use accord_tasks_core::operations::{
    AddDependency, AdoptTask, ApproveTask, BlockTask, CancelTask, CloseTask, CommentOnTask,
    CreateTask, CreateTasks, DependencyRequest, EditTask, PromoteTask, ReleaseTask,
    RemoveDependency, ReopenTask, ResurrectTask, SendBackTask, TaskEnvelope, UnblockTask,
    UndeleteTask,
};

use super::operation::{bind, deciding, on_project, on_task};
use crate::{Route, TaskTrees};

pub(super) fn routes() -> Vec<Route> {
    vec![
        on_project::<CreateTask, _, _>(TaskTrees::create).route(),
        on_project::<CreateTasks, _, _>(TaskTrees::create_many).route(),
        on_task::<EditTask, _, _>(Tree::edit).route(),
        on_task::<AddDependency, _, _>(Tree::add_dependency).route(),
        bind(|scene, call: &Call<RemoveDependency>| {
            let request = DependencyRequest { blocker: call.path.blocker.clone() };
            let tree = scene.tree()?;
            let answer = tree.remove_dependency(&call.path.task, &request, scene.by)?;
            Ok(Json(TaskEnvelope::wrap(answer, scene.correlation)))
        })
        .route(),
        on_task::<CommentOnTask, _, _>(Tree::comment).route(),
        on_task::<BlockTask, _, _>(Tree::block).route(),
        on_task::<UnblockTask, _, _>(Tree::unblock).route(),
        on_task::<UndeleteTask, _, _>(Tree::undelete).route(),
        on_task::<PromoteTask, _, _>(Tree::promote).route(),
        on_task::<ReleaseTask, _, _>(Tree::release).route(),
        deciding::<ApproveTask, _, _>(Tree::approve).route(),
        deciding::<SendBackTask, _, _>(Tree::send_back).route(),
        deciding::<CloseTask, _, _>(Tree::close).route(),
        deciding::<CancelTask, _, _>(Tree::cancel).route(),
        deciding::<ResurrectTask, _, _>(Tree::resurrect).route(),
        deciding::<ReopenTask, _, _>(Tree::reopen).route(),
        deciding::<AdoptTask, _, _>(Tree::adopt).route(),
    ]
}
