//! What the board says about tasks to those who read it or claim from it.

use std::collections::{BTreeSet, HashMap};

use accord_contract::{Code, Failure, Time};

use super::{Board, Entry, Turn};
use crate::{Status, TaskId};

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Waits {
    Nothing,
    For(Vec<TaskId>),
    /// Something that can never be done.
    Forever(String),
}

impl Waits {
    /// Refuses what a task that waits cannot do yet.
    pub fn check(&self, task: TaskId) -> Result<(), Failure> {
        let why = match self {
            Self::Nothing => return Ok(()),
            Self::For(tasks) => {
                tasks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            }
            Self::Forever(why) => why.clone(),
        };
        Err(Failure::new(Code::AofDependencyUnmet, format!("{task} waits: {why}"))
            .with("task_id", task.to_string()))
    }
}

/// Which ready task an agent takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClaimFilter<'a> {
    pub agent: &'a str,
    pub roles: &'a [String],
    pub teams: &'a [String],
    /// Tags that the task must have.
    pub tags: &'a [String],
    /// Whether only tasks that are routed to the agent itself fit.
    pub only_mine: bool,
    /// Whether tasks on which the last attempt of the agent failed are left to others.
    pub leave_failed: bool,
    pub except: &'a [TaskId],
    /// How many tasks may be in progress.
    pub running: Option<usize>,
    /// How many tasks of each team may be in progress.
    pub team_limits: Option<&'a HashMap<String, usize>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NoTask {
    NoneReady,
    NoneFits,
    /// A task fits, and what it needs is in use.
    ResourceBusy,
    /// As many tasks are in progress as may be.
    LimitReached,
    /// The last attempt of this agent failed, and another agent gets the task first.
    LeftToOthers,
}

impl NoTask {
    /// The reason, for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoneReady => "no_ready_task",
            Self::NoneFits => "none_fits",
            Self::ResourceBusy => "resource_busy",
            Self::LimitReached => "limit_reached",
            Self::LeftToOthers => "left_to_others",
        }
    }
}

impl Board {
    /// The tasks that can still move, in no order.
    pub fn open(&self) -> impl Iterator<Item = &Entry> {
        self.open.values()
    }

    /// The tasks that cannot, in no order.
    pub fn closed(&self) -> impl Iterator<Item = (TaskId, Status)> + '_ {
        self.closed.iter().map(|(id, status)| (*id, *status))
    }

    pub fn dependents(&self, id: TaskId) -> &[TaskId] {
        self.links.dependents(id)
    }

    /// The open parts of a task.
    pub fn parts(&self, id: TaskId) -> &[TaskId] {
        self.links.children(id)
    }

    /// Whether no task in progress uses a resource.
    pub fn is_free(&self, resource: &str) -> bool {
        !self.resources.contains_key(resource)
    }

    pub fn waits(&self, entry: &Entry) -> Waits {
        let mut open = Vec::new();
        for &needed in &entry.depends_on {
            match self.status(needed) {
                Some(Status::Done) => {}
                Some(status @ (Status::Cancelled | Status::Deadletter)) => {
                    return Waits::Forever(format!("{needed} is {status}"));
                }
                None => return Waits::Forever(format!("{needed} does not exist")),
                Some(_) => open.push(needed),
            }
        }
        // Parts that are done or cancelled are no longer listed as children.
        let children = self.links.children(entry.id);
        let is_dead = |child: &&TaskId| self.status(**child) == Some(Status::Deadletter);
        // The first by its id, so that the reason does not depend on the order of changes.
        if let Some(child) = children.iter().filter(is_dead).min() {
            return Waits::Forever(format!("{child}, a part of it, is deadletter"));
        }
        open.extend(children);
        if open.is_empty() { Waits::Nothing } else { Waits::For(open) }
    }

    /// Whether a ready task can be started: it waits for nothing, or a person said so.
    pub fn is_startable(&self, entry: &Entry) -> bool {
        entry.is_forced || self.waits(entry) == Waits::Nothing
    }

    /// The next ready task for an agent: the most urgent, then the oldest; or why there is none. A
    /// task on which the last attempt of the agent failed comes after all others. While another
    /// agent that can do it works, it is left to that one for a while.
    pub fn next_for(&self, wish: &ClaimFilter<'_>, now: Time) -> Result<TaskId, NoTask> {
        let is_none = self.ready.is_empty() && self.unrouted.is_empty();
        let mut why = if is_none { NoTask::NoneReady } else { NoTask::NoneFits };
        let mut failed_here = None;
        for id in self.in_turn() {
            let Some(entry) = self.open.get(&id) else { continue };
            if wish.except.contains(&id) || !fits(entry, wish) || !self.is_startable(entry) {
                continue;
            }
            let is_full = |team: &String| {
                let limit = wish.team_limits.and_then(|limits| limits.get(team));
                let running = self.running_in.get(team).copied().unwrap_or(0);
                limit.is_some_and(|limit| running >= *limit)
            };
            if wish.running.is_some_and(|limit| self.running >= limit)
                || entry.team.as_ref().is_some_and(is_full)
            {
                why = NoTask::LimitReached;
                continue;
            }
            if entry.resource.as_deref().is_some_and(|resource| !self.is_free(resource)) {
                why = NoTask::ResourceBusy;
                continue;
            }
            if entry.failed_by.as_deref() == Some(wish.agent) && entry.agent.is_none() {
                if wish.leave_failed || self.is_left_to_others(entry, wish.agent, now) {
                    why = NoTask::LeftToOthers;
                } else {
                    failed_here = failed_here.or(Some(id));
                }
                continue;
            }
            return Ok(id);
        }
        failed_here.ok_or(why)
    }

    /// The ready tasks, in the order in which they are taken.
    pub(super) fn in_turn(&self) -> impl Iterator<Item = TaskId> + '_ {
        in_order(&self.ready, &self.unrouted).map(|(.., id)| *id)
    }

    /// Whether another agent that works on the same kind of task may still come for this one.
    pub(super) fn is_left_to_others(&self, entry: &Entry, agent: &str, now: Time) -> bool {
        let is_another = |other: &&Entry| {
            let is_same = (&other.role, &other.team) == (&entry.role, &entry.team);
            let is_for_all = entry.role.is_none() && entry.team.is_none();
            other.status == Status::InProgress
                && other.holder.as_deref().is_some_and(|holder| holder != agent)
                && (is_same || is_for_all)
        };
        now < entry.moved_at.add_seconds(LEFT_TO_OTHERS) && self.open().any(|it| is_another(&it))
    }
}

/// For how many seconds a task is left to an agent on which it did not fail.
const LEFT_TO_OTHERS: i64 = 120;

/// The turns of two indexes, in one order.
fn in_order<'b>(a: &'b BTreeSet<Turn>, b: &'b BTreeSet<Turn>) -> impl Iterator<Item = &'b Turn> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(first), Some(second)) if second < first => b.next(),
        (None, _) => b.next(),
        _ => a.next(),
    })
}

/// Whether a task fits an agent: it is routed to the agent, or to none but to its role or team.
pub(super) fn fits(entry: &Entry, wish: &ClaimFilter<'_>) -> bool {
    let has_tags = wish.tags.iter().all(|tag| entry.tags.contains(tag));
    let is_for = match (&entry.agent, &entry.role, &entry.team) {
        (Some(agent), ..) => agent == wish.agent,
        _ if wish.only_mine => false,
        (None, Some(role), None) => wish.roles.contains(role),
        (None, None, Some(team)) => wish.teams.contains(team),
        (None, Some(role), Some(team)) => {
            wish.roles.contains(role) && (wish.teams.is_empty() || wish.teams.contains(team))
        }
        (None, None, None) => true,
    };
    has_tags && is_for
}
