//! Files that others changed: what counts, and what is undone. A task whose front matter and folder
//! are what Accord committed is not looked at further. Any other one is judged when an operation
//! reads it, when a process builds its index, or when a process that watches the tree notices the
//! change. The verdict is a commit like any other, with one event.

pub(crate) mod copies;
pub(crate) mod settings;
pub(crate) mod verdict;
pub(crate) mod waiting;

use accord_contract::{Code, Failure, Object, Value};
use accord_tasks_core::board::Entry;
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::referee::{Difference, is_guarded};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};
use accord_trees::Kind;
use accord_trees::wal::{Op, Skipped, digest};

use crate::Result;
use crate::committed::{Held, LeaseOrigin};
use crate::layout::{COMPANIONS, OWN, companion, task_file};
use crate::tree::failure;
use crate::work::Work;
use verdict::{Before, Noticed, UNMERGED, Verdict, decide};
use waiting::Waiting;

/// Who acts when a file was changed and nothing says by whom.
pub(crate) const SYSTEM: &str = "system";

/// The text of a task file that did not count in full.
pub(crate) fn refused_file(id: TaskId) -> String {
    format!("{OWN}/refused/{id}.md")
}

/// Whether what the logs say decides about a file that others moved.
fn may_wait(held: &Held, found: &[copies::Found]) -> bool {
    let is_moved = |one: &copies::Found| {
        let said = one.task().map(|file| file.task().status);
        said.into_iter().chain([one.folder]).any(|to| is_guarded(held.status, to))
    };
    held.lease == LeaseOrigin::None && found.iter().any(is_moved)
}

impl Work<'_> {
    /// Judges the files of a task, without writing anything.
    pub(crate) fn judge(&self, id: TaskId, intended: Option<&TaskFile>) -> Result<Verdict> {
        let mut found = copies::find_all(self.disk, id).map_err(|error| failure(&error))?;
        let held = self.held(id);
        let is_in_git = self.index.is_in_git;
        let mut moved_by_others = None;
        if is_in_git || held.is_some_and(|held| may_wait(held, &found)) {
            let logs = self.logs()?;
            moved_by_others = logs.moved_by_others(id);
            for one in found.iter_mut().filter(|_| is_in_git) {
                let folder = one.folder;
                let explains = |file| logs.explains(file, folder, self.state);
                one.explained = one.task().and_then(explains);
            }
        }
        let closed = self.index.board.status(id).filter(|status| status.is_final());
        let new_lease = match self.index.traces.as_ref().filter(|_| !self.state.is_begun()) {
            Some(traces) => traces.lease(self.disk, id).map_err(|error| failure(&error))?,
            None => LeaseOrigin::Other,
        };
        let decisions = |file: &TaskFile| self.has_decision(file).unwrap_or(false);
        let before = Before {
            id,
            held,
            closed,
            intended,
            new_lease,
            is_in_git,
            moved_by_others,
            decisions: &decisions,
            now: self.now,
        };
        Ok(decide(before, found))
    }

    /// Judges a task, and commits the verdict.
    pub(crate) fn settle(&mut self, id: TaskId) -> Result<()> {
        let known = self.verdicts.borrow_mut().remove(&id);
        let verdict = match known {
            Some(verdict) => verdict,
            None => self.judge(id, None)?,
        };
        self.carry_out(id, verdict)
    }

    /// Judges what is known to be odd, before the decisions of a group.
    pub(crate) fn settle_all(&mut self, skipped: &[Skipped]) {
        self.begin_once();
        if std::mem::take(&mut self.index.has_odd_settings) {
            drop(self.attempt(Work::settle_settings));
        }
        for one in skipped {
            drop(self.attempt(|work| work.settle_skipped(one)));
        }
        self.settle_tasks();
    }

    /// Judges the tasks that are known to be odd.
    pub(crate) fn settle_tasks(&mut self) {
        self.begin_once();
        for id in std::mem::take(&mut self.index.odd) {
            // A file that cannot be looked at is judged when it is read.
            drop(self.attempt(|work| work.settle(id)));
        }
    }

    fn begin_once(&mut self) {
        if !self.state.is_begun() && !std::mem::replace(&mut self.is_begun, true) {
            drop(self.attempt(|work| {
                work.begin();
                Ok(())
            }));
        }
    }

    /// Takes note of the tasks of a tree about which nothing is committed.
    fn begin(&mut self) {
        self.is_first = true;
        let tasks = std::mem::take(&mut self.index.first);
        let is_leased = |held: &Held| held.lease == LeaseOrigin::Unknown;
        let leased = tasks.iter().filter(|(_, held)| is_leased(held));
        let leased: Vec<String> = leased.map(|(id, _)| id.to_string()).collect();
        if !leased.is_empty() {
            let event = TaskEvent::new(kind::STATE_LOST, SYSTEM, None, self.now)
                .with("reason", "committed_state_missing")
                .with("tasks", leased);
            self.events.push(event);
        }
        if let Some(last) = self.index.vanished {
            let event = TaskEvent::new(kind::STATE_LOST, SYSTEM, None, self.now)
                .with("reason", "tree_made_again")
                .with("lastEvent", last);
            self.events.push(event);
        }
        for (id, held) in tasks {
            self.touch(id, Some(held));
        }
    }

    pub(crate) fn forget_broken(&mut self, path: &str) {
        self.index.broken.remove(path);
        if self.state.broken(path).is_some() {
            self.broken.insert(path.to_owned(), Value::Null);
        }
    }

    /// Judges a file that a commit left alone, because others changed it at the same time.
    pub(crate) fn settle_skipped(&mut self, skipped: &Skipped) -> Result<()> {
        let name = skipped.path.rsplit('/').next().unwrap_or_default();
        if skipped.path.starts_with("tasks/")
            && let Some(id) = name.strip_suffix(".md").and_then(|name| TaskId::parse(name).ok())
            && let Ok(intended) = TaskFile::read(&skipped.text)
        {
            let verdict = self.judge(id, Some(&intended))?;
            return self.carry_out(id, verdict);
        }
        // Run artifacts are Accord's. Anything else belongs to those who changed it.
        if skipped.path.contains("runs/") {
            return self.put(&skipped.path, skipped.text.clone());
        }
        Ok(())
    }

    fn carry_out(&mut self, id: TaskId, verdict: Verdict) -> Result<()> {
        if let Some(waiting) = verdict.waiting {
            self.wait(id, verdict.file, verdict.lease, waiting);
            return Ok(());
        }
        self.index.waiting.remove(&id);
        let Verdict {
            file,
            at,
            others,
            mut refused,
            refused_text,
            noticed,
            lease,
            is_explained,
            ..
        } = verdict;
        let mut is_of_another_commit = false;
        if let Some(text) = refused_text {
            self.put(&refused_file(id), text)?;
        }
        if let Some(file) = &file {
            refused.extend(self.mend_companion(file)?);
            if let Some(from) = self.held(id).map(|held| held.status)
                && is_explained
                && from != file.task().status
            {
                // The log knows, so that a restart of the machine does not bring it back.
                self.ops.push(Op::Remove { path: task_file(from, id) });
            }
            self.place(file, at, others)?;
            self.mend_run(id, lease, &mut refused)?;
            for &status in Status::ALL {
                self.forget_broken(&task_file(status, id));
            }
            self.hold(file, lease)?;
        } else {
            match &noticed {
                Noticed::Deleted(from) => {
                    is_of_another_commit = self.explained()?.is_some_and(|logs| !logs.names(id));
                    self.index.board.remove(id);
                    if !from.is_final() {
                        self.touch(id, None);
                    }
                }
                Noticed::Broken { folder, why, .. } => {
                    self.index.broken.insert(task_file(*folder, id), why.clone());
                    // What waits for it goes on waiting.
                    let status = self.held(id).map_or(*folder, |held| held.status);
                    self.index.put_closed(id, status);
                }
                _ => self.index.board.remove(id),
            }
        }
        if !is_of_another_commit {
            self.report(id, file.as_ref(), &refused, noticed);
        }
        Ok(())
    }

    /// Takes note of a move that waits for a person. Nothing is written.
    fn wait(&mut self, id: TaskId, file: Option<TaskFile>, lease: LeaseOrigin, waiting: Waiting) {
        if let Some(file) = file {
            let task = file.task();
            if task.status.is_final() {
                self.index.put_closed(id, task.status);
            } else {
                let is_elsewhere = lease == LeaseOrigin::Elsewhere;
                self.index.put(Entry::of(task, None).elsewhere(is_elsewhere).unadopted());
            }
        }
        self.index.waiting.insert(id, waiting);
    }

    /// A person takes over a move that waits: the file counts as it says. Answers the file.
    pub(crate) fn take_waiting(&mut self, id: TaskId) -> Result<TaskFile> {
        let verdict = self.judge(id, None)?;
        let Some(waiting) = verdict.waiting else {
            let message = format!("nothing of {id} waits for a person");
            return Err(Failure::new(Code::AofNothingToAdopt, message));
        };
        let file = waiting.wanted;
        let has_lease = file.task().lease.value().is_some();
        let lease = if has_lease { verdict.lease } else { LeaseOrigin::None };
        self.verdicts.borrow_mut().remove(&id);
        let taken = Verdict {
            file: Some(file.clone()),
            at: verdict.at,
            others: verdict.others,
            lease,
            is_explained: true,
            ..Verdict::default()
        };
        self.carry_out(id, taken)?;
        Ok(file)
    }

    /// Brings the file that counts to its folder. What does not count moves out of the way.
    fn place(
        &mut self,
        file: &TaskFile,
        at: Option<(Status, Option<String>)>,
        others: Vec<copies::Found>,
    ) -> Result<()> {
        let (id, to) = (file.task().id, file.task().status);
        let path = task_file(to, id);
        let mut was = at.as_ref().and_then(|(_, digest)| digest.clone());
        let mut is_taken = false;
        for other in others {
            if other.folder == to && at.as_ref().is_some_and(|(folder, _)| *folder != to) {
                // It is overwritten.
                self.put(&self.away(id, other.folder), other.text())?;
                (was, is_taken) = (other.digest, true);
            } else {
                self.move_away(id, other.folder);
            }
        }
        match at {
            Some((folder, _)) if folder != to && is_taken => self.move_away(id, folder),
            Some((folder, _)) if folder != to => {
                let from = task_file(folder, id);
                self.ops.push(Op::Move { from: from.clone(), to: path.clone() });
                self.staged.insert(from, None);
            }
            _ => {}
        }
        self.bring_companion(id, to)?;
        let text = file.text();
        if was.as_deref() != Some(&*digest(text.as_bytes())) {
            self.ops.push(Op::Put { path: path.clone(), text: text.clone(), was });
        }
        self.staged.insert(path, Some(text));
        Ok(())
    }

    /// A new path for something that does not count.
    pub(crate) fn away(&self, id: TaskId, folder: Status) -> String {
        format!("{OWN}/refused/{id}.{folder}.{}.md", self.index.last_event + 1)
    }

    pub(crate) fn move_away(&mut self, id: TaskId, folder: Status) {
        let from = task_file(folder, id);
        self.ops.push(Op::Move { from: from.clone(), to: self.away(id, folder) });
        self.staged.insert(from, None);
    }

    /// Moves the folder beside a task file that others moved without it.
    fn bring_companion(&mut self, id: TaskId, to: Status) -> Result<()> {
        let is_folder = |path: &str| {
            let stat = self.disk.stat(path).map_err(|error| failure(&error))?;
            Ok::<_, Failure>(stat.is_some_and(|stat| stat.kind == Kind::Folder))
        };
        if is_folder(&companion(to, id))? {
            return Ok(());
        }
        for &status in Status::ALL.iter().filter(|status| **status != to) {
            let from = companion(status, id);
            if is_folder(&from)? {
                self.ops.push(Op::Move { from, to: companion(to, id) });
                return Ok(());
            }
        }
        self.make_companion(id, to);
        Ok(())
    }

    /// Whether the folder beside a task file is complete.
    pub(crate) fn has_companion(&self, file: &TaskFile) -> bool {
        let folder = companion(file.task().status, file.task().id);
        let is_there = |name: &&str| {
            self.disk.stat(&format!("{folder}/{name}")).is_ok_and(|stat| stat.is_some())
        };
        COMPANIONS.iter().all(is_there)
    }

    /// Makes the folder beside a task file.
    pub(crate) fn make_companion(&mut self, id: TaskId, to: Status) {
        let folders = COMPANIONS.iter().map(|name| format!("{}/{name}", companion(to, id)));
        self.ops.extend(folders.map(|path| Op::Folder { path }));
    }

    /// Replaces a link, or whatever else is not a folder, beside a task file.
    fn mend_companion(&mut self, file: &TaskFile) -> Result<Option<Difference>> {
        let path = companion(file.task().status, file.task().id);
        let stat = self.disk.stat(&path).map_err(|error| failure(&error))?;
        if stat.is_none_or(|stat| stat.kind == Kind::Folder) {
            return Ok(None);
        }
        let away = format!("{OWN}/refused/{}.{}", file.task().id, self.index.last_event + 1);
        self.ops.push(Op::Move { from: path, to: away });
        let (folder, other) = (Value::from("a folder"), Value::from("a link or a file"));
        Ok(Some(Difference::new(&["folder"], Some(&folder), Some(&other))))
    }

    /// The run of Accord's lease says which messages are stale, so it is held like the lease.
    fn mend_run(
        &mut self,
        id: TaskId,
        lease: LeaseOrigin,
        refused: &mut Vec<Difference>,
    ) -> Result<()> {
        let run = self.held(id).and_then(|held| held.run.clone());
        let Some(run) = run.filter(|_| lease == LeaseOrigin::Accord) else { return Ok(()) };
        let path = format!("{}/run.json", self.layout.folder(id));
        let found = self.text(&path)?;
        if found.as_deref() == Some(&*run) {
            return Ok(());
        }
        let parsed = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.into());
        let (accord, said): (Value, Option<Value>) = (parsed(&run), found.as_deref().map(parsed));
        refused.push(Difference::new(&["run.json"], Some(&accord), said.as_ref()));
        self.put_in_run(id, "run.json", run)
    }

    fn report(&mut self, id: TaskId, file: Option<&TaskFile>, found: &[Difference], news: Noticed) {
        let now = self.now;
        let event = |kind| TaskEvent::new(kind, SYSTEM, Some(id), now).with("source", "file");
        if !found.is_empty() {
            let values = found.iter().map(|one| (one.member(), one.values()));
            let event = event(kind::EDIT_REFUSED)
                .with("changes", Value::Object(values.collect::<Object>()))
                .with("kept", refused_file(id));
            self.events.push(event);
        }
        let event = match news {
            Noticed::Nothing => return,
            Noticed::Created => {
                let title = file.map(|file| file.task().title.clone()).unwrap_or_default();
                event(kind::CREATED).with("title", title)
            }
            Noticed::Moved(from) => {
                let to = file.map_or(from, |file| file.task().status);
                TaskEvent::moved(id, SYSTEM, (from, to), Some("file_edited"), self.now)
                    .with("source", "file")
            }
            Noticed::Updated => event(kind::UPDATED),
            Noticed::Deleted(from) => event(kind::DELETED).with("from", from.as_str()),
            Noticed::Broken { folder, why, digest } => {
                let path = task_file(folder, id);
                if self.state.broken(&path) == Some(&digest) {
                    return;
                }
                self.broken.insert(path.clone(), digest.into());
                if why == UNMERGED {
                    // A merge that waits for a person is no failed validation.
                    return;
                }
                event(kind::BROKEN).with("filename", path).with("errors", vec![why])
            }
        };
        self.events.push(event);
    }
}
