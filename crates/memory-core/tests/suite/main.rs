//! The crate's integration tests, in one binary.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod briefing;
mod chains;
mod conformance;
mod deposits;
mod digest;
mod events;
mod export;
mod facts;

mod lifecycle;
mod links;
mod orient;
mod packages;
mod projects;
mod queries;
mod rows;
mod schema;
mod sessions;
mod sources;
mod support;
