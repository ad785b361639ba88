//! The services of the Agentic Protocol, one file per operation.
//!
//! A service checks what the caller may do, reads what was sent, loads what the decision needs in
//! one unit of the store, asks the core (`accord_memory_core`) to decide, and writes rows and event in
//! the same unit. Doors see [`Memory`] and nothing below it.
//!
//! Invariants:
//! - what a caller may do and see is decided here, for every door alike;
//! - every write has its event in the same unit, and is answered when that unit is durable;
//! - the hash of a package is checked whenever it is read; one that is damaged is reported, left out
//!   of lists, and quarantined by a later write: a reader itself writes nothing;
//! - within a project the time never goes back, also when the machine's clock does.
//!
//! ```
//! use std::sync::Arc;
//!
//! use accord_base::Caller;
//! use accord_memory::{Memory, MemoryOptions};
//! use accord_store::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), accord_contract::codes::Failure> {
//! let memory = Memory::new(Arc::new(MemoryStore::new()), MemoryOptions::default());
//! let request = br#"{"project_id": "shop", "name": "Shop"}"#;
//! let created = memory.create_project(&Caller::owner(), request).await?;
//! assert!(created.new);
//! # Ok(())
//! # }
//! ```
#![expect(
    clippy::disallowed_methods,
    reason = "services read the clock, keep blobs as files and draw random ids"
)]

mod assert;
mod blobs;
mod clock;
mod conformance;
mod deposit;
pub mod embed;
mod events;
mod export;
mod facts;
mod import;
mod live;
mod load;
mod orchestrate;
mod orient;
mod patron;
mod projects;
mod pull;
mod record;
mod relevant;
mod repair;
mod retention;
mod served;
mod sessions;
mod spool;
mod transition;
mod verify;
mod walk;
mod work;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use accord_memory_core::ProjectPolicy;
use accord_store::{Listener, Store};
use parking_lot::{RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::RwLock;

use self::blobs::Files;
use self::clock::Clock;
use self::embed::{Embedder, Vectors};
use self::live::Live;

pub use self::assert::AssertedFact;
pub use self::blobs::{Blob, BlobIntake, Part, StoredBlob};
pub use self::deposit::Deposited;
pub use self::events::{FollowEnd, Follower, Since};
pub use self::export::Export;
pub use self::import::{ImportCounts, ImportSummary, Intake, RefusedLine};
pub use self::projects::CreatedProject;
pub use self::pull::PackagePage;
pub use self::relevant::{RelevantPage, Score, SearchBy};
pub use self::repair::{Repaired, repair};
pub use self::retention::{Retention, Sweep, SweepReport, Trim, TrimReport, TrimmedProject};
pub use self::served::Served;
pub use self::verify::{Problem, Suspect, Verify, VerifyReport, VerifyStep};
pub use self::work::{UnitError, UnitResult};

/// What a memory can be told when it is opened.
#[derive(Clone, Default)]
pub struct MemoryOptions {
    /// Projects are created on purpose alone, not by the first write to them.
    pub strict_projects: bool,
    /// The data folder, for what is neither a row nor a blob: lines that an import puts aside, exports on
    /// their way out. Without it the former are refused, and the latter use the system's temporary folder.
    pub folder: Option<PathBuf>,
    /// The folder of blobs; without it there is no blob storage.
    pub blobs: Option<PathBuf>,
    /// What turns texts into vectors; without it there is search by words alone.
    pub embedder: Option<Arc<dyn Embedder>>,
}

/// The memory of a host. A clone is the same memory.
#[derive(Clone)]
pub struct Memory {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    options: MemoryOptions,
    clock: Clock,
    vectors: Vectors,
    live: Arc<Live>,
    /// Open to all who store a blob, closed while one is swept away.
    blob_gate: RwLock<()>,
    /// Held by those who copy blobs, and alone by whoever sweeps them away.
    blob_copies: parking_lot::RwLock<()>,
}

impl Memory {
    /// The memory that is kept in a store.
    pub fn new(store: Arc<dyn Store>, options: MemoryOptions) -> Self {
        let clock = Clock::default();
        let live = Arc::new(Live::default());
        store.subscribe(Arc::downgrade(&live) as Weak<dyn Listener>);
        if let Some(folder) = &options.blobs
            && let Err(error) = Files::new(folder.clone()).clear_partial()
        {
            tracing::warn!("what uploads left cannot be removed: {error}");
        }
        Self {
            inner: Arc::new(Inner {
                store,
                options,
                clock,
                vectors: Vectors::default(),
                live,
                blob_gate: RwLock::new(()),
                blob_copies: parking_lot::RwLock::default(),
            }),
        }
    }

    /// The options that it was opened with.
    pub fn options(&self) -> &MemoryOptions {
        &self.inner.options
    }

    /// The store below, for upkeep.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    fn live(&self) -> &Arc<Live> {
        &self.inner.live
    }

    /// Keeps every blob that a row names from now on, whatever becomes of the row, until what this gives is
    /// dropped. Blobs can be stored meanwhile; whoever sweeps waits.
    pub fn keep_blobs(&self) -> RwLockReadGuard<'_, ()> {
        self.inner.blob_copies.read()
    }

    /// Waits until nobody copies blobs, and keeps those who want to waiting.
    fn sweep_alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.inner.blob_copies.write()
    }

    fn blob_gate(&self) -> &RwLock<()> {
        &self.inner.blob_gate
    }

    /// Whether a write may create the project that it names.
    fn policy(&self) -> ProjectPolicy {
        if self.inner.options.strict_projects {
            ProjectPolicy::Strict
        } else {
            ProjectPolicy::Create
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Memory").finish_non_exhaustive()
    }
}
