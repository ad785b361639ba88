//! Building the index from the files. Finished tasks are known by their names alone, so that a tree
//! with many of them opens fast.

use std::collections::{BTreeMap, HashSet};

use accord_contract::Wire;
use accord_tasks_core::board::Entry;
use accord_tasks_core::run::Heartbeat;
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};
use accord_trees::wal::digest;
use accord_trees::{Disk, Kind, Result, TreeError, read_file};

use crate::committed::{Held, LeaseOrigin, State};
use crate::index::Index;
use crate::layout::{RunLayout, status_folder, task_file};
use crate::remembered::Remembered;
use crate::traces::Traces;

/// The most threads that read files.
const MAX_THREADS: usize = 8;
/// Fewer files are not worth another thread.
const LEAST_OF_A_THREAD: usize = 256;

/// So many tasks that are gone with their folder were not deleted one by one.
const MANY_GONE: usize = 2;

/// The largest task file.
pub(crate) const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Builds the index of a tree. Tasks whose files are not what Accord committed are odd.
pub(crate) fn scan(
    disk: &dyn Disk,
    layout: RunLayout,
    state: &State,
    is_in_git: bool,
    remembered: impl FnOnce() -> Option<Remembered>,
) -> Result<Index> {
    let numbers = state.numbers().clone();
    let mut index = Index { numbers, has_odd_settings: true, is_in_git, ..Index::default() };
    let mut traces = None;
    let remembered = remembered().unwrap_or_default();
    remembered.ids.iter().for_each(|id| index.note(*id));
    match state.last_event() {
        Some(last) => index.last_event = last,
        None => {
            let found = Traces::read(disk, is_in_git)?;
            index.last_event = found.last_event;
            // Also those of tasks whose files are gone.
            found.tasks.iter().for_each(|id| index.note(*id));
            if remembered.last_event > 0 && found.last_event == 0 {
                index.vanished = Some(remembered.last_event);
            }
            index.last_event = index.last_event.max(remembered.last_event);
            traces = Some(found);
        }
    }
    check_folders(disk, state)?;
    let reader = Reader { disk, layout, state, traces: traces.as_ref() };
    let mut scan = Scan { state, index, seen: HashSet::new() };
    for &status in Status::ALL {
        let folder = status_folder(status);
        if disk.stat(&folder)?.is_some_and(|stat| stat.kind != Kind::Folder) {
            // Its tasks are not gone, so nothing is decided without them.
            return Err(TreeError::damaged(&folder, "it is a link or a file, not a folder"));
        }
        let entries = disk.list(&folder)?.unwrap_or_default();
        if status.is_final() {
            for entry in entries {
                if let Some(id) = scan.name(status, &entry) {
                    scan.finished(status, id, entry.kind);
                }
            }
            continue;
        }
        let named =
            entries.iter().filter_map(|entry| Some((scan.name(status, entry)?, entry.kind)));
        let tasks: Vec<(TaskId, Kind)> = named.collect();
        let read = reader.read_all(status, &tasks)?;
        for ((id, _), found) in tasks.into_iter().zip(read) {
            scan.open(status, id, found);
        }
    }
    let Scan { mut index, seen, .. } = scan;
    index.traces = traces;
    // Files that are gone.
    index.odd.extend(state.tasks().map(|(id, _)| id).filter(|id| !seen.contains(id)));
    Ok(index)
}

/// Fails if all tasks are gone at once: a folder was removed, or is not mounted. One by one they
/// would be taken for deleted.
pub(crate) fn check_folders(disk: &dyn Disk, state: &State) -> Result<()> {
    let count = state.tasks().count();
    if count == 0 || disk.stat("tasks")?.is_some() {
        return Ok(());
    }
    Err(vanished("tasks", count))
}

/// Fails if several of these tasks are gone together with the folders that they were in.
pub(crate) fn check_gone<'t>(
    disk: &dyn Disk,
    state: &State,
    tasks: impl Iterator<Item = &'t TaskId>,
) -> Result<()> {
    let mut gone: BTreeMap<Status, usize> = BTreeMap::new();
    for id in tasks {
        let Some(held) = state.held(*id) else { continue };
        if !is_file_of_task(disk, *id)? {
            *gone.entry(held.status).or_default() += 1;
        }
    }
    let mut folders = Vec::new();
    for (status, count) in gone {
        let folder = status_folder(status);
        if disk.stat(&folder)?.is_none() {
            folders.push((folder, count));
        }
    }
    let count = folders.iter().map(|(_, count)| count).sum();
    match &folders[..] {
        [] => Ok(()),
        // Git removes a folder with the last file in it.
        [_] if count < MANY_GONE && has_status_folder(disk)? => Ok(()),
        [(folder, _)] => Err(vanished(folder, count)),
        _ => Err(vanished("tasks", count)),
    }
}

fn has_status_folder(disk: &dyn Disk) -> Result<bool> {
    for &status in Status::ALL {
        if disk.stat(&status_folder(status))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a task has a file in some folder.
pub(crate) fn is_file_of_task(disk: &dyn Disk, id: TaskId) -> Result<bool> {
    for &status in Status::ALL {
        if disk.stat(&task_file(status, id))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What to say about a folder that is gone with the tasks in it.
pub(crate) fn vanished(folder: &str, count: usize) -> TreeError {
    let why = format!(
        "the folder is gone, and the {count} open tasks in it. Nothing was changed. Restore it \
         with git (git checkout -- {folder}) or from a backup, or mount it again; accord task init \
         (with --root, if the tree is in a repository) makes it again, without them"
    );
    TreeError::damaged(folder, why)
}

struct Scan<'s> {
    state: &'s State,
    index: Index,
    /// Open tasks that have a file.
    seen: HashSet<TaskId>,
}

impl Scan<'_> {
    /// The task that an entry of a folder is the file of.
    fn name(&mut self, status: Status, entry: &accord_trees::Entry) -> Option<TaskId> {
        let Some(name) = entry.name.strip_suffix(".md") else {
            // The folder beside a task file. Without its file it still uses the number of the task.
            if let Ok(id) = TaskId::parse(&entry.name) {
                self.index.note(id);
                if entry.kind != Kind::Folder {
                    self.index.odd.insert(id);
                }
            }
            return None;
        };
        let id = TaskId::parse(name).ok();
        if id.is_none() {
            let path = format!("{}/{}", status_folder(status), entry.name);
            self.index.broken.insert(path, "the name is not the id of a task".into());
        }
        id
    }

    /// Whether a task is in another folder too.
    fn is_again(&mut self, id: TaskId) -> bool {
        let is_known = self.index.board.status(id).is_some();
        if is_known {
            self.index.odd.insert(id);
        }
        is_known
    }

    fn finished(&mut self, status: Status, id: TaskId, kind: Kind) {
        if self.is_again(id) {
            return;
        }
        self.index.put_closed(id, status);
        if self.state.held(id).is_some() || kind != Kind::File {
            self.index.odd.insert(id);
        }
    }

    fn open(&mut self, status: Status, id: TaskId, found: Found) {
        if self.is_again(id) {
            return;
        }
        self.seen.insert(id);
        match found {
            Found::Task { entry, first, is_odd } => {
                self.index.first.extend(first.map(|held| (id, *held)));
                if is_odd {
                    self.index.odd.insert(id);
                }
                self.index.put(*entry);
            }
            Found::Broken(why) => {
                let path = task_file(status, id);
                self.index.broken.insert(path, why);
                let held = self.state.held(id).map(|held| held.status);
                self.index.put_closed(id, held.unwrap_or(status));
                self.index.odd.insert(id);
            }
            Found::Nothing => {}
        }
    }
}

/// What is at the path of an open task.
enum Found {
    Task {
        entry: Box<Entry>,
        /// What counts as committed, if nothing is committed about the tree.
        first: Option<Box<Held>>,
        /// Whether it is not what Accord committed.
        is_odd: bool,
    },
    Broken(String),
    Nothing,
}

#[derive(Clone, Copy)]
struct Reader<'r> {
    disk: &'r dyn Disk,
    layout: RunLayout,
    state: &'r State,
    /// What the files say about Accord, if nothing is committed about the tree.
    traces: Option<&'r Traces>,
}

impl Reader<'_> {
    /// Reads the files of a folder, in several threads: most of the time of a start is theirs.
    fn read_all(self, status: Status, tasks: &[(TaskId, Kind)]) -> Result<Vec<Found>> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let each = tasks.len().div_ceil(cores).max(LEAST_OF_A_THREAD);
        let read = |tasks: &[(TaskId, Kind)]| -> Result<Vec<Found>> {
            tasks.iter().map(|(id, kind)| self.read(status, *id, *kind)).collect()
        };
        std::thread::scope(|scope| {
            let mut chunks = tasks.chunks(each);
            let own = chunks.next().unwrap_or_default();
            let others: Vec<_> = chunks.map(|chunk| scope.spawn(move || read(chunk))).collect();
            let mut found = read(own)?;
            for other in others {
                let read = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                found.extend(read?);
            }
            Ok(found)
        })
    }

    fn read(self, status: Status, id: TaskId, kind: Kind) -> Result<Found> {
        let file = match read_task(self.disk, &task_file(status, id))? {
            Some(Ok(file)) => file,
            Some(Err(why)) => return Ok(Found::Broken(why)),
            None => return Ok(Found::Nothing),
        };
        let held = self.state.held(id);
        let is_file = kind == Kind::File;
        let task = file.task();
        let is_first = is_file && !self.state.is_begun() && task.id == id && task.status == status;
        let is_leased = status.is_leased() && task.lease.value().is_some();
        let lease = match self.traces.filter(|_| is_first && is_leased) {
            Some(traces) => traces.lease(self.disk, id)?,
            None => LeaseOrigin::None,
        };
        let is_elsewhere = match held {
            Some(held) => held.lease == LeaseOrigin::Elsewhere,
            None => lease == LeaseOrigin::Elsewhere,
        };
        let first = is_first.then(|| Box::new(Held::of(&file, lease)));
        let is_odd = !is_first
            && (!is_file || !is_committed(&file, id, status, held) || !self.has_run(id, held)?);
        let entry = entry_of(self.disk, self.layout, &file)?;
        let entry = Box::new(entry.elsewhere(is_elsewhere));
        Ok(Found::Task { entry, first, is_odd })
    }

    /// Whether the run of Accord's lease is what Accord committed.
    fn has_run(self, id: TaskId, held: Option<&Held>) -> Result<bool> {
        let Some(run) = held.and_then(|held| held.run.as_deref()) else { return Ok(true) };
        let path = format!("{}/run.json", self.layout.folder(id));
        let found = readable(read_file(self.disk, &path, MAX_FILE))?;
        Ok(found.as_deref() == Some(run.as_bytes()))
    }
}

/// Whether a file is what Accord committed, in the folder of its status.
pub(crate) fn is_committed(file: &TaskFile, id: TaskId, at: Status, held: Option<&Held>) -> bool {
    let is_placed = file.task().id == id && file.task().status == at;
    let front = || digest(file.front().as_bytes());
    is_placed && held.is_some_and(|held| held.status == at && held.front == front())
}

pub(crate) fn read_task(disk: &dyn Disk, path: &str) -> Result<Option<Result<TaskFile, String>>> {
    let text = read_text(disk, path)?;
    let read = |text: String| TaskFile::read(&text).map_err(|error| error.to_string());
    Ok(text.map(|text| text.and_then(read)))
}

pub(crate) fn read_text(disk: &dyn Disk, path: &str) -> Result<Option<Result<String, String>>> {
    match read_file(disk, path, MAX_FILE) {
        Ok(bytes) => Ok(bytes
            .map(|bytes| String::from_utf8(bytes).map_err(|_| "the file is not UTF-8".to_owned()))),
        // It must not hide the others.
        Err(error) if error.is_unreadable() => Ok(Some(Err(error.to_string()))),
        Err(error) => Err(error),
    }
}

/// What was read. Something that is no readable file counts as absent: it hides nothing else.
pub(crate) fn readable(read: Result<Option<Vec<u8>>>) -> Result<Option<Vec<u8>>> {
    match read {
        Err(error) if error.is_unreadable() => Ok(None),
        read => read,
    }
}

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
        if let Some(bytes) = readable(read_file(disk, &path, MAX_FILE))? {
            let document = accord_canon::read(&bytes).ok();
            return Ok(document.and_then(|document| T::from_document(document).ok()));
        }
    }
    Ok(None)
}
