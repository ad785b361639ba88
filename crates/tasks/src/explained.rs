//! What the event logs of all writers explain. A tree that travels with git gets task files that
//! this copy never wrote: those of other copies, and older ones when another commit is checked out.
//! Each line of Accord about a task says which front matter it left (`front`), and is signed. A
//! file with such a front matter is what some copy committed. It counts as it is if this copy
//! signed the line, or one that a person confirmed. What any other line explains is judged.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use accord_contract::{Object, Value};
use accord_tasks_core::board::number;
use accord_tasks_core::event::{self, kind};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};
use accord_trees::record::RecordLines;
use accord_trees::wal::digest;
use accord_trees::{Disk, Result};

use crate::committed::State;
use crate::event_log::all_logs;
use crate::signed::Signed;
use crate::writers::writer_of;

/// The member of a line with the digest of the front matter that it left.
pub(crate) const FRONT: &str = "front";
/// How much of a digest is written.
const DIGITS: usize = 16;
/// What changes without an event: a heartbeat renews the lease.
const LEFT_OUT: [&str; 3] = ["lease", "updatedAt", "contentHash"];

/// A writer, or nothing for logs that have no name in their names.
pub(crate) type Writer = Option<Arc<str>>;

/// A line that says which front matter it left.
#[derive(Clone, Debug)]
struct Line {
    writer: Writer,
    signed: Option<Signed>,
}

/// Whose line explains a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Explanation {
    pub(crate) writer: Writer,
    pub(crate) source: Source,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Source {
    /// Nothing proves whose line it is, or it is that of a copy that no person confirmed.
    Unknown,
    /// Another copy signed it, which a person confirmed.
    Confirmed,
    /// This copy signed it.
    Own,
}

#[derive(Debug, Default)]
pub(crate) struct Explained {
    /// Which lines left which front matter of a task.
    fronts: HashMap<(TaskId, Box<str>), Vec<Line>>,
    /// The last move of a task that another program logged.
    moved: HashMap<TaskId, Status>,
    /// The tasks that some line is about.
    named: HashSet<TaskId>,
    /// Who created the task of an id, and when.
    created: HashMap<(TaskId, Box<str>), Writer>,
    /// Who made a task wait for another one.
    waits: HashMap<(TaskId, TaskId), Writer>,
    /// How much of each log was read.
    read: HashMap<String, u64>,
}

/// The digest of the members of a front matter that only change with an event.
pub(crate) fn front_of(file: &TaskFile) -> String {
    let kept = file.members().iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
    let kept: Object = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut digest = digest(Value::Object(kept).to_string().as_bytes());
    digest.truncate(DIGITS);
    digest
}

impl Explained {
    /// Reads what was added to the logs. A damaged line explains nothing.
    pub(crate) fn refresh(&mut self, disk: &dyn Disk) -> Result<()> {
        for log in all_logs(disk)? {
            let length = disk.stat(&log)?.map_or(0, |stat| stat.length);
            let known = self.read.get(&log).copied();
            if known == Some(length) {
                continue;
            }
            // A log that git replaced is read again: what it says is only added.
            let lines = RecordLines::open(disk, &log, 0, 0)?;
            let writer: Writer = writer_of(&log).map(Arc::from);
            for line in lines.filter_map(std::result::Result::ok) {
                self.note(&line.object, &writer);
            }
            self.read.insert(log, length);
        }
        Ok(())
    }

    fn note(&mut self, line: &Object, writer: &Writer) {
        if let Some((id, to)) = event::moved_by_others(line) {
            self.moved.insert(id, to);
        }
        let Some(id) = event::task(line) else { return };
        self.named.insert(id);
        let text = |name: &str| line.get(name).and_then(Value::as_str);
        if let Some(front) = text(FRONT) {
            let line = Line { writer: writer.clone(), signed: Signed::of(line) };
            self.fronts.entry((id, front.into())).or_default().push(line);
        }
        let of = |name: &str| line.get("payload").and_then(|it| it.get(name)?.as_str());
        match text("type") {
            Some(kind::CREATED) => {
                let at = text("timestamp").unwrap_or_default();
                self.created.entry((id, at.into())).or_insert_with(|| writer.clone());
            }
            Some(kind::DEPENDENCY_ADDED) => {
                let needed = of("blockerId").map(TaskId::parse);
                if let Some(Ok(needed)) = needed {
                    self.waits.insert((id, needed), writer.clone());
                }
            }
            _ => {}
        }
    }

    /// Who left the front matter of a file, as events say.
    pub(crate) fn writers(&self, file: &TaskFile) -> Vec<Writer> {
        let lines = self.fronts.get(&(file.task().id, front_of(file).into()));
        lines.into_iter().flatten().map(|line| line.writer.clone()).collect()
    }

    /// Whose line explains a file in a folder, if one does.
    pub(crate) fn explains(
        &self,
        file: &TaskFile,
        folder: Status,
        state: &State,
    ) -> Option<Explanation> {
        let (id, front) = (file.task().id, front_of(file));
        let lines = self.fronts.get(&(id, front.into()))?;
        let own = state.writers().and_then(|writers| Some(writers.key()?.public()));
        let explanation = |line: &Line| {
            let key = line.signed.as_ref().and_then(Signed::signer);
            let source = match key {
                Some(key) if own.as_deref() == Some(key) => Source::Own,
                Some(key) if state.is_confirmed(key) => Source::Confirmed,
                _ => Source::Unknown,
            };
            Explanation { writer: line.writer.clone(), source }
        };
        let found = lines.iter().map(explanation).max_by_key(|found| found.source);
        found.filter(|_| file.task().status == folder)
    }

    /// Whether a key signed the front matter of a file.
    pub(crate) fn is_signed(&self, file: &TaskFile, key: &str) -> bool {
        let (id, front) = (file.task().id, front_of(file));
        let lines = self.fronts.get(&(id, front.into())).into_iter().flatten();
        let mut signed = lines.filter_map(|line| line.signed.as_ref());
        signed.any(|signed| signed.signer() == Some(key))
    }

    /// Whether a line is about a task. If not, its file is that of another commit.
    pub(crate) fn names(&self, id: TaskId) -> bool {
        self.named.contains(&id)
    }

    /// The task that a text names, of those that are only in the logs: by its id, or by the last
    /// numbers of it. Of several, the last one.
    pub(crate) fn removed(&self, text: &str, is_there: impl Fn(TaskId) -> bool) -> Option<TaskId> {
        let end = format!("-{}", number(text).as_deref().unwrap_or(text));
        let names = |id: &TaskId| {
            let name = id.to_string();
            name == text || (!text.is_empty() && name.ends_with(&end))
        };
        let gone = self.named.iter().copied().filter(|id| names(id) && !is_there(*id));
        gone.max()
    }

    /// The status to which another program moved a task last, as it logged.
    pub(crate) fn moved_by_others(&self, id: TaskId) -> Option<Status> {
        self.moved.get(&id).copied()
    }

    /// Who created the task of a file.
    pub(crate) fn creator(&self, file: &TaskFile) -> Option<&Writer> {
        let task = file.task();
        self.created.get(&(task.id, task.created_at.to_string().into()))
    }

    /// Who made the task of a file wait for another one.
    pub(crate) fn who_waits(&self, file: &TaskFile, needed: TaskId) -> Option<&Writer> {
        self.waits.get(&(file.task().id, needed)).or_else(|| self.creator(file))
    }
}
