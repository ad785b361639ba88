//! The crate's integration tests, in one binary.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod access;
mod calibration;
mod credential_samples;
mod credentials;
mod cursors;
mod events;
mod ids;
mod pages;
mod policy;
