//! The crate's integration tests, in one binary.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod access;
mod calibration;
mod cursors;
mod events;
mod ids;
mod pages;
mod policy;
