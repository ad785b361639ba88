//! The model: a store in maps, as simple as possible. A job works on a copy of the state, which
//! replaces the state when the job is committed. So a failed job leaves nothing behind, and a
//! reader's snapshot is the state at its start. Copies share what does not change (`shared`).

mod audit;
mod blobs;
mod briefing;
mod decisions;
mod edges;
mod embeddings;
mod events;
mod facts;
mod inbox;
mod keys;
mod links;
mod live;
mod notices;
mod packages;
mod people;
mod projects;
mod repair;
mod search;
mod sessions;
mod settings;
mod shared;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use accord_base::decision::DecisionId;
use accord_base::{ProjectId, SessionId};
use accord_canon::Digest;
use accord_memory_core::{FactId, PackageId};
use parking_lot::{Mutex, RwLock};

use self::shared::{Kept, Shared};

use crate::{
    Advance, BlobRow, CommonTermLimits, DecisionRow, EdgeDecisionRow, EdgeItemRow, EdgeRow, Engine,
    EventEntry, FactRow, JobOutcome, KeyRow, Listener, Listeners, PackageIndex, PackageRow,
    PersonRow, Progress, ProjectRow, ReadUnit, Removal, Result, RevisionRow, SessionRow,
    Statistics, Store, StoreError, StoreErrorKind, WriteJob,
};

/// A store in memory, and the model of every engine. It does not survive the process.
#[derive(Default)]
pub struct ModelStore {
    state: RwLock<Arc<State>>,
    /// Locked while a job runs, so that one job runs at a time.
    writing: Mutex<()>,
    listeners: Listeners,
    commits: AtomicU64,
    closed: AtomicBool,
}

/// The stored state; also a unit of work on it.
#[derive(Clone, Debug, Default)]
struct State {
    projects: BTreeMap<ProjectId, Kept<ProjectState>>,
    /// The last removal of each project that was ever removed.
    removals: BTreeMap<ProjectId, Removal>,
    keys: BTreeMap<String, KeyRow>,
    people: BTreeMap<String, PersonRow>,
    settings: BTreeMap<String, String>,
    live: live::Live,
    /// The last number that was assigned to a package, fact, session or decision.
    numbers: u64,
    common: CommonTermLimits,
    /// The streams to which the unit added events.
    advanced: BTreeMap<ProjectId, u64>,
}

#[derive(Clone, Debug)]
struct ProjectState {
    row: ProjectRow,
    packages: Kept<BTreeMap<PackageId, PackageEntry>>,
    facts: Kept<BTreeMap<FactId, FactRow>>,
    sessions: Kept<BTreeMap<SessionId, SessionRow>>,
    decisions: Kept<BTreeMap<DecisionId, DecisionRow>>,
    edges: Kept<BTreeMap<String, EdgeRow>>,
    edge_items: Kept<BTreeMap<(String, String), EdgeItemRow>>,
    edge_decisions: Kept<BTreeMap<(String, String), EdgeDecisionRow>>,
    events: Shared<u64, Arc<EventEntry>>,
    newest_event: u64,
    blobs: Kept<BTreeMap<Digest, BlobRow>>,
    settings: Kept<BTreeMap<String, String>>,
    inbox: Kept<inbox::KeptInbox>,
}

#[derive(Clone, Debug)]
struct PackageEntry {
    row: PackageRow,
    index: PackageIndex,
    log: Vec<RevisionRow>,
    embedding: Option<embeddings::Embedding>,
}

impl ModelStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store with its own limits for common terms.
    pub fn with_common(common: CommonTermLimits) -> Self {
        let state = State { common, ..State::default() };
        Self { state: RwLock::new(Arc::new(state)), ..Self::default() }
    }

    fn snapshot(&self) -> Arc<State> {
        Arc::clone(&self.state.read())
    }

    fn commit(&self, job: &mut dyn WriteJob) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(StoreError::new(StoreErrorKind::Unavailable, "it is closed"));
        }
        // Locked before the copy is made, so that no commit in between is overwritten.
        let _writing = self.writing.lock();
        let mut state = State::clone(&self.snapshot());
        let verdict = catch_unwind(AssertUnwindSafe(|| job.run(&mut state)))
            .map_err(|_| StoreError::new(StoreErrorKind::Broken, "a job panicked"))?;
        if verdict == JobOutcome::RollBack {
            return Ok(());
        }
        let advance = |(project_id, through)| Advance { project_id, through };
        let events: Vec<_> = std::mem::take(&mut state.advanced).into_iter().map(advance).collect();
        let live: Vec<_> = std::mem::take(&mut state.live.advanced).into_values().collect();
        *self.state.write() = Arc::new(state);
        self.commits.fetch_add(1, Ordering::Relaxed);
        // Under the lock of writers, so that listeners hear of commits in their order.
        self.listeners.notify(&events);
        self.listeners.notify_live(&live);
        Ok(())
    }
}

impl Store for ModelStore {
    fn with_snapshot(&self, job: &mut dyn FnMut(&dyn ReadUnit)) -> Result<()> {
        job(&*self.snapshot());
        Ok(())
    }

    fn submit(&self, mut job: Box<dyn WriteJob>) {
        let outcome = self.commit(&mut *job);
        job.finish(outcome);
    }

    fn subscribe(&self, listener: Weak<dyn Listener>) {
        self.listeners.add(listener);
    }
}

impl Engine for ModelStore {
    fn format(&self) -> u32 {
        // Nothing is written in any format.
        0
    }

    fn statistics(&self) -> Statistics {
        let commits = self.commits.load(Ordering::Relaxed);
        Statistics { jobs: commits, commits, ..Statistics::default() }
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn backup(&self, _: &Path, _: &mut dyn FnMut(Progress)) -> Result<()> {
        Err(no_files())
    }

    fn close(&self) -> Result<()> {
        self.closed.store(true, Ordering::Release);
        Ok(())
    }

    fn check_backup(_: &Path) -> Result<()> {
        Err(no_files())
    }

    fn restore(_: &Path, _: &Path, _: bool) -> Result<()> {
        Err(no_files())
    }

    fn compact(_: &Path) -> Result<(u64, u64)> {
        Err(no_files())
    }

    fn repair(_: &Path, _: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        Err(no_files())
    }
}

fn no_files() -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, "a store in memory has no files")
}

impl State {
    fn at(&self, project: &ProjectId) -> Option<&ProjectState> {
        self.projects.get(project).map(|project| &**project)
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn at_mut(&mut self, project: &ProjectId) -> Result<&mut ProjectState> {
        let found = self.projects.get_mut(project);
        let found = found.map(|project| &mut **project);
        found.ok_or_else(|| StoreError::conflict("no project", project.as_str()))
    }
}

/// Adds a row, unless its id exists.
fn insert<K: Ord, V>(rows: &mut BTreeMap<K, V>, key: K, row: V, what: &str) -> Result<()> {
    if rows.contains_key(&key) {
        return Err(StoreError::conflict(what, "exists already"));
    }
    rows.insert(key, row);
    Ok(())
}
