//! What a poll does.

use std::collections::{BTreeSet, HashMap, HashSet};

use accord_contract::{Code, Failure, Time};

use super::links::{circular, cycle};
use super::{Board, Entry, RetryBudget, Waits};
use crate::{Status, TaskId};

/// The beginning of the reason of a task that the scheduler blocked because of what it needs.
pub const WAITS_FOR: &str = "dependency_impossible: ";

/// How many tasks may be in progress, and how often one is run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    /// In the whole tree.
    pub running: usize,
    /// In each team. A team that is not named has no limit of its own.
    pub teams: HashMap<String, usize>,
    pub per_poll: usize,
    pub budget: RetryBudget,
}

impl Default for Limits {
    fn default() -> Self {
        let budget = RetryBudget::default();
        Self { running: 3, teams: HashMap::new(), per_poll: 10, budget }
    }
}

/// What a scheduler does about a task. Each task has at most one action per poll.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Action {
    /// Its run counts as dead: the recorded result decides, else it becomes ready again.
    Recover(TaskId),
    /// Everything that it waits for is done: it becomes ready.
    Promote(TaskId),
    /// What it waits for can never be done: it is blocked, with this reason.
    Block(TaskId, String),
    /// It is blocked for a reason that is gone: it becomes ready.
    Requeue(TaskId),
    Start(TaskId),
    /// It has been in progress for too long: [`overdue`](super::overdue) decides.
    Violation(TaskId),
    /// It is not clear who may do it: people are alerted ([`unrouted`](super::unrouted)).
    Unrouted(TaskId),
}

impl Action {
    pub fn task(&self) -> TaskId {
        match self {
            Self::Recover(id)
            | Self::Promote(id)
            | Self::Block(id, _)
            | Self::Requeue(id)
            | Self::Start(id)
            | Self::Violation(id)
            | Self::Unrouted(id) => *id,
        }
    }
}

impl Board {
    /// The actions that are due. What they change reaches the board by [`Board::put`]. An action
    /// that changes nothing, or fails, is not planned again before its task changes.
    pub fn poll(&mut self, limits: &Limits, now: Time) -> Vec<Action> {
        let mut actions = Vec::new();
        // One decision per task: a run that is dead is not overdue as well.
        let dead: HashSet<_> = take_due(&mut self.expiries, now).into_iter().collect();
        let overdue = take_due(&mut self.overdue, now).into_iter();
        actions.extend(overdue.filter(|id| !dead.contains(id)).map(Action::Violation));
        let mut dead: Vec<_> = dead.into_iter().collect();
        dead.sort_unstable();
        actions.splice(0..0, dead.into_iter().map(Action::Recover));
        for id in take_due(&mut self.retries, now) {
            self.candidates.remove(&id);
            actions.push(Action::Requeue(id));
        }
        let candidates = std::mem::take(&mut self.candidates);
        let circular = self.circular(&candidates);
        for id in candidates {
            let entry = self.open.get(&id);
            actions.extend(entry.and_then(|entry| self.go_on(entry, &circular)));
        }
        self.start(limits, &mut actions);
        actions
    }

    /// When the next action is due without any change of a task.
    pub fn next_due(&self) -> Option<Time> {
        let first = |times: &BTreeSet<(Time, TaskId)>| times.first().map(|(at, _)| *at);
        let due = [first(&self.expiries), first(&self.overdue), first(&self.retries)];
        due.into_iter().flatten().min()
    }

    /// Those of the needed tasks that wait for themselves, as files edited by hand can say.
    fn circular(&self, candidates: &BTreeSet<TaskId>) -> HashSet<TaskId> {
        let starts = candidates.iter().copied().filter(|id| {
            let entry = self.open.get(id);
            entry.is_some_and(|entry| matches!(self.waits(entry), Waits::For(_)))
        });
        circular(starts, |id| self.needs(id))
    }

    /// What a task that can still move needs.
    fn needs(&self, id: TaskId) -> &[TaskId] {
        self.open.get(&id).map_or(&[], |entry| &entry.depends_on)
    }

    /// Whether a task in the backlog, or one that is blocked by what it needs, can go on.
    fn go_on(&self, entry: &Entry, circular: &HashSet<TaskId>) -> Option<Action> {
        if entry.is_apart() {
            return None;
        }
        let is_held = entry.block_reason.as_deref().is_some_and(|why| why.starts_with(WAITS_FOR));
        let waits = match self.waits(entry) {
            Waits::For(_) if circular.contains(&entry.id) => {
                Waits::Forever(format!("{} waits for itself", entry.id))
            }
            waits => waits,
        };
        match (entry.status, waits) {
            (Status::Backlog | Status::Ready, Waits::Forever(why)) => {
                Some(Action::Block(entry.id, format!("{WAITS_FOR}{why}")))
            }
            // One that waited for nothing stays until it is clear who may do it.
            (Status::Backlog, Waits::Nothing)
                if entry.is_routed() || !entry.depends_on.is_empty() =>
            {
                Some(Action::Promote(entry.id))
            }
            (Status::Backlog, Waits::Nothing) if !entry.is_alerted => {
                Some(Action::Unrouted(entry.id))
            }
            (Status::Blocked, Waits::Nothing | Waits::For(_)) if is_held => {
                Some(Action::Requeue(entry.id))
            }
            _ => None,
        }
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
            let is_held = !self.is_startable(entry);
            let is_taken = !entry.resource.as_deref().is_none_or(is_free);
            if !entry.is_routed() || is_full || is_taken || is_held {
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

    /// Checks the dependencies of a task before they are recorded: `dependency_not_found` for one
    /// that does not exist, `dependency_cycle` for a task that would wait for itself.
    pub fn check_dependencies(&self, id: TaskId, depends_on: &[TaskId]) -> Result<(), Failure> {
        if let Some(missing) = depends_on.iter().find(|needed| self.status(**needed).is_none()) {
            let message = format!("{id} would wait for {missing}, which does not exist");
            return Err(Failure::new(Code::AofDependencyNotFound, message));
        }
        let needs = |other| if other == id { depends_on } else { self.needs(other) };
        let Some(path) = cycle(id, needs) else { return Ok(()) };
        let path: Vec<String> = path.iter().chain([&id]).map(ToString::to_string).collect();
        let message = format!("the tasks would wait for each other: {}", path.join(" -> "));
        Err(Failure::new(Code::AofDependencyCycle, message))
    }
}

/// Takes the tasks that are due out of an index.
fn take_due(index: &mut BTreeSet<(Time, TaskId)>, now: Time) -> Vec<TaskId> {
    let mut due = Vec::new();
    while let Some(first) = index.first().copied().filter(|(at, _)| *at <= now) {
        index.remove(&first);
        due.push(first.1);
    }
    due
}
