//! What joins tasks with the store of a host: linked trees, the events of trees in the streams of
//! their projects, the scheduler.

pub(crate) mod links;
pub(crate) mod scheduler;
pub(crate) mod takeover;

use std::sync::Arc;

use accord_base::Caller;
use accord_contract::{Code, Failure};
use accord_memory::Memory;
use accord_tasks_door::CheckProject;
use futures_util::FutureExt as _;

pub use accord_tasks_door::{PROJECTS, TaskTrees};

/// Checks that a project of a store accepts changes. Returns whether it exists.
pub(crate) fn check_project(memory: &Memory, strict: bool) -> CheckProject {
    let memory = memory.clone();
    Arc::new(move |project| {
        let memory = memory.clone();
        async move {
            match memory.project(&Caller::owner(), &project).await {
                Ok(found) if found.is_archived() => {
                    let message = format!("the project {:?} is archived", project.as_str());
                    Err(Failure::new(Code::AgenticProjectArchived, message))
                }
                Ok(_) => Ok(true),
                Err(failure) if failure.code == Code::AgenticProjectNotFound && !strict => {
                    Ok(false)
                }
                Err(failure) => Err(failure),
            }
        }
        .boxed()
    })
}
