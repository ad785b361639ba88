//! Tests of Knowledge Blocks from outside the crate.

mod allocations;
mod derivation;
mod hashing;
mod lineage;
mod public_samples;
mod rules;
mod samples;
mod validation;
mod verification;
