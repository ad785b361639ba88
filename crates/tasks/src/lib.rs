//! The services for tasks: what the command, the doors and the conformance adapter all call.
//!
//! A [`Tree`] is the folder of one project in one [`Environment`]. Each operation is one method,
//! in a file of its own below `operations`. It loads the task, asks `accord-tasks-core`, and hands
//! the decision to a group of commits that share one sync.
//!
//! * [`schedule`]: one look of the scheduler at a tree; [`executor`]: what starts tasks.
//! * [`worker`]: running an agent on a claimed task; [`notify`]: telling people about tasks.
//!
//! Invariants:
//! - nothing is answered before it would survive `kill -9` and power loss;
//! - a task is at one path, at every moment that a reader can see;
//! - events have numbers without gaps, across processes and restarts;
//! - what decides about a task is held to what was committed, whatever its file says.

#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "running agents and notifying people under a clock is what this crate is for"
)]

mod artifacts;
mod clock_watch;
mod committed;
pub mod decisions;
mod environment;
pub mod event_log;
pub mod executor;
mod explained;
mod file_cache;
mod finished;
mod index;
pub mod layout;
mod lint;
pub mod manifest;
pub mod notify;
pub mod operations;
mod outputs;
mod referee;
mod remembered;
mod report;
mod scan;
pub mod schedule;
mod signed;
mod traces;
mod tree;
mod uploads;
mod view;
mod watch;
mod work;
pub mod worker;
mod writers;

pub use environment::Environment;
pub use tree::Tree;
pub use watch::Watching;

/// A result whose error is a failure, unless it says otherwise.
pub type Result<T, E = accord_contract::codes::Failure> = std::result::Result<T, E>;
