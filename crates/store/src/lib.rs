//! What Accord stores, and how it is read and written.
//!
//! One trait per concern declares rows and queries ([`Packages`], [`Facts`], [`Events`], …), a
//! [`ReadUnit`] or [`WriteUnit`] is all of them within one transaction, and a [`Store`] runs jobs
//! on such units. [`ModelStore`] implements everything in the simplest way; engines are compared
//! with it.
//!
//! Invariants:
//! - an engine stores and finds rows. A job decides what is allowed, within its transaction, and
//!   [`derived`] computes the rows that follow from packages;
//! - every row except keys, people and settings of the store belongs to one project, and a reader
//!   of one project never gets a row of another. Live sessions are the exception: their ids are
//!   unique in the store, and a job checks the project of a session;
//! - documents are stored as their original texts;
//! - times are compared as instants, ids by their bytes;
//! - an index can be rebuilt from the rows;
//! - a damaged row is never returned, and does not prevent other rows from being read ([`Audit`]).
//!
//! ```
//! use accord_base::ProjectId;
//! use accord_store::{ModelStore, StoreError, StoreExt as _};
//!
//! let store = ModelStore::new();
//! let project = ProjectId::new("shop").expect("an id");
//! let found = store.read(|unit| Ok::<_, StoreError>(unit.project(&project)?))?;
//! assert!(found.is_none());
//! # Ok::<(), StoreError>(())
//! ```

#![warn(missing_docs)]

mod audit;
mod blobs;
mod briefing;
mod decisions;
pub mod derived;
mod edges;
mod embeddings;
mod engine;
mod error;
mod events;
mod facts;
mod flow;
mod inbox;
mod keys;
mod listener;
mod live;
mod model;
mod notices;
mod packages;
mod people;
mod projects;
mod repair;
mod search;
mod sessions;
mod settings;
mod store;
pub mod terms;
#[cfg(feature = "testing")]
pub mod testing;
pub mod time_key;
mod totals;
mod unit;
mod units;

pub use audit::{Audit, DamagedRow, Stored, Table, fill};
pub use blobs::{BlobRow, BlobWrites, Blobs};
pub use briefing::Briefings;
pub use decisions::{DecisionQuery, DecisionRow, DecisionWrites, Decisions, record_decision};
pub use edges::{EdgeDecisionRow, EdgeItemRow, EdgeRow, EdgeWrites, Edges};
pub use embeddings::{
    EmbeddingRow, EmbeddingWrites, Embeddings, Space, Unembedded, UnembeddedQuery,
};
pub use engine::{Engine, Progress, Statistics};
pub use error::{Result, StoreError, StoreErrorKind};
pub use events::{EventEntry, EventRange, EventRow, EventWrites, Events};
pub use facts::{FactKey, FactQuery, FactRow, FactWrites, Facts, Neighbours, When};
pub use flow::{WaitingFlow, queue_flow, take_flow, waiting_flows};
pub use inbox::{Inbox, InboxPosition, InboxQuery, InboxRow, InboxWrites, MarkKind};
pub use keys::{KeyRow, KeyWrites, Keys};
pub use listener::{Advance, Listener, Listeners};
pub use live::{
    BlueprintRow, FrameEntry, HandshakeRow, LedgerEntry, LiveAdvance, LivePart, LiveSessionQuery,
    LiveSessionRow, LiveSessionWrites, LiveSessions,
};
pub use model::ModelStore;
pub use notices::{NoticeRow, NoticeWrites, Notices, Untold};
pub use packages::{
    Drafts, HighlightQuery, IndexedQuestion, MAX_SOURCES, Order, PARTS, PackageIndex, PackageQuery,
    PackageRow, PackageState, PackageWrites, Packages, Quarantine, Quarantined, QuestionQuery,
    QuestionRow, RevisionRow, Tally,
};
pub use people::{People, PersonRow, PersonWrites};
pub use projects::{ProjectQuery, ProjectRow, ProjectWrites, Projects, Removal};
pub use repair::{PackageSource, Repair};
pub use search::{
    CommonTermLimits, FoundTerms, Hit, Search, SearchQuery, SearchResults, TermIndex, candidates,
    successors_first,
};
pub use sessions::{SessionQuery, SessionRow, SessionWrites, Sessions};
pub use settings::{INCARNATION, INCARNATIONS_BEFORE, Scope, SettingWrites, Settings};
pub use store::{JobOutcome, Store, StoreExt, WriteJob};
pub use totals::Totals;
pub use unit::{ReadUnit, WriteUnit};
pub use units::{UnitError, UnitResult, Units};
