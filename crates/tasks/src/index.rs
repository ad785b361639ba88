//! What a process remembers of a tree: an index that can be built again from the files.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use accord_tasks_core::board::{Board, Entry};
use accord_tasks_core::{DayNumbers, Status, TaskDay, TaskId};

use crate::committed::{Held, note};
use crate::explained::Explained;
use crate::file_cache::FileCache;
use crate::referee::waiting::Waiting;
use crate::traces::Traces;
use crate::writers::Writers;

#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) board: Board,
    pub(crate) numbers: HashMap<TaskDay, DayNumbers>,
    pub(crate) last_event: u64,
    /// The writers of this copy, and whether the next record must say so.
    pub(crate) writers: Writers,
    pub(crate) is_new_writer: bool,
    /// What the event logs explain.
    pub(crate) explained: RefCell<Explained>,
    /// The last event of the tree that was in this folder and is gone.
    pub(crate) vanished: Option<u64>,
    /// The number that was remembered outside of the tree last.
    pub(crate) remembered: u64,
    /// Whether the tree travels with git.
    pub(crate) is_in_git: bool,
    /// The moves that wait for a person. They are judged again with every change.
    pub(crate) waiting: BTreeMap<TaskId, Waiting>,
    /// The lengths of event logs that the present group appends to.
    pub(crate) lengths: HashMap<String, u64>,
    /// The lengths of event logs that earlier groups of this process appended to.
    pub(crate) last_lengths: HashMap<String, u64>,
    /// Files that are not tasks, with the reasons.
    pub(crate) broken: BTreeMap<String, String>,
    /// Tasks whose files are not what Accord committed. They are judged before anything else.
    pub(crate) odd: BTreeSet<TaskId>,
    /// Whether settings may have been changed by others.
    pub(crate) has_odd_settings: bool,
    /// Task files that were committed lately.
    pub(crate) files: FileCache,
    /// The tasks of a tree about which nothing is committed.
    pub(crate) first: Vec<(TaskId, Held)>,
    /// What the files of such a tree say about Accord.
    pub(crate) traces: Option<Traces>,
}

impl Index {
    /// Takes note of a task that can still move.
    pub(crate) fn put(&mut self, entry: Entry) {
        self.note(entry.id);
        self.board.put(entry);
    }

    /// Takes note of a finished task by its name alone.
    pub(crate) fn put_closed(&mut self, id: TaskId, status: Status) {
        self.note(id);
        self.board.put_closed(id, status);
    }

    /// The last ids of the last two days with tasks.
    pub(crate) fn last_ids(&self) -> Vec<TaskId> {
        let mut days: Vec<_> = self.numbers.iter().collect();
        days.sort_by_key(|(day, _)| std::cmp::Reverse(**day));
        days.into_iter().take(2).flat_map(|(day, numbers)| numbers.last(*day)).collect()
    }

    /// Takes note of the number of a task.
    pub(crate) fn note(&mut self, id: TaskId) {
        note(&mut self.numbers, id);
    }
}
