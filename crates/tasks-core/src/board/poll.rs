//! What a poll does.

use std::collections::HashMap;

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;

use super::links::cycle;
use super::{Board, Entry};
use crate::task::OnViolation;
use crate::{Status, TaskId};

/// The beginning of the reason of a task that the scheduler blocked because of what it needs.
pub const WAITS_FOR: &str = "dependency_impossible: ";

/// How many tasks may be in progress.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    /// In the whole tree.
    pub running: usize,
    /// In each team. A team that is not named has no limit of its own.
    pub teams: HashMap<String, usize>,
    /// How many are started by one poll.
    pub per_poll: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { running: 3, teams: HashMap::new(), per_poll: 10 }
    }
}

/// What a scheduler does about a task. Each task has at most one action per poll.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Its run counts as dead: the recorded result decides, else it becomes ready again.
    Recover(TaskId),
    /// Everything that it waits for is done: it becomes ready.
    Promote(TaskId),
    /// What it waits for can never be done: it is blocked, with this reason.
    Block(TaskId, String),
    /// It is blocked for a reason that is gone: it becomes ready.
    Requeue(TaskId),
    /// It is started.
    Start(TaskId),
    /// It has been in progress for too long.
    Violation(TaskId, OnViolation),
    /// It cannot be started, because it is not clear who may do it.
    Unrouted(TaskId),
}

impl Action {
    /// The task.
    pub fn task(&self) -> TaskId {
        match self {
            Self::Recover(id)
            | Self::Promote(id)
            | Self::Block(id, _)
            | Self::Requeue(id)
            | Self::Start(id)
            | Self::Violation(id, _)
            | Self::Unrouted(id) => *id,
        }
    }
}

impl Board {
    /// The actions that are due. What they change reaches the board by [`Board::put`]; an action
    /// that changes nothing is not repeated.
    pub fn poll(&mut self, limits: &Limits, now: Time) -> Vec<Action> {
        let mut actions = Vec::new();
        let due = (now, TaskId::LAST);
        actions.extend(self.expiries.range(..=due).map(|(_, id)| Action::Recover(*id)));
        // One decision per task: a run that is dead is not overdue as well.
        let overdue: Vec<_> = self.overdue.range(..=due).copied().collect();
        for (at, id) in overdue {
            if let Some(entry) = self.open.get(&id)
                && entry.expires_at().is_none_or(|end| end > now)
            {
                actions.push(Action::Violation(id, entry.on_violation));
                // Said once for each time in progress.
                self.overdue.remove(&(at, id));
            }
        }
        let retries: Vec<_> = self.retries.range(..=due).copied().collect();
        for retry in retries {
            self.retries.remove(&retry);
            self.candidates.remove(&retry.1);
            actions.push(Action::Requeue(retry.1));
        }
        for id in std::mem::take(&mut self.candidates) {
            actions.extend(self.open.get(&id).and_then(|entry| self.go_on(entry)));
        }
        self.start(limits, &mut actions);
        actions
    }

    /// When the next action is due without any change of a task.
    pub fn next_due(&self) -> Option<Time> {
        let first =
            |times: &std::collections::BTreeSet<(Time, TaskId)>| times.first().map(|(at, _)| *at);
        [first(&self.expiries), first(&self.overdue), first(&self.retries)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether a task in the backlog, or one that is blocked by what it needs, can go on.
    fn go_on(&self, entry: &Entry) -> Option<Action> {
        let is_held = entry.block_reason.as_deref().is_some_and(|why| why.starts_with(WAITS_FOR));
        match entry.status {
            Status::Backlog => match self.obstacle(entry) {
                Obstacle::Never(why) => Some(Action::Block(entry.id, format!("{WAITS_FOR}{why}"))),
                Obstacle::NotYet => None,
                Obstacle::None if entry.is_routed() => Some(Action::Promote(entry.id)),
                Obstacle::None => Some(Action::Unrouted(entry.id)),
            },
            Status::Blocked if is_held => {
                matches!(self.obstacle(entry), Obstacle::None | Obstacle::NotYet)
                    .then_some(Action::Requeue(entry.id))
            }
            _ => None,
        }
    }

    fn obstacle(&self, entry: &Entry) -> Obstacle {
        let mut obstacle = Obstacle::None;
        for &needed in &entry.depends_on {
            match self.status(needed) {
                Some(Status::Done) => {}
                Some(status @ (Status::Cancelled | Status::Deadletter)) => {
                    return Obstacle::Never(format!("{needed} is {status}"));
                }
                None => return Obstacle::Never(format!("{needed} does not exist")),
                Some(_) => obstacle = Obstacle::NotYet,
            }
        }
        // Parts that are done or cancelled are no longer listed as children.
        for &child in self.links.children(entry.id) {
            if self.status(child) == Some(Status::Deadletter) {
                return Obstacle::Never(format!("{child}, a part of it, is deadletter"));
            }
            obstacle = Obstacle::NotYet;
        }
        obstacle
    }

    fn start(&self, limits: &Limits, actions: &mut Vec<Action>) {
        let mut running = self.running;
        let mut teams = self.running_in.clone();
        let mut taken: Vec<&str> = Vec::new();
        let mut started = 0;
        for (.., id) in &self.ready {
            if running >= limits.running || started >= limits.per_poll {
                break;
            }
            let Some(entry) = self.open.get(id) else { continue };
            let is_free = |resource: &str| {
                !self.resources.contains_key(resource) && !taken.contains(&resource)
            };
            let team = entry.team.as_deref();
            let is_full = team.is_some_and(|team| {
                let most = limits.teams.get(team).copied().unwrap_or(usize::MAX);
                teams.get(team).copied().unwrap_or(0) >= most
            });
            if !entry.is_routed() || is_full || !entry.resource.as_deref().is_none_or(is_free) {
                continue;
            }
            running += 1;
            started += 1;
            taken.extend(entry.resource.as_deref());
            if let Some(team) = team {
                *teams.entry(team.to_owned()).or_default() += 1;
            }
            actions.push(Action::Start(*id));
        }
    }

    /// Checks the dependencies of a task before they are recorded.
    ///
    /// # Errors
    /// `dependency_not_found` for a task that does not exist, `dependency_cycle` for a task that
    /// would wait for itself.
    pub fn check_dependencies(&self, id: TaskId, depends_on: &[TaskId]) -> Result<(), Failure> {
        if let Some(missing) = depends_on.iter().find(|needed| self.status(**needed).is_none()) {
            let message = format!("{id} would wait for {missing}, which does not exist");
            return Err(Failure::new(Code::AofDependencyNotFound, message));
        }
        let needs = |other: TaskId| -> &[TaskId] {
            if other == id {
                return depends_on;
            }
            self.open.get(&other).map_or(&[], |entry| &entry.depends_on)
        };
        let Some(path) = cycle(id, needs) else { return Ok(()) };
        let path: Vec<String> = path.iter().chain([&id]).map(ToString::to_string).collect();
        let message = format!("the tasks would wait for each other: {}", path.join(" -> "));
        Err(Failure::new(Code::AofDependencyCycle, message))
    }
}

/// What keeps a task from going on.
enum Obstacle {
    None,
    NotYet,
    Never(String),
}
