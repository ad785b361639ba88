//! What this process remembers while it waits for workers.
//!
//! A worker runs with the rights of its user and can write the copies as well. It cannot write the
//! memory of the process that waits for it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use accord_contract::Failure;
use accord_runs_core::TurnId;

use super::document::{Document, GuardedTurn, Holder, PendingCommit, Snapshot};

/// What judges the turns of one repository that this process waits for.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) snapshot: Snapshot,
    /// The stored index of the records, as Accord wrote it; `None` if it must be read again.
    pub(super) index: Option<String>,
    /// The turns whose workers this process waits for, with their attempts.
    pub(super) turns: BTreeMap<TurnId, u64>,
    /// A commit of this process that may have happened and is not in the snapshot yet.
    pub(super) pending: Option<PendingCommit>,
    /// Turns that must not go on before a person has read this.
    pub(super) stops: BTreeMap<TurnId, Failure>,
    /// Turns whose results are refused, because the configuration changed, with the message.
    pub(super) refused: BTreeMap<TurnId, String>,
}

impl Memory {
    pub(super) fn turn_ids(&self) -> BTreeSet<TurnId> {
        self.turns.keys().cloned().collect()
    }

    /// Corrects a document that a worker may have changed: this process knows its own turns.
    pub(super) fn correct(&self, document: &mut Document) {
        for (turn, attempt) in &self.turns {
            let guarded = GuardedTurn {
                attempt: *attempt,
                holder: Some(Holder::own()),
                config_changed: self.refused.get(turn).cloned(),
            };
            document.turns.insert(turn.clone(), guarded);
        }
        document.snapshot = Some(self.snapshot.clone());
        document.pending.clone_from(&self.pending);
    }
}

/// The user's settings of git from before the first attempt of a turn, by the folder of the copies.
type UserGit = BTreeMap<(PathBuf, TurnId), Option<BTreeMap<String, String>>>;

static USER_GIT: Mutex<UserGit> = Mutex::new(BTreeMap::new());

/// The settings from before the first attempt of a turn: those that are known, else these. An
/// attempt that is refused for them does not make them right.
pub(super) fn first_user_git(
    (folder, turn): (&Path, &TurnId),
    now: Option<BTreeMap<String, String>>,
) -> Option<BTreeMap<String, String>> {
    lock(&USER_GIT).entry((folder.to_owned(), turn.clone())).or_insert(now).clone()
}

pub(super) fn forget_user_git(folder: &Path, turn: &TurnId) {
    lock(&USER_GIT).remove(&(folder.to_owned(), turn.clone()));
}

/// The memory of each repository, by the folder of its copies.
static MEMORIES: Mutex<BTreeMap<PathBuf, Arc<Mutex<Memory>>>> = Mutex::new(BTreeMap::new());

/// The memory of a repository; `None` while this process waits for no worker in it.
pub(super) fn of(folder: &Path) -> Option<Arc<Mutex<Memory>>> {
    lock(&MEMORIES).get(folder).cloned()
}

pub(super) fn remember(folder: &Path, memory: Memory) -> Arc<Mutex<Memory>> {
    let memory = Arc::new(Mutex::new(memory));
    lock(&MEMORIES).insert(folder.to_owned(), Arc::clone(&memory));
    memory
}

pub(super) fn forget(folder: &Path) {
    lock(&MEMORIES).remove(folder);
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is made in one assignment, so a thread that panicked left nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
