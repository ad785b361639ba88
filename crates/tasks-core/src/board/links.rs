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
    pub(super) fn add(
        &mut self,
        id: TaskId,
        depends_on: impl Iterator<Item = TaskId>,
        parent: Option<TaskId>,
    ) {
        for needed in depends_on {
            self.dependents.entry(needed).or_default().push(id);
        }
        if let Some(parent) = parent {
            self.children.entry(parent).or_default().push(id);
            self.parents.insert(id, parent);
        }
    }

    pub(super) fn remove(
        &mut self,
        id: TaskId,
        depends_on: impl Iterator<Item = TaskId>,
        parent: Option<TaskId>,
    ) {
        for needed in depends_on {
            forget(&mut self.dependents, needed, id);
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
pub(super) fn cycle<'a>(
    start: TaskId,
    needs: impl Fn(TaskId) -> &'a [TaskId],
) -> Option<Vec<TaskId>> {
    let mut seen = HashSet::new();
    let mut path = vec![(start, 0)];
    while let Some((id, next)) = path.last_mut() {
        let Some(&needed) = needs(*id).get(*next) else {
            path.pop();
            continue;
        };
        *next += 1;
        if needed == start {
            return Some(path.into_iter().map(|(id, _)| id).collect());
        }
        if seen.insert(needed) {
            path.push((needed, 0));
        }
    }
    None
}
