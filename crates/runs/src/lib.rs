//! The services for governed runs: what the command and the conformance adapter both call.
//!
//! A [`Runs`] is one repository in one [`Environment`]. Each operation is one method, and one file
//! below `operations`: it takes the repository's lock, brings to an end what others left half
//! done, reads configuration and state, asks `accord-runs-core`, writes what that says as one
//! commit, and lets go.
//!
//! * [`hooks`]: running hooks; [`git`]: what changed, and checkpoints; [`runtime`]: what carries
//!   turns, and whether it is there.
//! * [`coordinator`]: several repositories, one initiative.
//! * Nothing here decides about runs, and nothing here talks to people: decisions are the
//!   core's, words are the door's.
//!
//! Invariants:
//! - whoever only looks (status, records, check-up) takes no lock and writes nothing;
//! - what is written belongs to one commit, but for the audit of hooks, the bundle of a turn and
//!   the notes for other runners (`session.json`, `dispatch/index.json`);
//! - time never goes back within a run, whatever the clock says;
//! - a refusal has a code, and leaves nothing behind but its record.
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
pub mod answers;
pub mod coordinator;
mod environment;
pub mod git;
pub mod hooks;
mod operation;
pub mod operations;
pub mod repository;
mod runs;
pub mod runtime;
mod scaffold;
mod turn_cycle;
mod web;

pub use environment::{Environment, Notice};
pub use repository::LockHolder;
pub use runs::{Reading, Runs};
pub use turn_cycle::{CycleOptions, TurnOutcome};
