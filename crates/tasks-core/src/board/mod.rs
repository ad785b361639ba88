//! The board: what a scheduler must know about the tasks of a tree, kept up to date task by task.
//!
//! Invariants:
//! - the board is an index: it can be thrown away and built again from the files;
//! - a poll looks at tasks that are due, never at all tasks;
//! - an action is planned once: after it, the task must change before another one is planned;
//! - a finished task costs its id and its status.

mod entry;
mod jump;
mod links;
mod poll;
mod resolve;
mod retry;
mod sla;
mod unfit;
mod unrouted;
mod view;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use accord_contract::Time;

use crate::{Status, TaskId};

pub use entry::Entry;
use links::Links;
pub use poll::{Action, Limits, WAITS_FOR};
pub use resolve::number;
pub use retry::{
    ErrorClass, RetryBudget, RunFailure, Silence, pause_ms, reclaimed, requeued, retry_at,
    run_failed,
};
pub use sla::overdue;
pub use unfit::Unfit;
pub use unrouted::unrouted;
pub use view::{ClaimFilter, NoTask, Waits};

/// The order in which ready tasks are taken: the most urgent first, then the oldest.
type Turn = (crate::task::Priority, Time, TaskId);

/// What a scheduler knows about the tasks of a tree.
#[derive(Debug, Default)]
pub struct Board {
    /// Every task that can still move.
    open: HashMap<TaskId, Entry>,
    /// Every task that cannot.
    closed: HashMap<TaskId, Status>,
    links: Links,
    ready: BTreeSet<Turn>,
    /// Ready tasks without one: any agent can claim them.
    unrouted: BTreeSet<Turn>,
    /// When a run counts as dead.
    expiries: BTreeSet<(Time, TaskId)>,
    /// When a task has been in progress for too long.
    overdue: BTreeSet<(Time, TaskId)>,
    /// When a task whose run failed may be run again.
    retries: BTreeSet<(Time, TaskId)>,
    /// When a task should be done.
    dues: BTreeSet<(Time, TaskId)>,
    /// Tasks whose dependencies may have been met since the last poll.
    candidates: BTreeSet<TaskId>,
    /// How many tasks are in progress, in all and by team.
    running: usize,
    running_in: HashMap<String, usize>,
    /// The resources in use, and by which tasks.
    resources: HashMap<String, usize>,
    counts: BTreeMap<Status, usize>,
}

impl Board {
    pub fn status(&self, id: TaskId) -> Option<Status> {
        self.open.get(&id).map(|entry| entry.status).or_else(|| self.closed.get(&id).copied())
    }

    /// A task that can still move.
    pub fn entry(&self, id: TaskId) -> Option<&Entry> {
        self.open.get(&id)
    }

    pub fn counts(&self) -> impl Iterator<Item = (Status, usize)> + '_ {
        Status::ALL.iter().map(|status| (*status, self.counts.get(status).copied().unwrap_or(0)))
    }

    pub fn len(&self) -> usize {
        self.open.len() + self.closed.len()
    }

    /// The tasks that should be done by now, the oldest date first.
    pub fn past_due(&self, now: Time) -> impl Iterator<Item = TaskId> + '_ {
        self.dues.iter().take_while(move |(at, _)| *at <= now).map(|(_, id)| *id)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes note of a task as it is now.
    pub fn put(&mut self, mut entry: Entry) {
        if entry.status.is_final() {
            return self.put_closed(entry.id, entry.status);
        }
        let id = entry.id;
        if let Some(last) = self.open.get(&id) {
            entry.keep_shifts(last);
        }
        // Before the task leaves the links: its parent waits too.
        let waiting: Vec<_> = self.links.waiting_for(id).collect();
        self.take_out(id);
        *self.counts.entry(entry.status).or_default() += 1;
        self.put_open(entry);
        // Those tasks may go on now, or never can.
        self.candidates.extend(waiting);
    }

    /// Takes note of a finished task, of which only its name was read.
    pub fn put_closed(&mut self, id: TaskId, status: Status) {
        let waiting: Vec<_> = self.links.waiting_for(id).collect();
        self.take_out(id);
        *self.counts.entry(status).or_default() += 1;
        self.closed.insert(id, status);
        self.candidates.extend(waiting);
    }

    pub fn remove(&mut self, id: TaskId) {
        let waiting: Vec<_> = self.links.waiting_for(id).collect();
        if self.take_out(id) {
            self.candidates.extend(waiting);
        }
    }

    fn put_open(&mut self, entry: Entry) {
        let id = entry.id;
        self.links.add(id, &entry.depends_on, entry.parent);
        self.dues.extend(entry.due_at.map(|at| (at, id)));
        match entry.status {
            // Its run, its resource and its place among those that run are elsewhere, or wait.
            _ if entry.is_apart() => {}
            Status::Ready => {
                // One that has no target cannot be started: no poll looks at it.
                let index = if entry.is_routed() { &mut self.ready } else { &mut self.unrouted };
                index.insert(entry.turn());
                if !entry.depends_on.is_empty() {
                    self.candidates.insert(id);
                }
            }
            Status::InProgress => {
                self.running += 1;
                if let Some(team) = &entry.team {
                    *self.running_in.entry(team.clone()).or_default() += 1;
                }
                if let Some(resource) = &entry.resource {
                    *self.resources.entry(resource.clone()).or_default() += 1;
                }
                self.expiries.extend(entry.expires_at().map(|at| (at, id)));
                self.overdue.extend(entry.overdue_at().map(|at| (at, id)));
            }
            Status::Blocked => {
                self.retries.extend(entry.retry_at.map(|at| (at, id)));
                self.candidates.insert(id);
            }
            Status::Backlog => {
                self.candidates.insert(id);
            }
            Status::Review | Status::Deadletter | Status::Done | Status::Cancelled => {}
        }
        self.open.insert(id, entry);
    }

    /// Takes a task out of every index. Answers whether it was there.
    fn take_out(&mut self, id: TaskId) -> bool {
        if let Some(status) = self.closed.remove(&id) {
            lower(&mut self.counts, &status);
            return true;
        }
        let Some(entry) = self.open.remove(&id) else { return false };
        lower(&mut self.counts, &entry.status);
        self.links.remove(id, &entry.depends_on, entry.parent);
        if let Some(at) = entry.due_at {
            self.dues.remove(&(at, id));
        }
        self.candidates.remove(&id);
        match entry.status {
            _ if entry.is_apart() => {}
            Status::Ready => {
                self.ready.remove(&entry.turn());
                self.unrouted.remove(&entry.turn());
            }
            Status::InProgress => {
                self.running -= 1;
                release(&mut self.running_in, entry.team.as_ref());
                release(&mut self.resources, entry.resource.as_ref());
                if let Some(at) = entry.expires_at() {
                    self.expiries.remove(&(at, id));
                }
                if let Some(at) = entry.overdue_at() {
                    self.overdue.remove(&(at, id));
                }
            }
            Status::Blocked => {
                if let Some(at) = entry.retry_at {
                    self.retries.remove(&(at, id));
                }
            }
            _ => {}
        }
        true
    }
}

fn lower(counts: &mut BTreeMap<Status, usize>, status: &Status) {
    if let Some(count) = counts.get_mut(status) {
        *count -= 1;
    }
}

fn release(used: &mut HashMap<String, usize>, name: Option<&String>) {
    let Some(name) = name else { return };
    if let Some(count) = used.get_mut(name) {
        *count -= 1;
        if *count == 0 {
            used.remove(name);
        }
    }
}
