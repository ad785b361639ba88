//! Tests of the services, without a door.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod event_kinds;
mod followers;
mod meaning;
mod support;
