//! Tests of the services, without a door.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "these tests run a server and wait for it")]

mod attempts;
mod decisions;
mod edge_decisions;
mod edges;
mod embedding_queue;
mod embedding_server;
mod event_kinds;
mod followers;
mod meaning;
mod removal;
mod support;
