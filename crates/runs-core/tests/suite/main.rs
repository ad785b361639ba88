//! The crate's integration tests, in one binary.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod acceptance;
mod approvals;
mod configs;
mod consequences;
mod coordinators;
mod corrections;
mod delegations;
mod foreign_changes;
mod fuzz;
mod gates;
mod hooks;
mod initiative_end;
mod machine;
mod mistyped_members;
mod recovery;
mod refusals;
mod reissues;
mod results;
mod send_backs;
mod support;
mod timelines;
mod unknown_members;
