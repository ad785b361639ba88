//! File trees: what lies in folders that others can read and write as well.
//!
//! * [`Disk`]: the few things that are done to files; [`Root`] does them below one folder;
//!   [`handed_on!`] is for a disk that stands on another.
//! * [`governed`]: a governed repository on top of a disk: state, records, commits, lock.
//! * `testing` (feature `testing`): a disk that loses what was not synced, and one that ends the
//!   process at a chosen write.
//!
//! Invariants:
//! - no path leads out of its root, through whatever links;
//! - a file is replaced whole or not at all, and a record only grows;
//! - a commit has happened once its journal is on disk; it is then carried out in full, now or by
//!   whoever takes the lock next, and carrying it out again doubles nothing;
//! - whoever reads needs no lock and never writes;
//! - what is damaged is named, with its line, and never overwritten.
//!
//! No process is started here and no socket opened. Only the lock reads the clock.

#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "working on files, under a lock with a clock, is what this crate is for"
)]

mod atomic;
mod below;
mod disk;
mod error;
pub mod governed;
pub mod limits;
mod lock;
mod record;
mod root;
#[cfg(feature = "testing")]
pub mod testing;

pub use disk::{Content, Disk, Entry, Kind, Stat};
pub use error::{Result, TreeError};
pub use lock::{Holder, still_runs};
pub use record::{Line, Lines};
pub use root::Root;
