//! The changes of a group, while it is decided.
//!
//! Decisions of one group see each other: files that are staged are read before those on the disk.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use accord_contract::codes::{Code, Failure};
use accord_contract::text::pretty;
use accord_contract::time::Time;
use accord_contract::wire::{Object, Value, Wire};
use accord_tasks_core::board::{Action, Board, Entry, Limits};
use accord_tasks_core::event::TaskEvent;
use accord_tasks_core::run::Heartbeat;
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskDay, TaskId};
use accord_trees::wal::{Op, Record, digest};
use accord_trees::{Disk, Result as TreeResult, read_file};
use serde_json::json;

use crate::index::Index;
use crate::layout::{COMPANIONS, RunLayout, companion, events, task_file};
use crate::manifest::Settings;
use crate::scan::{MAX_FILE, document, entry_of, read_task};
use crate::tree::failure;

/// A group of changes.
pub(crate) struct Work<'w> {
    disk: &'w dyn Disk,
    index: &'w mut Index,
    settings: Arc<Settings>,
    layout: RunLayout,
    now: Time,
    /// The contents of staged files; `None` for one that was removed.
    staged: HashMap<String, Option<String>>,
    records: Vec<Record>,
    /// The changes of the present decision.
    ops: Vec<Op>,
    events: Vec<TaskEvent>,
    touched: BTreeSet<TaskId>,
    /// The failure after which nothing more can be decided in this group.
    spoiled: Option<Failure>,
}

impl<'w> Work<'w> {
    pub(crate) fn new(
        disk: &'w dyn Disk,
        index: &'w mut Index,
        settings: Arc<Settings>,
        now: Time,
    ) -> Self {
        Self {
            disk,
            index,
            layout: settings.layout(),
            settings,
            now,
            staged: HashMap::new(),
            records: Vec::new(),
            ops: Vec::new(),
            events: Vec::new(),
            touched: BTreeSet::new(),
            spoiled: None,
        }
    }

    /// Runs one decision. A refusal stages its events and nothing else.
    pub(crate) fn attempt<T>(
        &mut self,
        decide: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(failure) = &self.spoiled {
            return Err(failure.clone());
        }
        let answer = decide(self);
        if let Err(failure) = &answer
            && !self.ops.is_empty()
        {
            // A decision reads first and stages last. If a file could not be read after that, the
            // index is ahead of what is committed.
            self.ops.clear();
            self.touched.clear();
            self.spoiled = Some(failure.clone());
        }
        self.close();
        answer
    }

    /// The time of the group.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// The settings of the tree.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where run artifacts are.
    pub(crate) fn layout(&self) -> RunLayout {
        self.layout
    }

    /// The files.
    pub(crate) fn disk(&self) -> &dyn Disk {
        self.disk
    }

    /// How many files cannot be read as tasks.
    pub(crate) fn damaged(&self) -> usize {
        self.index.broken.len()
    }

    /// The number of the last event.
    pub(crate) fn last_event(&self) -> u64 {
        self.index.last_event
    }

    /// The board.
    pub(crate) fn board(&self) -> &Board {
        &self.index.board
    }

    /// The actions that are due.
    pub(crate) fn poll(&mut self, limits: &Limits) -> Vec<Action> {
        self.index.board.poll(limits, self.now)
    }

    /// The next id of today.
    pub(crate) fn next_id(&mut self) -> Result<TaskId, Failure> {
        let day = TaskDay::of(self.now);
        self.index.numbers.entry(day).or_default().next(day)
    }

    /// A task.
    ///
    /// # Errors
    /// `task_not_found`; `task_file_invalid` if its file cannot be read.
    pub(crate) fn task(&self, id: TaskId) -> Result<TaskFile, Failure> {
        self.find(id)?.ok_or_else(|| {
            Failure::new(Code::AofTaskNotFound, format!("there is no task {id}"))
                .with("task_id", id.to_string())
        })
    }

    /// A task, if it exists.
    pub(crate) fn find(&self, id: TaskId) -> Result<Option<TaskFile>, Failure> {
        let Some(status) = self.index.board.status(id) else { return Ok(None) };
        let path = task_file(status, id);
        let read = match self.staged.get(&path) {
            Some(Some(text)) => Some(TaskFile::read(text).map_err(|error| error.to_string())),
            Some(None) => None,
            None => read_task(self.disk, &path).map_err(|error| failure(&error))?,
        };
        match read {
            None => Ok(None),
            Some(Ok(file)) => Ok(Some(file)),
            Some(Err(why)) => Err(Failure::new(Code::AofTaskFileInvalid, format!("{path}: {why}"))),
        }
    }

    /// A run artifact of a task.
    pub(crate) fn artifact<T: Wire>(&self, id: TaskId, name: &str) -> Result<Option<T>, Failure> {
        let path = format!("{}/{name}", self.layout.folder(id));
        match self.staged.get(&path) {
            Some(text) => Ok(text
                .as_ref()
                .and_then(|text| T::from_document(serde_json::from_str(text).ok()?).ok())),
            None => document(self.disk, self.layout, id, name).map_err(|error| failure(&error)),
        }
    }

    /// The text of a run artifact of a task, from either layout.
    pub(crate) fn artifact_text(&self, id: TaskId, name: &str) -> Result<Option<String>, Failure> {
        for layout in [self.layout, self.layout.other()] {
            if let Some(text) = self.text(&format!("{}/{name}", layout.folder(id)))? {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// The text of a file. Bytes that are not UTF-8 are replaced.
    pub(crate) fn text(&self, path: &str) -> Result<Option<String>, Failure> {
        if let Some(staged) = self.staged.get(path) {
            return Ok(staged.clone());
        }
        let bytes = read_file(self.disk, path, MAX_FILE).map_err(|error| failure(&error))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Writes a new task, with the folders beside it.
    pub(crate) fn create(&mut self, file: &TaskFile) -> Result<(), Failure> {
        let (id, status) = (file.task().id, file.task().status);
        for folder in COMPANIONS {
            let path = format!("{}/{folder}", companion(status, id));
            self.ops.push(Op::Folder { path });
        }
        self.put(&task_file(status, id), file.text())?;
        self.note(file)
    }

    /// Writes a changed task. If its status changed, file and folder move along.
    pub(crate) fn update(&mut self, before: &TaskFile, after: &TaskFile) -> Result<(), Failure> {
        let (id, from, to) = (after.task().id, before.task().status, after.task().status);
        if from != to {
            let (old, new) = (task_file(from, id), task_file(to, id));
            self.ops.push(Op::Move { from: old.clone(), to: new.clone() });
            self.ops.push(Op::Move { from: companion(from, id), to: companion(to, id) });
            self.staged.insert(old, None);
            self.staged.insert(new, Some(before.text()));
        }
        self.put(&task_file(to, id), after.text())?;
        self.note(after)
    }

    /// Writes a run artifact.
    pub(crate) fn write_artifact(
        &mut self,
        id: TaskId,
        name: &str,
        document: &impl Wire,
    ) -> Result<(), Failure> {
        let path = format!("{}/{name}", self.layout.folder(id));
        self.put(&path, pretty(&object(document.encode())))
    }

    /// Moves the result of an earlier run out of the way.
    pub(crate) fn archive_result(&mut self, id: TaskId, run: &str) -> Result<(), Failure> {
        let from = format!("{}/run_result.json", self.layout.folder(id));
        let to = format!("{}/results/{run}.json", self.layout.folder(id));
        let text = match self.staged.get(&from) {
            Some(text) => text.clone(),
            None => read_file(self.disk, &from, MAX_FILE)
                .map_err(|error| failure(&error))?
                .and_then(|bytes| String::from_utf8(bytes).ok()),
        };
        self.ops.push(Op::Move { from: from.clone(), to: to.clone() });
        self.staged.insert(from, None);
        self.staged.insert(to, text);
        Ok(())
    }

    /// Whether a path inside a folder names something that exists, without leaving the folder.
    pub(crate) fn exists_in(&self, folder: &str, path: &str) -> bool {
        let is_inside = !path.starts_with('/') && !path.split('/').any(|name| name == "..");
        is_inside && self.disk.stat(&format!("{folder}/{path}")).is_ok_and(|stat| stat.is_some())
    }

    /// Writes a file.
    pub(crate) fn put(&mut self, path: &str, text: String) -> Result<(), Failure> {
        let was = match self.staged.get(path) {
            Some(staged) => staged.as_ref().map(|text| digest(text.as_bytes())),
            None => read_file(self.disk, path, MAX_FILE)
                .map_err(|error| failure(&error))?
                .map(|bytes| digest(&bytes)),
        };
        self.ops.push(Op::Put { path: path.to_owned(), text: text.clone(), was });
        self.staged.insert(path.to_owned(), Some(text));
        Ok(())
    }

    /// Records an event.
    pub(crate) fn event(&mut self, event: TaskEvent) {
        self.events.push(event);
    }

    /// Takes a changed task over into the index.
    fn note(&mut self, file: &TaskFile) -> Result<(), Failure> {
        let task = file.task();
        self.touched.insert(task.id);
        let heartbeat: Option<Heartbeat> = match task.status {
            Status::InProgress => self.artifact(task.id, "run_heartbeat.json")?,
            _ => None,
        };
        self.index.put(Entry::of(task, heartbeat.as_ref()));
        Ok(())
    }

    /// Makes a record of the present decision.
    fn close(&mut self) {
        let ops = std::mem::take(&mut self.ops);
        let events = std::mem::take(&mut self.events);
        let touched = std::mem::take(&mut self.touched);
        if ops.is_empty() && events.is_empty() {
            return;
        }
        let mut ops = ops;
        ops.extend(self.event_lines(&events));
        let touched: Vec<String> = touched.iter().map(ToString::to_string).collect();
        let detail = json!({"tasks": touched, "event": self.index.last_event});
        let Value::Object(detail) = detail else { return };
        self.records.push(Record { ops, detail });
    }

    /// The lines of events, appended to the logs of their days.
    fn event_lines(&mut self, list: &[TaskEvent]) -> Vec<Op> {
        let mut ops: Vec<Op> = Vec::new();
        for event in list {
            self.index.last_event += 1;
            let line = format!("{}\n", event.line(self.index.last_event));
            let path = events(event.at);
            let known = self.index.lengths.get(&path).copied();
            let at = known.unwrap_or_else(|| length(self.disk, &path));
            self.index.lengths.insert(path.clone(), at + line.len() as u64);
            match ops.last_mut() {
                Some(Op::Append { path: last, text, .. }) if *last == path => text.push_str(&line),
                _ => ops.push(Op::Append { path, at, text: line }),
            }
        }
        ops
    }

    /// The records of the group, and whether the index must be built again.
    pub(crate) fn into_records(self) -> (Vec<Record>, bool) {
        (self.records, self.spoiled.is_some())
    }
}

fn length(disk: &dyn Disk, path: &str) -> u64 {
    disk.stat(path).ok().flatten().map_or(0, |stat| stat.length)
}

/// Takes the commits of other processes over into the index.
pub(crate) fn take_over(
    index: &mut Index,
    disk: &dyn Disk,
    layout: RunLayout,
    records: &[Record],
) -> TreeResult<()> {
    // Other processes appended to the logs.
    index.lengths.clear();
    for record in records {
        let event = record.detail.get("event").and_then(Value::as_u64);
        index.last_event = index.last_event.max(event.unwrap_or(0));
        let tasks = record.detail.get("tasks").and_then(Value::as_array).into_iter().flatten();
        for id in tasks.filter_map(Value::as_str).filter_map(|id| TaskId::parse(id).ok()) {
            reread(index, disk, layout, id)?;
        }
    }
    Ok(())
}

/// Reads a task again, wherever it is.
fn reread(index: &mut Index, disk: &dyn Disk, layout: RunLayout, id: TaskId) -> TreeResult<()> {
    for &status in Status::ALL {
        let path = task_file(status, id);
        match read_task(disk, &path)? {
            None => {}
            Some(Ok(file)) => {
                index.broken.remove(&path);
                index.put(entry_of(disk, layout, &file)?);
                return Ok(());
            }
            Some(Err(why)) => {
                index.broken.insert(path, why);
            }
        }
    }
    index.board.remove(id);
    Ok(())
}

/// The members of an object, for a new front matter.
pub(crate) fn object(value: Value) -> Object {
    match value {
        Value::Object(members) => members,
        _ => Object::new(),
    }
}
