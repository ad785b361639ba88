//! What pages show of what agents write.

#![expect(clippy::disallowed_methods, reason = "the tests read files and settings")]
#![expect(clippy::unwrap_used, reason = "a helper of a test is part of the test")]

mod browser;
#[path = "../../../base/tests/suite/credential_samples.rs"]
mod credential_samples;
mod escaping;
mod forms;
mod snapshots;
mod support;
