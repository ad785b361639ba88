//! Tests of the services, without a door.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod embedding_queue;
mod embedding_server;
mod event_kinds;
mod followers;
mod meaning;
mod removal;
mod support;
