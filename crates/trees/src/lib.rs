//! File trees that other programs can read and write as well. This crate knows no protocol.
//!
//! * [`Disk`]: the operations on files; [`Root`] does them below one folder, [`forward!`] helps
//!   to wrap another disk.
//! * [`atomic`]: files that are replaced in full or not at all.
//! * [`record`]: files that only grow, one JSON object per line.
//! * [`commit`]: a list of writes that is applied in full, once or again after a crash.
//! * [`journal`]: the redo journal of a commit.
//! * [`wal`]: a write-ahead log, for many small commits.
//! * [`watch`]: noticing changes of folders while they happen.
//! * [`lock`]: a lock file that is taken over only from a process that has ended.
//! * [`LockedTree`]: all of these together, for the [`TreeFormat`] of a protocol.
//! * `testing` (feature `testing`): a disk that loses unsynced writes, and one that aborts the
//!   process at a chosen write.
//!
//! Invariants:
//! - no path leads out of its root, whatever links it contains;
//! - a file is replaced in full or not at all, and a record only grows;
//! - a commit has happened once its journal is synced; it is then applied in full, at once or by
//!   the next process that takes the lock, and applying it again duplicates nothing;
//! - readers need no lock and never write;
//! - damaged data is reported with its line number and never overwritten.
//!
//! This crate starts no process and opens no socket. Only lock, log and watch read the
//! clock.
//!
//! ```
//! use accord_trees::{Root, atomic, read_file};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let root = Root::open(folder.path())?;
//! atomic::write(&root, "notes/today.txt", b"done")?;
//! assert_eq!(read_file(&root, "notes/today.txt", 100)?.as_deref(), Some(&b"done"[..]));
//! assert!(read_file(&root, "../outside.txt", 100).is_err());
//! # Ok(())
//! # }
//! ```

#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "working on files, under a lock with a clock, is what this crate is for"
)]

pub mod atomic;
pub mod commit;
mod disk;
mod error;
mod forward;
pub mod journal;
pub mod limits;
pub mod lock;
mod locked;
pub mod record;
mod root;
#[cfg(feature = "testing")]
pub mod testing;
pub mod wal;
pub mod watch;

pub use disk::{Content, Disk, Entry, Kind, Moved, Stat, parent, read_file};
pub use error::{Result, TreeError};
pub use locked::{LockedTree, Recovered, Recovery, TreeFormat};
pub use root::Root;
