//! Task trees outside the data folder: to which host a tree belongs. A file in the tree names the
//! data folder whose host schedules it, so that no second host does.

use std::fs;
use std::path::{Path, PathBuf};

use accord_base::ProjectId;
use accord_contract::{Code, Failure, Value};
use accord_tasks_core::aof_project_id;
use accord_trees::{Disk as _, Root, atomic, read_file};
use serde_json::json;

use super::TASKS;
use super::discover::manifest;

/// The file in a tree that names the host.
const HOST: &str = "state/accord/host.json";

/// The largest such file.
const MAX_BYTES: u64 = 64 * 1024;

/// A folder with a task tree that the host of a data folder may link to a project.
pub fn check(folder: &Path, project: &ProjectId, data: &Path) -> Result<PathBuf, Failure> {
    let folder = checked(folder, project)?;
    if let Some(other) = other_owner(&folder, data)? {
        let message = format!(
            "the tasks in {} belong to the host of {}; unlink them there first",
            folder.display(),
            other.display()
        );
        return Err(Failure::new(Code::AofTaskTreeOfAnotherHost, message)
            .with("host", other.display().to_string()));
    }
    match folder.to_str() {
        Some(_) => Ok(folder),
        None => Err(no_tree(&folder, "its path is not UTF-8")),
    }
}

/// The data folder of another host that has a tree.
pub fn other_owner(folder: &Path, data: &Path) -> Result<Option<PathBuf>, Failure> {
    Ok(owner(folder)?.filter(|other| *other != canonical(data)))
}

/// Gives a tree up, if the host of a data folder has it.
pub fn give_up(folder: &Path, data: &Path) -> Result<(), Failure> {
    if owner(folder)?.is_some_and(|owner| owner == canonical(data)) {
        let root = open(folder)?;
        root.remove_file(HOST).map_err(|error| unusable(folder, &error))?;
    }
    Ok(())
}

/// The folder, if it has a task tree that may belong to a project.
fn checked(folder: &Path, project: &ProjectId) -> Result<PathBuf, Failure> {
    let folder = fs::canonicalize(folder).map_err(|error| no_tree(folder, &error.to_string()))?;
    if !folder.join(TASKS).is_dir() {
        return Err(no_tree(&folder, "there is no folder tasks/ in it"));
    }
    let said = manifest(&folder);
    let names = [project.as_str(), &aof_project_id(project.as_str())];
    if let Some(said) = said.filter(|said| !names.contains(&said.as_str())) {
        let message = format!(
            "the tasks in {} are those of the project {said:?}; link them to that project",
            folder.display()
        );
        let failure = Failure::new(Code::AofTaskTreeOfAnotherProject, message);
        return Err(failure.with("project_id", said));
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

/// Claims a tree for the host of a data folder.
pub fn claim(folder: &Path, data: &Path) -> Result<(), Failure> {
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
