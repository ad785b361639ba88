//! The services for governed runs: what the command and the conformance adapter both call.
//!
//! A [`Runs`] is one repository in one [`Environment`]. Each operation is one method, in a file of
//! its own below `operations`. It takes the lock of the repository, finishes pending journals,
//! loads configuration and state, asks `accord-runs-core`, writes the decision as one commit, and
//! releases the lock.
//!
//! * [`hooks`] runs hooks; [`git`] reads changes and makes checkpoints; [`runtime`] runs the
//!   workers of turns.
//! * `guard` copies what judges a turn before its worker starts, and puts back what changed.
//! * [`coordinator`]: one initiative over several repositories.
//! * This crate neither decides about runs (runs-core does) nor prints (the command does).
//!
//! Invariants:
//! - operations that only read (status, records, check-up) take no lock and write nothing;
//! - all writes of an operation are one commit, except the audit of hooks, the bundle of a turn and
//!   the files for other runners (`session.json`, `dispatch/index.json`);
//! - while a worker runs, configuration and records are those from before its start, moved along by
//!   the commits of Accord only;
//! - time never goes back within a run, even if the clock does;
//! - a refusal has a code and leaves only its record.
//!
//! ```
//! use accord_runs::operations::{InitOptions, init};
//! use accord_runs::{Environment, Runs};
//!
//! let folder = tempfile::tempdir().expect("a folder");
//! init(folder.path(), &InitOptions::default(), &Environment::system())?;
//! let runs = Runs::open(folder.path(), Environment::system())?;
//! assert_eq!(runs.config()?.phases(), ["planning", "implementation", "qa"]);
//! # Ok::<(), accord_contract::codes::Failure>(())
//! ```

#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "running hooks, git and commands of gates under a clock is what this crate is for"
)]

mod acceptance_driver;
pub mod agents;
pub mod answers;
mod attempt_watch;
mod caller;
pub mod coordinator;
mod environment;
mod evidence;
mod facts;
pub mod git;
mod guard;
pub mod hooks;
mod operation;
pub mod operations;
pub mod repository;
mod run_marker;
mod runs;
pub mod runtime;
mod scaffold;
mod turn_cycle;
mod web;

pub use environment::{Environment, Notice};
pub(crate) use git::Git;
pub use guard::KeptChange;
pub(crate) use operation::{Operation, own_path};
pub use repository::LockHolder;
pub(crate) use repository::{LockedRepository, RecordFile, Repository};
pub use runs::{Reading, Runs};
pub use turn_cycle::{CycleOptions, TurnOutcome};
