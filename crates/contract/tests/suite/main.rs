//! The crate's integration tests, in one binary.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod alx;
mod codes;
mod compat;
mod golden;
mod snapshot;
mod times;
mod wire;
