//! Task trees outside the data folder: which folder belongs to which project, and to which host.
//!
//! The store has the link of a project. A file in the tree names the data folder whose host
//! schedules it, so that no second host does.

use std::fs;
use std::path::{Path, PathBuf};

use accord_base::{Caller, ProjectId};
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Value;
use accord_memory::Memory;
use accord_tasks_core::aof_project_id;
use accord_trees::{Root, atomic, read_file};
use serde_json::json;

use super::discover::manifest;
use super::{TASKS, TaskTrees};

/// The file in a tree that names the host.
const HOST: &str = "state/accord/host.json";

/// The largest such file.
const MAX_BYTES: u64 = 64 * 1024;

impl TaskTrees {
    /// Reads the links from the store. A tree that another host has now is left out, and logged.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn load_links(&self, memory: &Memory, data: &Path) -> Result<(), Failure> {
        for (project, folder) in memory.linked_folders()? {
            let folder = PathBuf::from(folder);
            match owner(&folder) {
                Ok(Some(other)) if other != canonical(data) => {
                    let (project, other) = (project.as_str(), other.display().to_string());
                    tracing::warn!(project, other, "the linked tasks belong to another host now");
                }
                _ => self.link(&project, Some(folder)),
            }
        }
        Ok(())
    }

    /// Links a folder with a task tree to a project, and records that.
    ///
    /// # Errors
    /// `no_task_tree` when the folder has none, `task_tree_of_another_project`,
    /// `task_tree_of_another_host`, `unauthorized`, `project_not_found`.
    pub async fn record_link(
        &self,
        memory: &Memory,
        caller: &Caller,
        data: &Path,
        project: &ProjectId,
        folder: &Path,
    ) -> Result<PathBuf, Failure> {
        let folder = checked(folder, project)?;
        if let Some(other) = owner(&folder)?.filter(|other| *other != canonical(data)) {
            let message = format!(
                "the tasks in {} belong to the host of {}; unlink them there first",
                folder.display(),
                other.display()
            );
            return Err(Failure::new(Code::AofTaskTreeOfAnotherHost, message)
                .with("host", other.display().to_string()));
        }
        let text = folder.to_str().ok_or_else(|| no_tree(&folder, "its path is not UTF-8"))?;
        memory.link_folder(caller, project, Some(text)).await?;
        claim(&folder, data)?;
        self.link(project, Some(folder.clone()));
        Ok(folder)
    }

    /// Removes the link of a project. Its files stay where they are.
    ///
    /// # Errors
    /// `unauthorized`, `project_not_found`.
    pub async fn remove_link(
        &self,
        memory: &Memory,
        caller: &Caller,
        data: &Path,
        project: &ProjectId,
    ) -> Result<Option<PathBuf>, Failure> {
        memory.link_folder(caller, project, None).await?;
        let linked = self.linked().into_iter().find(|(linked, _)| linked == project);
        let folder = linked.map(|(_, folder)| folder);
        self.link(project, None);
        if let Some(folder) = &folder
            && owner(folder)?.is_some_and(|owner| owner == canonical(data))
        {
            let root = open(folder)?;
            accord_trees::Disk::remove_file(&root, HOST)
                .map_err(|error| unusable(folder, &error))?;
        }
        Ok(folder)
    }
}

/// The folder, if it has a task tree that may belong to a project.
fn checked(folder: &Path, project: &ProjectId) -> Result<PathBuf, Failure> {
    let folder = fs::canonicalize(folder).map_err(|error| no_tree(folder, &error.to_string()))?;
    if !folder.join(TASKS).is_dir() {
        return Err(no_tree(&folder, "there is no folder tasks/ in it"));
    }
    let said = manifest(&folder);
    let is_other =
        |said: &String| said != project.as_str() && *said != aof_project_id(project.as_str());
    if let Some(said) = said.filter(is_other) {
        let message = format!(
            "the tasks in {} are those of the project {said:?}; link them to that project",
            folder.display()
        );
        return Err(
            Failure::new(Code::AofTaskTreeOfAnotherProject, message).with("project_id", said)
        );
    }
    Ok(folder)
}

/// The data folder whose host has a tree. One that no longer exists has nothing.
fn owner(folder: &Path) -> Result<Option<PathBuf>, Failure> {
    let Ok(root) = Root::open(folder) else { return Ok(None) };
    let bytes = read_file(&root, HOST, MAX_BYTES).map_err(|error| unusable(folder, &error))?;
    let document: Option<Value> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let data = document.and_then(|document| document.get("data")?.as_str().map(PathBuf::from));
    Ok(data.filter(|data| data.is_dir()))
}

fn claim(folder: &Path, data: &Path) -> Result<(), Failure> {
    let document = json!({"data": canonical(data)}).to_string();
    let root = open(folder)?;
    atomic::write(&root, HOST, document.as_bytes()).map_err(|error| unusable(folder, &error))
}

fn open(folder: &Path) -> Result<Root, Failure> {
    Root::open(folder).map_err(|error| unusable(folder, &error))
}

fn canonical(data: &Path) -> PathBuf {
    data.canonicalize().unwrap_or_else(|_| data.to_owned())
}

fn no_tree(folder: &Path, why: &str) -> Failure {
    let message = format!("{} has no task tree: {why}", folder.display());
    Failure::new(Code::AofNoTaskTree, message)
}

fn unusable(folder: &Path, error: &accord_trees::TreeError) -> Failure {
    let message = format!("{}: {error}", folder.display());
    Failure::new(Code::AofTaskTreeUnavailable, message)
}
