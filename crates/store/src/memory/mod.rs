//! The model: everything in maps, in the simplest way that can be right.
//!
//! A job works on a copy of the state, which takes the state's place when the job is kept. So
//! nothing of a job that fails can be left, and a reader's snapshot is the state that it began with.

mod audit;
mod facts;
mod packages;
mod repair;
mod rest;
mod search;
mod sessions;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use accord_base::{ProjectId, SessionId};
use accord_canon::Digest;
use accord_memory_core::{FactId, PackageId};

use crate::{
    Advance, BlobRow, Common, EventEntry, FactRow, KeyRow, Listener, PackageIndex, PackageRow,
    ProjectRow, ReadUnit, Result, RevisionRow, SessionRow, Store, StoreError, Trouble, Verdict,
    WriteJob,
};

/// A store that lasts as long as the process.
#[derive(Default)]
pub struct MemoryStore {
    state: RwLock<Arc<State>>,
    /// Held by whoever writes.
    writing: Mutex<()>,
    listeners: RwLock<Vec<Listener>>,
}

/// Everything that is kept; also a unit of work on it.
#[derive(Clone, Debug, Default)]
struct State {
    projects: BTreeMap<ProjectId, ProjectState>,
    keys: BTreeMap<String, KeyRow>,
    settings: BTreeMap<String, String>,
    /// The last number that was given to a package, fact or session.
    numbers: u64,
    common: Common,
    /// The streams that the unit made longer.
    advanced: BTreeMap<ProjectId, u64>,
}

#[derive(Clone, Debug)]
struct ProjectState {
    row: ProjectRow,
    packages: BTreeMap<PackageId, PackageEntry>,
    facts: BTreeMap<FactId, FactRow>,
    sessions: BTreeMap<SessionId, SessionRow>,
    events: BTreeMap<u64, EventEntry>,
    newest_event: u64,
    blobs: BTreeMap<Digest, BlobRow>,
    settings: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
struct PackageEntry {
    row: PackageRow,
    index: PackageIndex,
    log: Vec<RevisionRow>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store with its own idea of which terms are very common.
    pub fn with_common(common: Common) -> Self {
        let state = State {
            common,
            ..State::default()
        };
        Self {
            state: RwLock::new(Arc::new(state)),
            ..Self::default()
        }
    }

    fn snapshot(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs a job and keeps what it wrote, if it is to be kept.
    fn commit(&self, job: &mut dyn WriteJob) -> Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = State::clone(&self.snapshot());
        let verdict = catch_unwind(AssertUnwindSafe(|| job.run(&mut state)))
            .map_err(|_| StoreError::new(Trouble::Broken, "a job panicked"))?;
        if verdict == Verdict::Undo {
            return Ok(());
        }
        let advances: Vec<Advance> = std::mem::take(&mut state.advanced)
            .into_iter()
            .map(|(project_id, through)| Advance {
                project_id,
                through,
            })
            .collect();
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(state);
        if !advances.is_empty() {
            let listeners = self
                .listeners
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            listeners.iter().for_each(|listener| listener(&advances));
        }
        Ok(())
    }
}

impl Store for MemoryStore {
    fn with_snapshot(&self, job: &mut dyn FnMut(&dyn ReadUnit)) -> Result<()> {
        job(&*self.snapshot());
        Ok(())
    }

    fn submit(&self, mut job: Box<dyn WriteJob>) {
        let outcome = self.commit(&mut *job);
        job.finish(outcome);
    }

    fn listen(&self, listener: Listener) {
        let mut listeners = self
            .listeners
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        listeners.push(listener);
    }
}

impl State {
    fn at(&self, project: &ProjectId) -> Option<&ProjectState> {
        self.projects.get(project)
    }

    /// A number that nothing has yet.
    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn at_mut(&mut self, project: &ProjectId) -> Result<&mut ProjectState> {
        let found = self.projects.get_mut(project);
        found.ok_or_else(|| StoreError::conflict("no project", project.as_str()))
    }
}

/// Adds a row where none of its id is.
fn insert<K: Ord, V>(rows: &mut BTreeMap<K, V>, key: K, row: V, what: &str) -> Result<()> {
    if rows.contains_key(&key) {
        return Err(StoreError::conflict(what, "is there already"));
    }
    rows.insert(key, row);
    Ok(())
}
