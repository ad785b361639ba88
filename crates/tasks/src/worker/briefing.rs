//! What the briefing of an agent is made of, read from the tree.

use std::fs;
use std::path::Path;

use accord_contract::codes::Failure;
use accord_tasks_core::TaskId;
use accord_tasks_core::briefing::{Dependency, Parts};
use accord_tasks_core::run::RunResult;

use super::Worker;
use crate::layout::companion;
use crate::operations::Claimed;

/// The largest handoff that is read. The briefing has a limit of its own.
const MAX_HANDOFF: u64 = 1024 * 1024;

/// What the briefing of an agent is made of. The memory is added by those who have one.
///
/// # Errors
/// When the tree cannot be read.
pub fn briefing(worker: &Worker, claimed: &Claimed) -> Result<Parts, Failure> {
    let task = claimed.task.task();
    let folder = worker.folder(task.id);
    let mut dependencies = Vec::new();
    for &needed in task.dependencies() {
        dependencies.extend(dependency(worker, needed)?);
    }
    let decision = task.metadata("sentBack");
    let said = |name: &str| Some(decision?.get(name)?.as_str()?.to_owned());
    let sent_back = said("by").zip(said("note"));
    let handoff = folder.join("inputs/handoff.md");
    let is_short = fs::metadata(&handoff).is_ok_and(|found| found.len() <= MAX_HANDOFF);
    Ok(Parts {
        project: worker.project.clone(),
        task: task.id.to_string(),
        title: task.title.clone(),
        agent: claimed.run.agent_id.clone(),
        run_id: claimed.run.run_id.clone().unwrap_or_default(),
        body: claimed.task.body().to_owned(),
        sent_back,
        handoff: fs::read_to_string(handoff).ok().filter(|_| is_short),
        inputs: names(&folder.join("inputs")),
        dependencies,
        memory: None,
        folder: folder.display().to_string(),
    })
}

/// A task that had to be done first, and what its agent left.
fn dependency(worker: &Worker, id: TaskId) -> Result<Option<Dependency>, Failure> {
    let found = worker.tree.change(move |work| {
        let Some(file) = work.find(id)? else { return Ok(None) };
        let result: Option<RunResult> = work.artifact(id, "run_result.json")?;
        Ok(Some((file, result)))
    })?;
    Ok(found.map(|(file, result)| {
        let folder = worker.root.join(companion(file.task().status, id)).join("outputs");
        let path = |name: String| folder.join(name).display().to_string();
        Dependency {
            task: id,
            title: file.task().title.clone(),
            notes: result.map(|result| result.notes).unwrap_or_default(),
            outputs: names(&folder).into_iter().map(path).collect(),
        }
    }))
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
