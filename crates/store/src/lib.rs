//! What Accord keeps, and how it is asked for.
//!
//! One trait a concern says which rows there are ([`Packages`], [`Facts`], [`Events`], …), a
//! [`ReadUnit`] or [`WriteUnit`] is all of them within one transaction, and a [`Store`] runs jobs
//! on such units. [`ModelStore`] implements everything in the simplest way; engines are compared
//! with it.
//!
//! Invariants:
//! - an engine stores and finds rows. What is allowed is decided above, by a job, within the
//!   transaction that writes it;
//! - every row but keys and settings of the store belongs to one project, and no reader of one
//!   project meets a row of another;
//! - documents are kept as the texts that they came as;
//! - instants compare as instants, ids by their bytes;
//! - what an index holds can be made again from the rows;
//! - a damaged row is never handed out, and keeps no other from being read ([`Audit`]).
//!
//! ```
//! use accord_base::ProjectId;
//! use accord_store::{MemoryStore, StoreError, StoreExt as _};
//!
//! let store = MemoryStore::new();
//! let project = ProjectId::new("shop").expect("an id");
//! let found = store.read(|unit| Ok::<_, StoreError>(unit.project(&project)?))?;
//! assert!(found.is_none());
//! # Ok::<(), StoreError>(())
//! ```

mod audit;
mod blobs;
mod engine;
mod error;
mod events;
mod facts;
mod keys;
mod listener;
mod model;
mod packages;
mod projects;
mod repair;
mod search;
mod sessions;
mod settings;
mod store;
pub mod terms;
#[cfg(feature = "testing")]
pub mod testing;
mod unit;

pub use audit::{Audit, DamagedRow, Stored, Table};
pub use blobs::{BlobRow, BlobWrites, Blobs};
pub use engine::{Engine, Progress, Statistics};
pub use error::{Result, StoreError, StoreErrorKind};
pub use events::{EventEntry, EventRow, EventWrites, Events, Kept};
pub use facts::{FactKey, FactQuery, FactRow, FactWrites, Facts, Neighbours, When};
pub use keys::{KeyRow, KeyWrites, Keys};
pub use listener::{Advance, Listener, Listeners};
pub use model::ModelStore;
pub use packages::{
    Drafts, MAX_SOURCES, Order, PARTS, PackageIndex, PackageQuery, PackageRow, PackageState,
    PackageWrites, Packages, Quarantine, Quarantined, QuestionQuery, QuestionRow, RevisionRow,
    Tally,
};
pub use projects::{ProjectQuery, ProjectRow, ProjectWrites, Projects};
pub use repair::{PackageSource, Repair};
pub use search::{Choice, Common, Found, Hit, Search, SearchQuery, WEIGHTS, rarity};
pub use sessions::{SessionQuery, SessionRow, SessionWrites, Sessions};
pub use settings::{Scope, SettingWrites, Settings};
pub use store::{Store, StoreExt, Verdict, WriteJob};
pub use unit::{ReadUnit, WriteUnit};
