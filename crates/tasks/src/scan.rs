//! Building the index from the files.
//!
//! Finished tasks are known by their names alone, so that a tree with many of them opens fast.

use std::collections::HashSet;

use accord_contract::wire::Wire;
use accord_tasks_core::board::Entry;
use accord_tasks_core::run::Heartbeat;
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};
use accord_trees::wal::digest;
use accord_trees::{Disk, Kind, Result, TreeError, read_file};

use crate::committed::{Held, LeaseOrigin, State};
use crate::index::Index;
use crate::layout::{RunLayout, status_folder};
use crate::traces::Traces;

/// The largest task file.
pub(crate) const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Builds the index of a tree. Tasks whose files are not what Accord committed are odd.
pub(crate) fn scan(disk: &dyn Disk, layout: RunLayout, state: &State) -> Result<Index> {
    let numbers = state.numbers().clone();
    let mut index = Index { numbers, has_odd_settings: true, ..Index::default() };
    match state.last_event() {
        Some(last) => index.last_event = last,
        None => {
            let traces = Traces::read(disk)?;
            index.last_event = traces.last_event;
            // Also those of tasks whose files are gone.
            traces.tasks.iter().for_each(|id| index.note(*id));
            index.traces = Some(traces);
        }
    }
    let mut scan = Scan { disk, layout, state, index, seen: HashSet::new() };
    for &status in Status::ALL {
        let folder = status_folder(status);
        if disk.stat(&folder)?.is_some_and(|stat| stat.kind != Kind::Folder) {
            // Its tasks are not gone, so nothing is decided without them.
            return Err(TreeError::damaged(&folder, "it is a link or a file, not a folder"));
        }
        for entry in disk.list(&folder)?.unwrap_or_default() {
            scan.entry(status, &entry)?;
        }
    }
    let Scan { mut index, seen, .. } = scan;
    // Files that are gone.
    index.odd.extend(state.tasks().map(|(id, _)| id).filter(|id| !seen.contains(id)));
    Ok(index)
}

struct Scan<'s> {
    disk: &'s dyn Disk,
    layout: RunLayout,
    state: &'s State,
    index: Index,
    /// Open tasks that have a file.
    seen: HashSet<TaskId>,
}

impl Scan<'_> {
    fn entry(&mut self, status: Status, entry: &accord_trees::Entry) -> Result<()> {
        let path = format!("{}/{}", status_folder(status), entry.name);
        let Some(name) = entry.name.strip_suffix(".md") else {
            // The folder beside a task file. Without its file it still uses the number of the task.
            if let Ok(id) = TaskId::parse(&entry.name) {
                self.index.note(id);
                if entry.kind != Kind::Folder {
                    self.index.odd.insert(id);
                }
            }
            return Ok(());
        };
        let Ok(id) = TaskId::parse(name) else {
            self.index.broken.insert(path, "the name is not the id of a task".into());
            return Ok(());
        };
        if self.index.board.status(id).is_some() {
            self.index.odd.insert(id);
            return Ok(());
        }
        let held = self.state.held(id);
        if status.is_final() {
            self.index.put_closed(id, status);
            if held.is_some() || entry.kind != Kind::File {
                self.index.odd.insert(id);
            }
            return Ok(());
        }
        self.seen.insert(id);
        match read_task(self.disk, &path)? {
            Some(Ok(file)) => {
                let is_file = entry.kind == Kind::File;
                let task = file.task();
                if is_file && !self.state.is_begun() && task.id == id && task.status == status {
                    let is_leased = status.is_leased() && task.lease.value().is_some();
                    let lease = match self.index.traces.as_ref().filter(|_| is_leased) {
                        Some(traces) => traces.lease(self.disk, id)?,
                        None => LeaseOrigin::None,
                    };
                    self.index.first.push((id, Held::of(&file, lease)));
                } else if !is_file
                    || !is_committed(&file, id, status, held)
                    || !self.has_run(id, held)?
                {
                    self.index.odd.insert(id);
                }
                self.index.put(entry_of(self.disk, self.layout, &file)?);
            }
            Some(Err(why)) => {
                self.index.broken.insert(path, why);
                self.index.put_closed(id, held.map_or(status, |held| held.status));
                self.index.odd.insert(id);
            }
            None => {}
        }
        Ok(())
    }
}

impl Scan<'_> {
    /// Whether the run of Accord's lease is what Accord committed.
    fn has_run(&self, id: TaskId, held: Option<&Held>) -> Result<bool> {
        let Some(run) = held.and_then(|held| held.run.as_deref()) else { return Ok(true) };
        let path = format!("{}/run.json", self.layout.folder(id));
        let found = read_file(self.disk, &path, MAX_FILE)?;
        Ok(found.as_deref() == Some(run.as_bytes()))
    }
}

/// Whether a file is what Accord committed, in the folder of its status.
pub(crate) fn is_committed(
    file: &TaskFile,
    id: TaskId,
    folder: Status,
    held: Option<&Held>,
) -> bool {
    let task = file.task();
    let is_placed = task.id == id && task.status == folder;
    is_placed
        && held.is_some_and(|held| {
            held.status == folder && held.front == digest(file.front().as_bytes())
        })
}

/// Reads a task file.
pub(crate) fn read_task(
    disk: &dyn Disk,
    path: &str,
) -> Result<Option<std::result::Result<TaskFile, String>>> {
    let bytes = match read_file(disk, path, MAX_FILE) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        // It must not hide the others.
        Err(
            error @ (TreeError::TooLarge { .. }
            | TreeError::NotFile { .. }
            | TreeError::Outside { .. }),
        ) => return Ok(Some(Err(error.to_string()))),
        Err(error) => return Err(error),
    };
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
