//! Building the index from the files.
//!
//! Finished tasks are known by their names alone, so that a tree with many of them opens fast.

use accord_contract::wire::{Object, Value, Wire};
use accord_tasks_core::board::Entry;
use accord_tasks_core::run::Heartbeat;
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};
use accord_trees::{Disk, Result, read_file, record};

use crate::index::Index;
use crate::layout::{RunLayout, status_folder};

/// The largest task file.
pub(crate) const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Builds the index of a tree.
pub(crate) fn scan(disk: &dyn Disk, layout: RunLayout) -> Result<Index> {
    let mut index = Index { last_event: last_event(disk)?, ..Index::default() };
    for &status in Status::ALL {
        let folder = status_folder(status);
        for entry in disk.list(&folder)?.unwrap_or_default() {
            let Some(name) = entry.name.strip_suffix(".md") else { continue };
            let Ok(id) = TaskId::parse(name) else { continue };
            if status.is_final() {
                index.put_closed(id, status);
                continue;
            }
            let path = format!("{folder}/{}", entry.name);
            match read_task(disk, &path)? {
                Some(Ok(file)) => index.put(entry_of(disk, layout, &file)?),
                Some(Err(why)) => {
                    index.broken.insert(path, why);
                }
                None => {}
            }
        }
    }
    Ok(index)
}

/// Reads a task file.
pub(crate) fn read_task(
    disk: &dyn Disk,
    path: &str,
) -> Result<Option<std::result::Result<TaskFile, String>>> {
    let Some(bytes) = read_file(disk, path, MAX_FILE)? else { return Ok(None) };
    let text = String::from_utf8(bytes).map_err(|_| "the file is not UTF-8".to_owned());
    let file = text.and_then(|text| TaskFile::read(&text).map_err(|error| error.to_string()));
    Ok(Some(file))
}

/// The entry of a task on the board.
pub(crate) fn entry_of(disk: &dyn Disk, layout: RunLayout, file: &TaskFile) -> Result<Entry> {
    let task = file.task();
    let heartbeat: Option<Heartbeat> = match task.status {
        Status::InProgress => document(disk, layout, task.id, "run_heartbeat.json")?,
        _ => None,
    };
    Ok(Entry::of(task, heartbeat.as_ref()))
}

/// A run artifact, from either layout. One that is not valid counts as absent.
pub(crate) fn document<T: Wire>(
    disk: &dyn Disk,
    layout: RunLayout,
    id: TaskId,
    name: &str,
) -> Result<Option<T>> {
    for layout in [layout, layout.other()] {
        let path = format!("{}/{name}", layout.folder(id));
        if let Some(bytes) = read_file(disk, &path, MAX_FILE)? {
            let document = accord_canon::read(&bytes).ok();
            return Ok(document.and_then(|document| T::from_document(document).ok()));
        }
    }
    Ok(None)
}

/// The number of the last event of a tree.
fn last_event(disk: &dyn Disk) -> Result<u64> {
    let mut days: Vec<String> = disk
        .list("events")?
        .unwrap_or_default()
        .into_iter()
        .map(|entry| entry.name)
        .filter(|name| name.ends_with(".jsonl") && name != "events.jsonl")
        .collect();
    days.sort();
    // The newest log may be empty, or end with a line of another program.
    for day in days.iter().rev() {
        let lines = record::last_lines(disk, &format!("events/{day}"), 64)?;
        let number = |line: &Object| line.get("eventId").and_then(Value::as_u64);
        if let Some(last) = lines.iter().filter_map(number).max() {
            return Ok(last);
        }
    }
    Ok(0)
}
