//! What people are told.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod looks;
mod pace;
