//! Which versions of tasks count after a merge of git.
//!
//! Versions belong to a task by what their front matter says, never by the path that git gave them:
//! task files are alike, so that git takes one for a renamed other one. A task that got another id
//! stays the same task: its versions with the old id follow it.
//!
//! What only one side changed since both were the same counts. Of what both changed, the version
//! with a person's decision wins, then the later one; what is dropped is said with both values.

mod dropped;
pub mod folders;
mod unite;

use std::collections::BTreeMap;

use accord_contract::{Object, Value};

use crate::task::{FileError, Task, TaskFile};
use crate::verbs::last_decision;
use crate::yaml::Change;
use crate::{Status, TaskId};

pub use dropped::Dropped;
use dropped::dropped;
use unite::unite;

/// The member of the metadata with the ids that a task had before.
pub const FORMER: &str = "formerIds";

/// The members of the metadata that say how far a task is. They count together with its status.
const STATE: [&str; 14] = [
    "retryCount",
    "rateLimitCount",
    "failedBy",
    "forcedReady",
    "blockReason",
    "blockedBy",
    "observed",
    "reworks",
    "approval",
    "sentBack",
    "cancellation",
    "resurrection",
    "reopening",
    "adoption",
];

/// What a task is recognised by, also after it got another id. The earlier task comes first.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Origin {
    at: String,
    by: String,
    id: TaskId,
}

impl Origin {
    pub fn of(file: &TaskFile) -> Self {
        let task = file.task();
        let id = former(file).first().copied().unwrap_or(task.id);
        Self { at: task.created_at.to_string(), by: task.created_by.clone(), id }
    }
}

/// The ids that a task had before, the oldest first.
pub fn former(file: &TaskFile) -> Vec<TaskId> {
    former_ids(file.task())
}

/// The ids that a task had before, the oldest first.
pub fn former_ids(task: &Task) -> Vec<TaskId> {
    let ids = task.metadata(FORMER).and_then(Value::as_array).into_iter().flatten();
    ids.filter_map(|id| TaskId::parse(id.as_str()?).ok()).collect()
}

/// The versions of one task: that of this copy, that of the other one, and the one that both come
/// from.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    pub base: Option<TaskFile>,
    pub ours: Option<TaskFile>,
    pub theirs: Option<TaskFile>,
    /// Where the three are, by their ids at that time: base, ours, theirs.
    pub places: [Option<(Status, TaskId)>; 3],
}

impl Sides {
    fn versions(&self) -> impl Iterator<Item = &TaskFile> {
        [&self.ours, &self.theirs, &self.base].into_iter().flatten()
    }

    /// The id that the task has now.
    fn id(&self) -> Option<TaskId> {
        let mut newest: Option<&TaskFile> = None;
        for version in self.versions() {
            if newest.is_none_or(|known| former(version).len() > former(known).len()) {
                newest = Some(version);
            }
        }
        newest.map(|file| file.task().id)
    }

    /// Gives every version the id that the task has now.
    fn follow(&mut self) -> Option<TaskId> {
        let id = self.id()?;
        let place = |file: &Option<TaskFile>| {
            file.as_ref().map(|file| (file.task().status, file.task().id))
        };
        self.places = [place(&self.base), place(&self.ours), place(&self.theirs)];
        let newest = self.versions().find(|file| file.task().id == id)?;
        let known = newest.task().metadata(FORMER).cloned();
        for version in [&mut self.base, &mut self.ours, &mut self.theirs] {
            let old = version.as_ref().filter(|file| file.task().id != id);
            let followed = old.map(|file| with_id(file, id, known.clone()));
            if let Some(Ok(followed)) = followed {
                *version = Some(followed);
            }
        }
        Some(id)
    }

    /// Whether the other copy says something new about the task, or removed it.
    pub fn is_changed_there(&self) -> bool {
        self.theirs != self.base
    }

    /// The version that is to be kept although one of both copies removed the task.
    pub fn kept(&self) -> Option<&TaskFile> {
        let base = self.base.as_ref()?;
        match (&self.ours, &self.theirs) {
            (Some(file), None) | (None, Some(file)) => Some(file).filter(|file| *file != base),
            _ => None,
        }
    }

    /// The versions to decide between. None if one of both removed the task and it is not kept.
    pub fn choices(&self) -> Vec<TaskFile> {
        let base = self.base.as_ref();
        match (&self.ours, &self.theirs) {
            (Some(ours), Some(theirs)) if Some(theirs) == base || ours == theirs => {
                vec![ours.clone()]
            }
            (Some(ours), Some(theirs)) if Some(ours) == base => vec![theirs.clone()],
            (Some(ours), Some(theirs)) => vec![ours.clone(), theirs.clone()],
            (Some(one), None) | (None, Some(one)) if Some(one) != base => vec![one.clone()],
            _ => Vec::new(),
        }
    }
}

/// A file with another id.
pub fn with_id(
    file: &TaskFile,
    id: TaskId,
    former_ids: Option<Value>,
) -> Result<TaskFile, FileError> {
    let mut changes = vec![Change::set(&["id"], id.to_string())];
    changes.extend(former_ids.map(|ids| Change::set(&["metadata", FORMER], ids)));
    let mut file = file.clone();
    file.edit(&changes)?;
    Ok(file)
}

/// Where a side keeps its version.
type Slot = fn(&mut Sides) -> &mut Option<TaskFile>;

/// The versions by the tasks that they are of, and these by the ids that they have now. Of several
/// tasks with one id, the earlier one comes first.
pub fn group(
    base: Vec<TaskFile>,
    ours: Vec<TaskFile>,
    theirs: Vec<TaskFile>,
) -> BTreeMap<TaskId, Vec<(Origin, Sides)>> {
    let mut tasks: BTreeMap<Origin, Sides> = BTreeMap::new();
    let slots: [(Vec<TaskFile>, Slot); 3] = [
        (base, |sides| &mut sides.base),
        (ours, |sides| &mut sides.ours),
        (theirs, |sides| &mut sides.theirs),
    ];
    for (files, slot) in slots {
        for file in files {
            let known = slot(tasks.entry(Origin::of(&file)).or_default());
            // A merge that was not settled left two files of a task.
            let is_later =
                |known: &TaskFile| known.task().updated_at.time() < file.task().updated_at.time();
            if known.as_ref().is_none_or(is_later) {
                *known = Some(file);
            }
        }
    }
    let mut by_id: BTreeMap<TaskId, Vec<(Origin, Sides)>> = BTreeMap::new();
    for (origin, mut sides) in tasks {
        if let Some(id) = sides.follow() {
            by_id.entry(id).or_default().push((origin, sides));
        }
    }
    by_id
}

/// Versions of one task, brought together.
#[derive(Clone, Debug)]
pub struct Combined {
    pub file: TaskFile,
    /// The version that counts where both differ, as it was.
    pub kept: TaskFile,
    /// The versions that lost.
    pub lost: Vec<TaskFile>,
    /// Why: `committed`, `united`, `later`, `decision`.
    pub reason: &'static str,
    pub dropped: Vec<Dropped>,
    /// What the persons decided, if both versions have a decision of their own.
    pub decided: Option<String>,
}

/// Brings versions of one task together. `None` without a version.
pub fn combine(
    mut versions: Vec<TaskFile>,
    base: Option<&TaskFile>,
) -> Result<Option<Combined>, FileError> {
    let Some(first) = versions.first().map(decision) else { return Ok(None) };
    let is_shared = versions.iter().all(|file| decision(file) == first);
    let before = base.map(state);
    let is_moved = |file: &TaskFile| before.as_ref().is_some_and(|before| *before != state(file));
    // If only one of both moved the task, that is where it is.
    let is_one_moved = versions.iter().filter(|file| is_moved(file)).count() == 1;
    let rank = |file: &TaskFile| {
        let is_moved = is_one_moved && is_moved(file);
        let decision = decision(file).filter(|_| !is_shared);
        (is_moved, decision, file.task().updated_at.time(), file.text())
    };
    versions.sort_by_key(rank);
    let decided = two_decisions(&versions, base);
    let Some(kept) = versions.pop() else { return Ok(None) };
    let mut file = kept.clone();
    for lost in &versions {
        unite(&mut file, lost, base)?;
    }
    let mut found: Vec<Dropped> = Vec::new();
    for lost in &versions {
        found.extend(dropped(&file, lost, base));
    }
    let is_decided = !is_shared && decision(&file).is_some();
    let reason = match (versions.is_empty(), is_decided, found.is_empty()) {
        (true, ..) => "committed",
        (_, true, _) => "decision",
        (_, _, true) => "united",
        _ => "later",
    };
    Ok(Some(Combined { file, kept, lost: versions, reason, dropped: found, decided }))
}

/// How far a task is, as a version says.
fn state(file: &TaskFile) -> (Status, Option<(String, String)>, Object) {
    let task = file.task();
    let lease = task.lease.value();
    let lease = lease.map(|lease| (lease.agent.clone(), lease.acquired_at.to_string()));
    let said = |name: &&str| Some(((*name).to_owned(), task.metadata(name)?.clone()));
    (task.status, lease, STATE.iter().filter_map(said).collect())
}

/// When a person decided about a version last, and what.
fn decision(file: &TaskFile) -> Option<(String, String)> {
    let task = file.task();
    let decided =
        last_decision(task).map(|last| (last.at, format!("{} by {}", last.outcome, last.by)));
    let blocked = task.metadata("blockedBy").and_then(Value::as_str);
    let blocked = blocked.filter(|_| task.status == Status::Blocked);
    let blocked =
        blocked.map(|by| (task.last_transition_at.to_string(), format!("blocked by {by}")));
    decided.max(blocked)
}

/// What two persons decided, the one that counts last.
fn two_decisions(versions: &[TaskFile], base: Option<&TaskFile>) -> Option<String> {
    let before = base.and_then(decision);
    let mut decided: Vec<(String, String)> = versions.iter().filter_map(decision).collect();
    decided.retain(|one| Some(one) != before.as_ref());
    decided.dedup();
    if decided.len() < 2 {
        return None;
    }
    let said: Vec<String> =
        decided.into_iter().map(|(at, what)| format!("{what} ({at})")).collect();
    Some(format!("two persons decided: {}; the last one counts", said.join(", ")))
}

#[cfg(test)]
mod tests;
