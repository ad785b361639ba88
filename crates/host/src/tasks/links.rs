//! Task trees outside the data folder: which folder belongs to which project. The store has the
//! links.

use std::path::{Path, PathBuf};

use accord_base::{Caller, ProjectId};
use accord_contract::Failure;
use accord_memory::Memory;
use accord_tasks_door::{TaskTrees, links};

/// Reads the links from the store. A tree that another host has now is left out, and logged. Fails
/// when the store cannot be read.
pub(crate) fn load(trees: &TaskTrees, memory: &Memory, data: &Path) -> Result<(), Failure> {
    for (project, folder) in memory.linked_folders()? {
        let folder = PathBuf::from(folder);
        match links::other_owner(&folder, data) {
            Ok(Some(other)) => {
                let (project, other) = (project.as_str(), other.display().to_string());
                tracing::warn!(project, other, "the linked tasks belong to another host now");
            }
            _ => trees.link(&project, Some(folder)),
        }
    }
    Ok(())
}

/// Links a folder with a task tree to a project, and records that.
///
/// # Errors
/// Those of [`links::check`]; `unauthorized`, `project_not_found`.
pub(crate) async fn record(
    trees: &TaskTrees,
    memory: &Memory,
    caller: &Caller,
    data: &Path,
    project: &ProjectId,
    folder: &Path,
) -> Result<PathBuf, Failure> {
    let folder = links::check(folder, project, data)?;
    memory.link_folder(caller, project, folder.to_str()).await?;
    links::claim(&folder, data)?;
    trees.link(project, Some(folder.clone()));
    Ok(folder)
}

/// Removes the link of a project. Its files stay where they are. Fails with `unauthorized`,
/// `project_not_found`.
pub(crate) async fn remove(
    trees: &TaskTrees,
    memory: &Memory,
    caller: &Caller,
    data: &Path,
    project: &ProjectId,
) -> Result<(), Failure> {
    memory.link_folder(caller, project, None).await?;
    let linked = trees.linked().into_iter().find(|(linked, _)| linked == project);
    trees.link(project, None);
    match linked {
        Some((_, folder)) => links::give_up(&folder, data),
        None => Ok(()),
    }
}
