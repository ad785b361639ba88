//! The changes of a group, while it is decided. Decisions of one group see each other: files that
//! are staged are read before those on the disk. A task whose file others changed is judged before
//! a decision sees it.

mod record;
mod take_over;

use std::cell::{Ref, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use accord_base::By;
use accord_base::decision::DecisionRecord;
use accord_contract::{Code, Failure, Object, Time, Value};
use accord_tasks_core::board::{Action, Board, Entry, Limits};
use accord_tasks_core::event::TaskEvent;
use accord_tasks_core::operations::IdForm;
use accord_tasks_core::run::Heartbeat;
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskDay, TaskId};
use accord_trees::wal::{ANYTHING, Op, Record, digest};
use accord_trees::{Disk, Kind, read_file};

use crate::Result;
use crate::committed::{Held, LeaseOrigin, State};
use crate::explained::{Explained, front_of};
use crate::index::Index;
use crate::layout::{COMPANIONS, RunLayout, companion, task_file};
use crate::manifest::Settings;
use crate::referee::verdict::{UNMERGED, Verdict};
use crate::referee::waiting::Waiting;
use crate::scan::{MAX_FILE, is_committed, read_text, readable};
use crate::tree::failure;
pub(crate) use take_over::take_over;

pub(crate) struct Work<'w> {
    pub(crate) disk: &'w dyn Disk,
    pub(crate) state: &'w State,
    pub(crate) index: &'w mut Index,
    settings: Arc<Settings>,
    pub(crate) layout: RunLayout,
    pub(crate) now: Time,
    /// The contents of staged files; `None` for one that was removed.
    pub(crate) staged: HashMap<String, Option<String>>,
    /// What the group says about tasks; `None` for one that cannot move any more.
    held: HashMap<TaskId, Option<Held>>,
    /// The digests of files that were read and whose texts are not those that Accord would write.
    unusual: RefCell<HashMap<TaskId, String>>,
    /// What is at the paths of folders of runs, as far as they were looked for.
    pub(crate) run_folders: RefCell<HashMap<String, Option<Kind>>>,
    pub(crate) beats: HashMap<TaskId, Heartbeat>,
    /// Where the outputs are that take the place of those of a task with this group.
    pub(crate) taken: HashMap<TaskId, String>,
    /// Verdicts about tasks that were read and are not settled yet.
    pub(crate) verdicts: RefCell<BTreeMap<TaskId, Verdict>>,
    records: Vec<Record>,
    /// The changes of the present decision.
    pub(crate) ops: Vec<Op>,
    pub(crate) events: Vec<TaskEvent>,
    decisions: Vec<DecisionRecord>,
    /// The digest of the last line of the record of decisions, with those of this group.
    last_decision: Option<String>,
    touched: BTreeSet<TaskId>,
    /// Files that cannot be read, for the committed state.
    pub(crate) broken: Object,
    /// The public key of the copy of the tree that the present decision confirms.
    pub(crate) confirmed: Option<String>,
    /// Whether the present decision is the first one of a tree.
    pub(crate) is_first: bool,
    /// Whether this group took note of the tasks of a tree about which nothing was committed.
    pub(crate) is_begun: bool,
    /// The digests of the front matters that this group committed, for events.
    fronts: HashMap<TaskId, String>,
    /// The failure after which nothing more can be decided in this group.
    spoiled: Option<Failure>,
}

impl<'w> Work<'w> {
    pub(crate) fn new(
        disk: &'w dyn Disk,
        state: &'w State,
        index: &'w mut Index,
        settings: Arc<Settings>,
        now: Time,
    ) -> Self {
        Self {
            disk,
            state,
            index,
            layout: settings.layout(),
            settings,
            now,
            staged: HashMap::new(),
            held: HashMap::new(),
            unusual: RefCell::default(),
            run_folders: RefCell::default(),
            beats: HashMap::new(),
            taken: HashMap::new(),
            verdicts: RefCell::default(),
            records: Vec::new(),
            ops: Vec::new(),
            events: Vec::new(),
            decisions: Vec::new(),
            last_decision: state.last_decision().map(str::to_owned),
            touched: BTreeSet::new(),
            broken: Object::new(),
            confirmed: None,
            is_first: false,
            is_begun: false,
            fronts: HashMap::new(),
            spoiled: None,
        }
    }

    /// Runs one decision. A refusal stages its events and nothing else.
    pub(crate) fn attempt<T>(&mut self, decide: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if let Some(failure) = &self.spoiled {
            return Err(failure.clone());
        }
        let answer = decide(self);
        if answer.is_err() {
            self.decisions.clear();
        }
        if let Err(failure) = &answer
            && !self.ops.is_empty()
        {
            // If a file could not be read after staging began, the index is ahead of the commits.
            self.ops.clear();
            self.touched.clear();
            self.broken.clear();
            self.spoiled = Some(failure.clone());
        }
        self.close();
        answer
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn layout(&self) -> RunLayout {
        self.layout
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        self.disk
    }

    /// Whether the file of a task cannot be read.
    pub(crate) fn is_broken(&self, id: TaskId) -> bool {
        self.damage(id).is_some()
    }

    /// Why the file of a task cannot be read.
    pub(crate) fn damage(&self, id: TaskId) -> Option<&str> {
        let why = |status: &Status| self.index.broken.get(&task_file(*status, id));
        Status::ALL.iter().find_map(why).map(String::as_str)
    }

    /// The tasks of which git left two versions.
    pub(crate) fn unmerged(&self) -> Option<Vec<TaskId>> {
        let of = |path: &str| {
            let name = path.rsplit('/').next()?.strip_suffix(".md")?;
            TaskId::parse(name).ok()
        };
        let found = self.index.broken.iter().filter(|(_, why)| *why == UNMERGED);
        let mut ids: Vec<TaskId> = found.filter_map(|(path, _)| of(path)).collect();
        ids.sort_unstable();
        ids.dedup();
        (!ids.is_empty()).then_some(ids)
    }

    /// How many files cannot be read as tasks.
    pub(crate) fn damaged(&self) -> usize {
        self.index.broken.len()
    }

    pub(crate) fn last_event(&self) -> u64 {
        self.index.last_event
    }

    pub(crate) fn board(&self) -> &Board {
        &self.index.board
    }

    pub(crate) fn poll(&mut self, limits: &Limits) -> Vec<Action> {
        self.index.board.poll(limits, self.now)
    }

    /// The id of a new task. `random` is for projects whose ids are random.
    pub(crate) fn next_id(&mut self, random: [u8; 16]) -> Result<TaskId> {
        let day = TaskDay::of(self.now);
        let form = self.settings.manifest.as_ref().and_then(|manifest| manifest.ids);
        if form == Some(IdForm::Random) {
            let [a, b, c, d, e, f, g, h, rest @ ..] = random;
            let (mut bytes, mut step) = ([a, b, c, d, e, f, g, h], rest);
            // The first bytes can be equal: all of them count.
            bytes.iter_mut().zip(step).for_each(|(byte, more)| *byte = byte.wrapping_add(more));
            loop {
                let id = TaskId::random(day, bytes);
                if self.board().status(id).is_none() {
                    return Ok(id);
                }
                step[0] = step[0].wrapping_add(1);
                bytes[usize::from(step[0]) % 8] = bytes[usize::from(step[0]) % 8].wrapping_add(1);
            }
        }
        self.index.numbers.entry(day).or_default().next(day)
    }

    /// A task. Fails with `task_not_found`; `task_file_invalid` if its file cannot be read.
    pub(crate) fn task(&self, id: TaskId) -> Result<TaskFile> {
        self.find(id)?.ok_or_else(|| not_found(id))
    }

    /// A task for a person: also one whose lease another copy of the tree gave out.
    pub(crate) fn task_for(&self, id: TaskId, by: &By) -> Result<TaskFile> {
        let lease = self.held(id).map(|held| held.lease);
        if lease == Some(LeaseOrigin::Elsewhere) && by.check_person("take a task over").is_ok() {
            return self.read(id);
        }
        self.task(id)
    }

    /// A task, if it exists. `task_needs_adopt` if nothing says who gave out its lease, or another
    /// copy of the tree did.
    pub(crate) fn find(&self, id: TaskId) -> Result<Option<TaskFile>> {
        let needs = |message: String| {
            Failure::new(Code::AofTaskNeedsAdopt, message).with("task_id", id.to_string())
        };
        if self.held(id).is_some_and(|held| held.lease == LeaseOrigin::Unknown) {
            return Err(needs(format!("nothing says who gave out the lease of {id}")));
        }
        let file = self.peek(id)?;
        if let Some(waiting) = self.waiting(id) {
            return Err(needs(waiting.problem(id)).suggesting(waiting.suggestion(id)));
        }
        if !self.is_elsewhere(id) {
            return Ok(file);
        }
        let lease = file.as_ref().and_then(|file| file.task().lease.value());
        let agent = lease.map(|lease| lease.agent.clone()).unwrap_or_default();
        let message = format!(
            "{agent} works on {id} in another copy of the tasks: its lease holds nothing here"
        );
        Err(needs(message).suggesting(format!(
            "a person can take the task away from it: accord task block {id} REASON, then accord \
             task unblock {id}"
        )))
    }

    /// The task that a text names, as [`Board::resolve`] finds it. A refusal says so if the task
    /// was removed.
    pub(crate) fn resolve(&self, text: &str) -> Result<TaskId> {
        self.board().resolve(text).map_err(|failure| {
            if failure.code != Code::AofTaskNotFound {
                return failure;
            }
            let removed = self
                .logs()
                .ok()
                .and_then(|logs| logs.removed(text.trim(), |id| self.board().status(id).is_some()));
            let Some(id) = removed else { return failure };
            Failure::new(Code::AofTaskNotFound, format!("{id} was removed"))
                .with("task_id", id.to_string())
                .suggesting(format!("a person can bring it back: accord task undelete {id}"))
        })
    }

    /// Whether another copy of the tree gave out the lease of a task.
    pub(crate) fn is_elsewhere(&self, id: TaskId) -> bool {
        let judged = self.verdicts.borrow().get(&id).map(|verdict| verdict.lease);
        let lease = judged.or_else(|| self.held(id).map(|held| held.lease));
        lease == Some(LeaseOrigin::Elsewhere)
    }

    /// A task, for readers, or `task_not_found`.
    pub(crate) fn read(&self, id: TaskId) -> Result<TaskFile> {
        self.peek(id)?.ok_or_else(|| not_found(id))
    }

    /// A task, if it exists, for readers. Fails with `task_file_invalid`.
    pub(crate) fn peek(&self, id: TaskId) -> Result<Option<TaskFile>> {
        let Some(status) = self.index.board.status(id) else { return Ok(None) };
        let path = task_file(status, id);
        let invalid = |why: &str| Failure::new(Code::AofTaskFileInvalid, format!("{path}: {why}"));
        let held = self.held(id);
        let cached = |text: &str| self.index.files.get(id, text, &held?.front).cloned();
        match self.staged.get(&path) {
            Some(Some(text)) => {
                let file = cached(text).map_or_else(|| TaskFile::read(text), Ok);
                return file.map(Some).map_err(|error| invalid(&error.to_string()));
            }
            Some(None) => return Ok(None),
            None => {}
        }
        let read = read_text(self.disk, &path).map_err(|error| failure(&error))?;
        if let Some(Ok(text)) = read {
            if let Some(file) = cached(&text) {
                return Ok(Some(file));
            }
            if let Ok(file) = TaskFile::read(&text) {
                let is_closed = status.is_final() && file.task().status == status;
                if is_closed || is_committed(&file, id, status, held) {
                    if !file.is_text(&text) {
                        let digest = digest(text.as_bytes());
                        self.unusual.borrow_mut().insert(id, digest);
                    }
                    return Ok(Some(file));
                }
            }
        }
        // Others changed it. What counts is decided now, and written before the group ends.
        let verdict = self.judge(id, None)?;
        let answer = match (&verdict.file, &verdict.noticed) {
            (None, crate::referee::verdict::Noticed::Broken { why, .. }) => Err(invalid(why)),
            (file, _) => Ok(file.clone()),
        };
        self.verdicts.borrow_mut().insert(id, verdict);
        answer
    }

    /// What the event logs explain. `None` in a tree that git does not carry.
    pub(crate) fn explained(&self) -> Result<Option<Ref<'_, Explained>>> {
        if self.index.is_in_git { self.logs().map(Some) } else { Ok(None) }
    }

    /// What the event logs say.
    pub(crate) fn logs(&self) -> Result<Ref<'_, Explained>> {
        let logs = &self.index.explained;
        logs.borrow_mut().refresh(self.disk).map_err(|error| failure(&error))?;
        Ok(logs.borrow())
    }

    /// The move of a task that waits for a person, if it was judged.
    pub(crate) fn waiting(&self, id: TaskId) -> Option<Waiting> {
        match self.verdicts.borrow().get(&id) {
            Some(verdict) => verdict.waiting.clone(),
            None => self.index.waiting.get(&id).cloned(),
        }
    }

    /// What is committed about a task, or will be with this group.
    pub(crate) fn held(&self, id: TaskId) -> Option<&Held> {
        match self.held.get(&id) {
            Some(held) => held.as_ref(),
            None => self.state.held(id),
        }
    }

    /// The text of a file, with bytes that are not UTF-8 replaced. No readable file has none.
    pub(crate) fn text(&self, path: &str) -> Result<Option<String>> {
        if let Some(staged) = self.staged.get(path) {
            return Ok(staged.clone());
        }
        let bytes = readable(read_file(self.disk, path, MAX_FILE));
        let bytes = bytes.map_err(|error| failure(&error))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Writes a new task, with the folders beside it.
    pub(crate) fn create(&mut self, file: &TaskFile) -> Result<()> {
        let (id, status) = (file.task().id, file.task().status);
        for folder in COMPANIONS {
            let path = format!("{}/{folder}", companion(status, id));
            self.ops.push(Op::Folder { path });
        }
        // The id is new. If others made a file with this name, the commit leaves it alone.
        self.stage(task_file(status, id), file.text(), None);
        self.hold(file, LeaseOrigin::None)
    }

    /// Writes a changed task. If its status changed, file and folder move along.
    pub(crate) fn update(&mut self, before: &TaskFile, after: &TaskFile) -> Result<()> {
        let (id, from, to) = (after.task().id, before.task().status, after.task().status);
        if self.verdicts.borrow().contains_key(&id) {
            self.settle(id)?;
        }
        let lease = match self.held(id).map_or(LeaseOrigin::None, |held| held.lease) {
            _ if after.task().lease.value().is_none() => LeaseOrigin::None,
            // Only a claim gives a task a lease that it did not have.
            LeaseOrigin::None if before.task().lease.value().is_none() => LeaseOrigin::Accord,
            lease => lease,
        };
        let (old, new) = (task_file(from, id), task_file(to, id));
        let was = match self.staged.get(&old) {
            Some(Some(text)) => digest(text.as_bytes()),
            _ => {
                let read = self.unusual.borrow_mut().remove(&id);
                read.unwrap_or_else(|| digest(before.text().as_bytes()))
            }
        };
        if from != to {
            self.ops.push(Op::Move { from: old.clone(), to: new.clone() });
            self.ops.push(Op::Move { from: companion(from, id), to: companion(to, id) });
            self.staged.insert(old, None);
        }
        self.stage(new, after.text(), Some(was));
        self.hold(after, lease)
    }

    /// Whether a path inside a folder names something that exists, without leaving the folder.
    pub(crate) fn exists_in(&self, folder: &str, path: &str) -> bool {
        let is_inside = !path.starts_with('/') && !path.split('/').any(|name| name == "..");
        is_inside && self.disk.stat(&format!("{folder}/{path}")).is_ok_and(|stat| stat.is_some())
    }

    pub(crate) fn put(&mut self, path: &str, text: String) -> Result<()> {
        let was = match self.staged.get(path) {
            Some(staged) => staged.as_ref().map(|text| digest(text.as_bytes())),
            None => match read_file(self.disk, path, MAX_FILE) {
                Ok(found) => found.map(|bytes| digest(&bytes)),
                // It is replaced, if its folder is one.
                Err(error) if error.is_unreadable() && self.disk.stat(path).is_ok() => {
                    Some(ANYTHING.to_owned())
                }
                Err(error) => return Err(failure(&error)),
            },
        };
        self.stage(path.to_owned(), text, was);
        Ok(())
    }

    /// Writes a file whose content has this digest.
    pub(crate) fn stage(&mut self, path: String, text: String, was: Option<String>) {
        self.ops.push(Op::Put { path: path.clone(), text: text.clone(), was });
        self.staged.insert(path, Some(text));
    }

    pub(crate) fn event(&mut self, event: TaskEvent) {
        self.events.push(event);
    }

    /// Whether decisions are committed, and this group has no more.
    pub(crate) fn has_earlier_decisions(&self) -> bool {
        let committed = self.state.last_decision();
        committed.is_some() && committed == self.last_decision.as_deref()
    }

    /// Records the decision of a person.
    pub(crate) fn decide(&mut self, record: DecisionRecord) {
        self.decisions.push(record);
    }

    /// Takes a changed task over as committed, and into the index.
    pub(crate) fn hold(&mut self, file: &TaskFile, lease: LeaseOrigin) -> Result<()> {
        let task = file.task();
        let before = self.held(task.id);
        let held = (!task.status.is_final()).then(|| {
            let mut held = Held::of(file, lease);
            if lease == LeaseOrigin::Accord {
                let path = format!("{}/run.json", self.layout.folder(task.id));
                let staged = self.staged.get(&path).cloned().flatten();
                held.run = staged.or_else(|| before?.run.clone());
            }
            held
        });
        let is_new = before != held.as_ref();
        let heartbeat: Option<Heartbeat> = match task.status {
            Status::InProgress => match self.beats.get(&task.id) {
                Some(beat) => Some(beat.clone()),
                None => self.artifact(task.id, "run_heartbeat.json")?,
            },
            _ => None,
        };
        let is_elsewhere = lease == LeaseOrigin::Elsewhere;
        self.index.put(Entry::of(task, heartbeat.as_ref()).elsewhere(is_elsewhere));
        match &held {
            Some(held) => self.index.files.put(file, &held.front),
            None => self.index.files.remove(task.id),
        }
        if is_new {
            self.touch(task.id, held);
        }
        self.fronts.insert(task.id, front_of(file));
        Ok(())
    }

    /// Notes what is committed about a task with the present decision.
    pub(crate) fn touch(&mut self, id: TaskId, held: Option<Held>) {
        self.held.insert(id, held);
        self.touched.insert(id);
    }

    /// The records of the group, and whether the index must be built again.
    pub(crate) fn into_records(self) -> (Vec<Record>, bool) {
        (self.records, self.spoiled.is_some())
    }

    /// Forgets what would be written so far. What it says stays for this group.
    pub(crate) fn forget(&mut self) {
        self.records.clear();
    }

    /// Settles what the group read and did not change.
    pub(crate) fn settle_rest(&mut self) {
        let rest: Vec<TaskId> = self.verdicts.borrow().keys().copied().collect();
        for id in rest {
            // It is judged again when it is read again.
            drop(self.attempt(|work| work.settle(id)));
        }
    }
}

fn not_found(id: TaskId) -> Failure {
    Failure::new(Code::AofTaskNotFound, format!("there is no task {id}"))
        .with("task_id", id.to_string())
}

/// The members of an object, for a new front matter.
pub(crate) fn object(value: Value) -> Object {
    match value {
        Value::Object(members) => members,
        _ => Object::new(),
    }
}
