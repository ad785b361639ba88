//! The tree of a project: its settings, the scheduler, its files.

use accord_api::{Call, Envelope as _, Json};
use accord_tasks::Tree;
use accord_tasks_core::operations::{
    AdoptSettings, AdoptWriter, InitTasks, LintTasks, MergeTasks, PollTasks, TaskLintEnvelope,
};

use super::operation::{bind, on_project, on_tree};
use crate::{Route, TaskTrees};
use accord_serving::acting::SERVICE;

pub(super) fn routes() -> Vec<Route> {
    vec![
        on_project::<InitTasks, _, _>(TaskTrees::init).route(),
        on_tree::<AdoptSettings, _, _>(Tree::adopt_settings).route(),
        on_tree::<AdoptWriter, _, _>(Tree::adopt_writer).route(),
        on_tree::<MergeTasks, _, _>(Tree::merge).route(),
        on_tree::<PollTasks, _, _>(Tree::poll).acting_as(|_| Some(SERVICE)).route(),
        bind(|scene, call: &Call<LintTasks>| {
            let answer = scene.tree()?.lint(&call.query, scene.by)?;
            Ok(Json(TaskLintEnvelope::wrap(answer, scene.correlation)))
        })
        .route(),
    ]
}
