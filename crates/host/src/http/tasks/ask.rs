//! What every route of tasks reads from a request, and how it calls an operation.

use accord_api::parameter::Params;
use accord_base::{Caller, Need, ProjectId};
use accord_contract::codes::{Code, Failure};
use accord_tasks::Tree;
pub(in crate::http) use accord_tasks_core::operations::{ACTOR, DOOR};
use accord_tasks_core::{By, Door};

use crate::http::Host;
use crate::tasks::acting;

/// What the actor of a route means.
pub(in crate::http) const ABOUT_ACTOR: &str = "Who acts: `human:NAME`, `script:NAME`, \
    `agent:NAME`, or the plain name of an agent. Default: the actor of the key.";

/// What the door of a route means.
pub(in crate::http) const ABOUT_DOOR: &str = "Which kind of client asks, for the records. \
    `cli` counts only through the socket of the data folder.";

/// Who acts, as the parameters of a request say.
pub(in crate::http) struct Who {
    named: Option<String>,
    door: Door,
}

impl Who {
    /// Reads the parameters.
    pub(in crate::http) fn read(caller: &Caller, params: &Params<'_>) -> Result<Self, Failure> {
        let named = ACTOR.read(params)?.map(str::to_owned);
        Ok(Self { named, door: door(caller, params)? })
    }

    /// Who acts. `fallback` is the actor that the body names in another way.
    pub(in crate::http) fn acting(
        &self,
        caller: &Caller,
        project: &ProjectId,
        needs: Need,
        fallback: Option<&str>,
    ) -> Result<By, Failure> {
        acting(caller, project, needs, self.named.as_deref(), fallback, self.door)
    }
}

/// The door of a request. A client on the network cannot be the command on this machine.
fn door(caller: &Caller, params: &Params<'_>) -> Result<Door, Failure> {
    Ok(match DOOR.read(params)? {
        Some(Door::Mcp) => Door::Mcp,
        Some(Door::Cli) if caller.is_owner() => Door::Cli,
        _ => Door::Http,
    })
}

/// Runs an operation on the tree of a project, which must have one.
pub(super) async fn in_tree<T: Send + 'static>(
    host: &Host,
    project: &ProjectId,
    operation: impl FnOnce(&Tree) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let (trees, project) = (host.tasks().clone(), project.clone());
    blocking(move || operation(&trees.get(&project)?)).await
}

/// Runs something that can wait for the disk.
pub(super) async fn blocking<T: Send + 'static>(
    operation: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    accord_system::spawn_blocking(operation).await.unwrap_or_else(|_| {
        let message = "the operation on the task tree was interrupted";
        Err(Failure::new(Code::HttpFault, message))
    })
}

/// Checks that a project accepts changes. A host without the store of its folder knows no projects,
/// and accepts all of them.
pub(super) async fn check_project(host: &Host, project: &ProjectId) -> Result<(), Failure> {
    if !host.has_store() {
        return Ok(());
    }
    match host.memory().project(&Caller::owner(), project).await {
        Ok(found) if found.is_archived() => {
            let message = format!("the project {:?} is archived", project.as_str());
            Err(Failure::new(Code::AgenticProjectArchived, message))
        }
        Ok(_) => Ok(()),
        Err(failure) if failure.code == Code::AgenticProjectNotFound => {
            match host.settings().strict_projects {
                true => Err(failure),
                false => Ok(()),
            }
        }
        Err(failure) => Err(failure),
    }
}
