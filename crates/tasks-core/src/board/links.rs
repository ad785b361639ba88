//! Which tasks wait for which.

use std::collections::{HashMap, HashSet};

use crate::TaskId;

/// Dependencies and parents, from the task that is waited for to those that wait.
#[derive(Debug, Default)]
pub(super) struct Links {
    dependents: HashMap<TaskId, Vec<TaskId>>,
    children: HashMap<TaskId, Vec<TaskId>>,
    parents: HashMap<TaskId, TaskId>,
}

impl Links {
    pub(super) fn add(&mut self, id: TaskId, depends_on: &[TaskId], parent: Option<TaskId>) {
        for needed in depends_on {
            self.dependents.entry(*needed).or_default().push(id);
        }
        if let Some(parent) = parent {
            self.children.entry(parent).or_default().push(id);
            self.parents.insert(id, parent);
        }
    }

    pub(super) fn remove(&mut self, id: TaskId, depends_on: &[TaskId], parent: Option<TaskId>) {
        for needed in depends_on {
            forget(&mut self.dependents, *needed, id);
        }
        if let Some(parent) = parent {
            forget(&mut self.children, parent, id);
            self.parents.remove(&id);
        }
    }

    /// The tasks that may go on once a task is done: those that depend on it, and its parent.
    pub(super) fn waiting_for(&self, id: TaskId) -> impl Iterator<Item = TaskId> + '_ {
        let dependents = self.dependents.get(&id).into_iter().flatten().copied();
        dependents.chain(self.parents.get(&id).copied())
    }

    /// The tasks that depend on a task and can still move.
    pub(super) fn dependents(&self, id: TaskId) -> &[TaskId] {
        self.dependents.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The parts of a task that can still move.
    pub(super) fn children(&self, id: TaskId) -> &[TaskId] {
        self.children.get(&id).map_or(&[], Vec::as_slice)
    }
}

fn forget(links: &mut HashMap<TaskId, Vec<TaskId>>, from: TaskId, id: TaskId) {
    if let Some(found) = links.get_mut(&from) {
        found.retain(|other| *other != id);
        if found.is_empty() {
            links.remove(&from);
        }
    }
}

/// A path from a task back to itself through what the tasks need, if there is one.
pub(super) fn cycle<'a>(of: TaskId, needs: impl Fn(TaskId) -> &'a [TaskId]) -> Option<Vec<TaskId>> {
    let mut seen = HashSet::new();
    let mut path = vec![(of, 0)];
    while let Some((id, next)) = path.last_mut() {
        let Some(&needed) = needs(*id).get(*next) else {
            path.pop();
            continue;
        };
        *next += 1;
        if needed == of {
            return Some(path.into_iter().map(|(id, _)| id).collect());
        }
        if seen.insert(needed) {
            path.push((needed, 0));
        }
    }
    None
}

/// The tasks that wait for themselves, among `starts` and everything that those need (strongly
/// connected components, by Tarjan's algorithm).
pub(super) fn circular<'a>(
    starts: impl Iterator<Item = TaskId>,
    needs: impl Fn(TaskId) -> &'a [TaskId],
) -> HashSet<TaskId> {
    let mut search = Search::default();
    for start in starts {
        search.from(start, &needs);
    }
    search.circular
}

/// The state of a search for circles.
#[derive(Default)]
struct Search {
    /// When a task was found, and the earliest task on the stack that it leads to.
    found: HashMap<TaskId, (usize, usize)>,
    stack: Vec<TaskId>,
    on_stack: HashSet<TaskId>,
    circular: HashSet<TaskId>,
}

impl Search {
    fn from<'a>(&mut self, start: TaskId, needs: &impl Fn(TaskId) -> &'a [TaskId]) {
        if self.found.contains_key(&start) {
            return;
        }
        self.enter(start);
        // A path of its own instead of recursion: a chain of tasks can be long.
        let mut path = vec![(start, 0)];
        while let Some((id, next)) = path.last_mut() {
            let id = *id;
            let Some(&needed) = needs(id).get(*next) else {
                path.pop();
                self.leave(id, path.last().map(|(parent, _)| *parent));
                continue;
            };
            *next += 1;
            if needed == id {
                self.circular.insert(id);
            } else if !self.found.contains_key(&needed) {
                self.enter(needed);
                path.push((needed, 0));
            } else if self.on_stack.contains(&needed) {
                let at = self.found[&needed].0;
                self.reach(id, at);
            }
        }
    }

    fn enter(&mut self, id: TaskId) {
        let at = self.found.len();
        self.found.insert(id, (at, at));
        self.stack.push(id);
        self.on_stack.insert(id);
    }

    fn reach(&mut self, id: TaskId, at: usize) {
        if let Some((_, lowest)) = self.found.get_mut(&id) {
            *lowest = (*lowest).min(at);
        }
    }

    fn leave(&mut self, id: TaskId, parent: Option<TaskId>) {
        let (at, lowest) = self.found[&id];
        if let Some(parent) = parent {
            self.reach(parent, lowest);
        }
        if at != lowest {
            return;
        }
        let mut members = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.on_stack.remove(&member);
            members.push(member);
            if member == id {
                break;
            }
        }
        if members.len() > 1 {
            self.circular.extend(members);
        }
    }
}
