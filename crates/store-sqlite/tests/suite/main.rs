//! The embedded engine.

#![expect(clippy::disallowed_methods, reason = "the tests damage files, start processes and wait")]
#![expect(clippy::unwrap_used, reason = "a helper of a test is part of the test")]

mod compare;
#[path = "../../benches/retrieval/evaluation.rs"]
mod evaluation;
mod files;
mod format_1;
mod formats;
mod jobs;
mod kill;
mod notices;
#[path = "../../benches/retrieval/plain.rs"]
mod plain;
mod questions;
mod removal;
mod retrieval;
mod search;
mod support;
mod trouble;
