//! The services for tasks: what the command, the doors and the conformance adapter all call.
//!
//! A [`Tree`] is the folder of one project in one [`Environment`]. Each operation is one method,
//! in a file of its own below `operations`. It loads the task, asks `accord-tasks-core`, and hands
//! the decision to a group of commits that share one sync.
//!
//! Invariants:
//! - nothing is answered before it would survive `kill -9` and power loss;
//! - a task is at one path, at every moment that a reader can see;
//! - events have numbers without gaps, across processes and restarts.

#![cfg(unix)]

mod environment;
mod index;
pub mod layout;
pub mod operations;
mod scan;
mod tree;
mod work;

pub use environment::Environment;
pub use tree::Tree;
