//! How a route of tasks calls an operation.

use accord_base::ProjectId;
use accord_contract::{Code, Failure};
use accord_tasks::Tree;

use crate::TasksDoor;

/// Runs an operation on the tree of a project, which must have one.
pub(super) async fn in_tree<T: Send + 'static>(
    door: &TasksDoor,
    project: &ProjectId,
    operation: impl FnOnce(&Tree) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let (trees, project) = (door.trees().clone(), project.clone());
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
