//! What pages show of what agents write.

#![expect(clippy::disallowed_methods, reason = "the tests read files and settings")]

mod browser;
mod escaping;
mod forms;
mod snapshots;
mod support;
