//! Tests of canonical JSON from outside the crate.

mod digests;
mod fuzz;
mod oracle;
mod profiles;
mod projections;
mod public_samples;
mod refusals;
