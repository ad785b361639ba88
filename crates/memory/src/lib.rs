//! The services of the Agentic Protocol, one file per operation.
//!
//! A service checks access, parses the request, loads what the decision needs in one unit of the
//! store, asks the core (`accord_memory_core`) to decide, and writes rows and event in the same
//! unit. Doors see [`Memory`] and nothing below it.
//!
//! Invariants:
//! - access is checked here, so that it is the same for every door;
//! - every write has its event in the same unit, and is answered when that unit is durable;
//! - the hash of a package is checked whenever it is read; a damaged one is logged, left out of
//!   lists, and quarantined by a separate write, because a reader writes nothing;
//! - within a project the time never decreases, even when the machine's clock is set back.
//!
//! ```
//! use std::sync::Arc;
//!
//! use accord_base::Caller;
//! use accord_memory::{Memory, MemoryOptions};
//! use accord_store::ModelStore;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), accord_contract::codes::Failure> {
//! let memory = Memory::new(Arc::new(ModelStore::new()), MemoryOptions::default());
//! let request = br#"{"project_id": "shop", "name": "Shop"}"#;
//! let created = memory.create_project(&Caller::owner(), request).await?;
//! assert!(created.new);
//! # Ok(())
//! # }
//! ```
#![expect(clippy::disallowed_methods, reason = "services use the clock, files and random ids")]

mod assert;
mod attempts;
mod blobs;
mod briefing;
mod cancel;
mod clock;
mod conformance;
mod damage;
mod decisions;
mod deposit;
mod edge_decisions;
mod edge_kept;
mod edges;
mod embed;
mod events;
mod export;
mod facts;
mod flow;
mod ids;
mod import;
mod links;
mod load;
mod notify;
mod orchestrate;
mod orient;
mod page;
mod projects;
mod pull;
mod questions;
mod record;
mod relevant;
mod remove;
mod repair;
mod retention;
mod served;
mod sessions;
mod spool;
mod transition;
mod trees;
mod unit;
mod verify;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use accord_memory_core::ProjectPolicy;
use accord_store::{Listener, Store, Units};
use accord_system::Clock;
use parking_lot::RwLockReadGuard;
use tokio::sync::RwLock;

use self::blobs::Files;
use self::embed::Vectors;
use self::notify::Notifier;

pub use self::assert::AssertedFact;
pub use self::attempts::EndedWork;
pub use self::blobs::{Blob, BlobIntake, Part, StoredBlob};
pub use self::decisions::{DecisionPage, TakenDecisions};
pub use self::deposit::{DepositOptions, Deposited};
pub use self::edges::AppliedOutbox;
pub use self::embed::{Embedder, EmbeddingOptions};
pub use self::events::{FollowEnd, Follower, Since, WatchedEvent, Watcher};
pub use self::export::Export;
pub use self::flow::{EDGES, FlowPackage, FlowSource};
pub use self::ids::MatchingIds;
pub use self::import::Intake;
pub use self::notify::ProjectCommits;
pub use self::projects::CreatedProject;
pub use self::pull::{PackagePage, PulledPackage, Reviews};
pub use self::questions::Superseded;
pub use self::relevant::{RelevantPage, Score};
pub use self::remove::RemovedProject;
pub use self::repair::{Repaired, repair};
pub use self::retention::{Retention, Sweep, SweepReport, Trim, TrimReport};
pub use self::served::Served;
pub use self::sessions::StartedSession;
pub use self::trees::{EventSource, SourceEvent, TakenOver};
pub use self::verify::{Verify, VerifyStep};
pub use accord_api::operations::upkeep::{EmbeddingState, EmbeddingStatus};
pub use accord_store::{UnitError, UnitResult};

#[derive(Clone, Default)]
pub struct MemoryOptions {
    /// A write to an unknown project is refused instead of creating the project.
    pub strict_projects: bool,
    /// The data folder, for files that are neither rows nor blobs: quarantined lines of an import,
    /// and exports that are being sent. Without it such lines are refused, and exports use the
    /// system's temporary folder.
    pub folder: Option<PathBuf>,
    /// The folder of blobs; without it there is no blob storage.
    pub blobs: Option<PathBuf>,
    /// Turns texts into vectors; without it there is only keyword search.
    pub embedder: Option<Arc<Embedder>>,
}

/// The services of the Agentic Protocol over a store. A clone shares its state.
#[derive(Clone)]
pub struct Memory {
    inner: Arc<Inner>,
}

struct Inner {
    units: Units,
    options: MemoryOptions,
    clock: Clock,
    vectors: Vectors,
    notifier: Arc<Notifier>,
    /// Locked shared while a blob is stored, and exclusively while one is deleted.
    blob_gate: RwLock<()>,
    /// Locked shared while blobs are copied, and exclusively while they are swept.
    blob_copies: parking_lot::RwLock<()>,
}

impl Memory {
    pub fn new(store: Arc<dyn Store>, options: MemoryOptions) -> Self {
        let notifier = Arc::new(Notifier::default());
        store.subscribe(Arc::downgrade(&notifier) as Weak<dyn Listener>);
        if let Some(folder) = &options.blobs
            && let Err(error) = Files::new(folder.clone()).clear_partial()
        {
            tracing::warn!("the rest of an interrupted upload cannot be removed: {error}");
        }
        Self {
            inner: Arc::new(Inner {
                units: Units::new(store),
                options,
                clock: Clock::default(),
                vectors: Vectors::default(),
                notifier,
                blob_gate: RwLock::new(()),
                blob_copies: parking_lot::RwLock::default(),
            }),
        }
    }

    pub fn options(&self) -> &MemoryOptions {
        &self.inner.options
    }

    /// The store below, for upkeep.
    pub fn store(&self) -> &Arc<dyn Store> {
        self.inner.units.store()
    }

    /// Prevents the deletion of blobs until the guard is dropped. Blobs can still be stored.
    pub fn keep_blobs(&self) -> RwLockReadGuard<'_, ()> {
        self.inner.blob_copies.read()
    }

    fn policy(&self) -> ProjectPolicy {
        let strict = self.inner.options.strict_projects;
        if strict { ProjectPolicy::Strict } else { ProjectPolicy::Create }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Memory").finish_non_exhaustive()
    }
}
