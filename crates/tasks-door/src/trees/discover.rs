//! Which projects have task trees: those below `projects/`, and linked ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use accord_base::ProjectId;
use accord_contract::Failure;
use accord_tasks_core::yaml::Yaml;
use accord_tasks_core::{Status, TaskId, aof_project_id};

use super::{TASKS, TaskTrees, unavailable};

/// The largest `project.yaml`.
const MAX_MANIFEST: u64 = 1024 * 1024;

impl TaskTrees {
    /// The projects that have trees now, in the order of their ids.
    pub fn projects(&self) -> Vec<ProjectId> {
        let linked = self.linked().into_iter().map(|(project, _)| project);
        let mut found: BTreeSet<ProjectId> = linked.collect();
        let entries = fs::read_dir(&self.0.projects).into_iter().flatten().flatten();
        for entry in entries {
            let folder = entry.path();
            if folder.join(TASKS).is_dir()
                && let Some(project) = project_of(&folder)
            {
                found.insert(project);
            }
        }
        found.into_iter().collect()
    }
}

impl TaskTrees {
    /// How many tasks a project has, finished ones included.
    pub fn count(&self, project: &ProjectId) -> Result<u64, Failure> {
        let folder = self.folder(project).join(TASKS);
        let mut count = 0;
        for status in Status::ALL {
            let entries = match fs::read_dir(folder.join(status.as_str())) {
                Ok(entries) => entries,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(unavailable(&folder, &error)),
            };
            for entry in entries {
                let name = entry.map_err(|error| unavailable(&folder, &error))?.file_name();
                let name = name.to_string_lossy();
                let id = name.strip_suffix(".md").filter(|id| TaskId::parse(id).is_ok());
                count += u64::from(id.is_some());
            }
        }
        Ok(count)
    }

    /// Removes the tree of a project that was removed. A linked folder stays as it is.
    pub fn forget(&self, project: &ProjectId) {
        let is_linked = self.linked().iter().any(|(linked, _)| linked == project);
        let folder = self.folder(project);
        self.link(project, None);
        if is_linked || !folder.join(TASKS).is_dir() {
            return;
        }
        // Renamed first: a folder that is half removed must not look like a tree.
        let mut name = folder.file_name().unwrap_or_default().to_owned();
        name.push(format!(".removed-{}", accord_system::random_hex::<4>()));
        let aside = folder.with_file_name(name);
        let removed = fs::rename(&folder, &aside).and_then(|()| fs::remove_dir_all(&aside));
        if let Err(error) = removed {
            tracing::warn!(project = project.as_str(), "the folder of its tasks is left: {error}");
        }
    }
}

/// The project of a folder below `projects/`: what its `project.yaml` says, if the folder has the
/// name that belongs to it; else the name of the folder.
fn project_of(folder: &Path) -> Option<ProjectId> {
    let name = folder.file_name()?.to_str()?;
    // A tree that is being removed or restored is none yet, or no longer.
    if name.contains(".removed-") || name.starts_with('.') {
        return None;
    }
    let said = manifest(folder).filter(|said| aof_project_id(said) == name);
    said.unwrap_or_else(|| name.to_owned()).parse().ok()
}

/// The project that a `project.yaml` names.
pub(super) fn manifest(folder: &Path) -> Option<String> {
    let path = folder.join("project.yaml");
    if fs::metadata(&path).ok()?.len() > MAX_MANIFEST {
        return None;
    }
    let text = fs::read_to_string(&path).ok()?;
    let manifest = Yaml::read(&text).ok()?;
    let member = |name: &str| manifest.members().get(name)?.as_str().map(str::to_owned);
    member("projectId").or_else(|| member("id"))
}
