//! What a merge records, and what it leaves to a person.

use std::collections::HashSet;

use accord_base::By;
use accord_contract::Value;
use accord_tasks_core::TaskId;
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::operations::UnmergedFile;
use accord_tasks_core::task::TaskFile;
use accord_trees::read_file;
use accord_trees::record::RecordLines;

use super::{Merged, git, is_beside};
use crate::Result;
use crate::event_log::all_logs;
use crate::referee::verdict::is_marked;
use crate::scan::{MAX_FILE, readable};
use crate::tree::failure;
use crate::work::Work;

/// A longer text is not repeated in an event.
const MAX_TEXT: usize = 64 * 1024;
/// The member of an event that names the merge of git.
const KEY: &str = "merge";

pub(super) fn note(
    work: &mut Work<'_>,
    task: &Merged,
    from: Option<TaskId>,
    (key, by): (Option<&str>, &By),
) {
    let kind = if from.is_some() { kind::RENUMBERED } else { kind::MERGED };
    let mut event = TaskEvent::new(kind, by.name(), Some(task.id), work.now())
        .with("reason", task.reason)
        .with("door", by.door.as_str());
    if let Some(from) = from {
        event = event.with("from", from.to_string());
    }
    if let Some(key) = key {
        event = event.with(KEY, key);
    }
    if !task.said.is_empty() {
        event = event.with("said", task.said.clone());
    }
    let lost = task.all.lost.iter().map(TaskFile::text).filter(|text| text.len() <= MAX_TEXT);
    let lost: Vec<String> = lost.collect();
    if !lost.is_empty() {
        event = event.with("lost", lost);
    }
    work.event(event);
}

/// The merges of git that the logs say are done. If git takes one back, its event is gone, too.
pub(super) fn settled(work: &Work<'_>) -> Result<HashSet<String>> {
    let mut keys = HashSet::new();
    for log in all_logs(work.disk()).map_err(|error| failure(&error))? {
        let lines = RecordLines::open(work.disk(), &log, 0, 0).map_err(|error| failure(&error))?;
        for line in lines.filter_map(std::result::Result::ok) {
            let key = line.object.get("payload").and_then(|payload| payload.get(KEY));
            keys.extend(key.and_then(Value::as_str).map(str::to_owned));
        }
    }
    Ok(keys)
}

/// Names what git could not merge and this merge did not settle.
pub(super) fn unsettled(
    work: &Work<'_>,
    merging: &git::Merging,
    handled: &HashSet<TaskId>,
    unmerged: &mut Vec<UnmergedFile>,
) -> Result<()> {
    for path in &merging.unmerged {
        let is_known = unmerged.iter().any(|file| file.path == *path);
        let is_handled = handled.iter().any(|id| is_beside(path, *id));
        let bytes = match readable(read_file(work.disk(), path, MAX_FILE)) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => return Err(failure(&error)),
        };
        let has_marks = is_marked(&String::from_utf8_lossy(&bytes));
        // A file of a task without marks was settled, now or by an earlier merge.
        let is_of_tasks = path.starts_with("tasks/") || path.starts_with("runs/");
        if is_known || is_handled || git::is_task(path) || (is_of_tasks && !has_marks) {
            continue;
        }
        unmerged.push(UnmergedFile {
            path: path.clone(),
            problem: "git could not merge it, and it is no task: settle it, then git add it".into(),
        });
    }
    Ok(())
}
