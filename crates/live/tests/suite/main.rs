//! Live sessions over both engines, without a door.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "the tests start processes and wait for them")]

mod agents;
mod asking;
mod consume;
mod dedup;
mod expiry;
mod kill;
mod own;
mod replay;
mod sequencing;
mod subscribers;
mod support;
