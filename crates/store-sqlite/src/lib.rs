//! The embedded engine: everything in one SQLite file.
//!
//! Invariants:
//! - one thread writes. It runs the waiting jobs in one transaction, rolls back a failed job alone,
//!   commits once, and reports outcomes only then;
//! - a commit is on the disk before it is acknowledged (write-ahead log, `synchronous=FULL`);
//! - readers have separate connections, which cannot write, and see one snapshot per unit;
//! - one process at a time has a folder open; the lock file says which;
//! - callers get a [`accord_store::StoreError`] with a code, never a message of SQLite.
//!
//! ```
//! use accord_base::ProjectId;
//! use accord_store::{StoreError, StoreExt as _};
//! use accord_store_sqlite::{DATABASE, Options, SqliteStore};
//!
//! let folder = tempfile::tempdir().expect("a folder");
//! let store = SqliteStore::open(folder.path(), &Options::default())?;
//! let project = ProjectId::new("shop").expect("an id");
//! let found = store.read(|unit| Ok::<_, StoreError>(unit.project(&project)?))?;
//! assert!(found.is_none());
//! assert!(folder.path().join(DATABASE).exists());
//! # Ok::<(), StoreError>(())
//! ```

#![expect(
    clippy::disallowed_methods,
    reason = "this crate stores data in files and has a writer thread"
)]

mod connect;
mod error;
mod folder;
mod migrate;
mod options;
mod readers;
mod store;
mod unit;
mod upkeep;
mod writer;

pub use folder::{DATABASE, LOCK};
pub use migrate::FORMAT;
pub use options::Options;
pub use store::SqliteStore;
