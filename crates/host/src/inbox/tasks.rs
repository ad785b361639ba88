//! The items of tasks. A tree is the record; its items follow it. A host that is served makes them
//! when it has looked at the tree; a host that only answers one command makes them before it reads.

use std::collections::BTreeSet;

use accord_base::ProjectId;
use accord_contract::Failure;
use accord_memory::Memory;
use accord_store::{StoreError, StoreExt as _};
use accord_system::spawn_blocking;
use accord_tasks::Tree;

use crate::http::Host;

/// Makes the items of the tasks of a project. Returns whether any changed.
pub(crate) fn refresh(memory: &Memory, tree: &Tree, project: &ProjectId) -> Result<bool, Failure> {
    set(memory, project, tree.waiting()?)
}

/// Removes the items of a project that has no tasks any more.
pub(crate) fn clear(memory: &Memory, project: &ProjectId) -> Result<bool, Failure> {
    set(memory, project, Vec::new())
}

fn set(
    memory: &Memory,
    project: &ProjectId,
    items: Vec<accord_base::inbox::Waiting>,
) -> Result<bool, Failure> {
    let project = project.clone();
    let written = memory.store().write(move |unit| {
        // A tree can be older than its project.
        match unit.project(&project)? {
            Some(_) => unit.set_task_items(&project, &items),
            None => Ok(false),
        }
    });
    written.map_err(|error: StoreError| error.into())
}

impl Host {
    /// Makes the items of tasks, unless the scheduler of this host does. A tree that cannot be read
    /// keeps its last items, and is logged.
    pub(super) async fn refresh_tasks(&self, projects: Option<&BTreeSet<ProjectId>>) {
        if !self.bell().is_scheduled() {
            self.refresh_now(projects).await;
        }
    }

    /// Makes the items of tasks now, also where the scheduler will.
    pub(super) async fn refresh_now(&self, projects: Option<&BTreeSet<ProjectId>>) {
        let (host, projects) = (self.clone(), projects.cloned());
        let refreshed = spawn_blocking(move || {
            let covers = |project: &ProjectId| {
                projects.as_ref().is_none_or(|projects| projects.contains(project))
            };
            for project in host.tasks().projects().into_iter().filter(covers) {
                let done = match host.tasks().find(&project) {
                    Ok(Some(tree)) => refresh(host.memory(), &tree, &project),
                    Ok(None) => clear(host.memory(), &project),
                    Err(failure) => Err(failure),
                };
                if let Err(failure) = done {
                    let (project, code) = (project.as_str(), failure.code);
                    tracing::warn!(project, %code, "its tasks wait: {}", failure.message);
                }
            }
        });
        if let Err(error) = refreshed.await {
            tracing::error!("the items of tasks were not made: {error}");
        }
    }
}
