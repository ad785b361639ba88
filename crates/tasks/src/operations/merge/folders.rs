//! The folders beside merged tasks, and their runs.

use accord_contract::{Code, Failure, Value};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};
use accord_trees::Kind;
use accord_trees::wal::Op;

use super::marks::sides;
use crate::Result;
use crate::layout::{RunLayout, companion};
use crate::referee::verdict::is_marked;
use crate::tree::failure;
use crate::work::Work;

/// The artifacts of a run.
const ARTIFACTS: [&str; 3] = ["run.json", "run_heartbeat.json", "run_result.json"];

/// Lets the folder and the run of a task follow it to its new id, as far as they are not those of
/// the task that keeps the old one.
pub(super) fn follow(
    work: &mut Work<'_>,
    id: TaskId,
    keeper: &TaskFile,
    (to, task): (TaskId, &TaskFile),
) -> Result<()> {
    let (status, kept) = (task.task().status, keeper.task().status);
    let from = companion(status, id);
    let stat = work.disk().stat(&from).map_err(|error| failure(&error))?;
    if status != kept && stat.is_some_and(|stat| stat.kind == Kind::Folder) {
        work.ops.push(Op::Move { from, to: companion(status, to) });
    }
    let was_run = |status| !matches!(status, Status::Backlog | Status::Ready);
    if !was_run(status) || was_run(kept) {
        return Ok(());
    }
    for name in ARTIFACTS {
        let path = format!("{}/{name}", work.layout().folder(id));
        let Some(text) = work.text(&path)? else { continue };
        let text = text.replace(&id.to_string(), &to.to_string());
        work.put(&format!("{}/{name}", work.layout().folder(to)), text)?;
        work.ops.push(Op::Remove { path: path.clone() });
        work.staged.insert(path, None);
    }
    Ok(())
}

/// The run of this copy ended: another one has the task, so that what its agent says is late.
pub(super) fn forget_run(work: &mut Work<'_>, id: TaskId) -> Result<()> {
    for layout in [RunLayout::Guide, RunLayout::Reference] {
        for name in ["run.json", "run_heartbeat.json"] {
            let path = format!("{}/{name}", layout.folder(id));
            if work.disk().stat(&path).map_err(|error| failure(&error))?.is_some() {
                work.ops.push(Op::Remove { path: path.clone() });
                work.staged.insert(path, None);
            }
        }
    }
    Ok(())
}

/// Brings the folders beside the versions together. What is in another one goes below `work/`.
pub(super) fn merge_folders(work: &mut Work<'_>, id: TaskId, to: Status) -> Result<()> {
    let mut folders = Vec::new();
    for status in Status::ALL {
        let folder = companion(*status, id);
        let stat = work.disk().stat(&folder).map_err(|error| failure(&error))?;
        if stat.is_some_and(|stat| stat.kind == Kind::Folder) {
            folders.push(*status);
        }
    }
    let is_there = folders.contains(&to);
    // One that followed its task to another id.
    let is_moved = |from: &str| {
        work.ops.iter().any(|op| matches!(op, Op::Move { from: moved, .. } if moved == from))
    };
    let folders: Vec<Status> =
        folders.into_iter().filter(|it| !is_moved(&companion(*it, id))).collect();
    let mut is_there = is_there && folders.contains(&to);
    for status in folders.into_iter().filter(|status| *status != to) {
        let from = companion(status, id);
        let target = match is_there {
            true => format!("{}/work/from-{status}", companion(to, id)),
            false => companion(to, id),
        };
        is_there = true;
        work.ops.push(Op::Move { from, to: target });
    }
    if !is_there {
        work.make_companion(id, to);
    }
    Ok(())
}

/// The result of a run that both copies recorded: the later one.
pub(super) fn merge_result(work: &mut Work<'_>, id: TaskId) -> Result<()> {
    let path = format!("{}/run_result.json", work.layout().folder(id));
    let Some(text) = work.text(&path)?.filter(|text| is_marked(text)) else { return Ok(()) };
    let at = |text: &String| -> Option<String> {
        let document: Value = serde_json::from_str(text).ok()?;
        document.get("completedAt")?.as_str().map(str::to_owned)
    };
    let later = sides(&text).into_iter().filter(|side| at(side).is_some()).max_by_key(at);
    match later {
        Some(later) => work.put(&path, later),
        None => Err(Failure::new(Code::AofTaskFileInvalid, format!("{path} cannot be merged"))),
    }
}
