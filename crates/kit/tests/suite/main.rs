//! The kit's own behaviour, with small corpora and adapters that are a few lines of shell.

#![expect(
    clippy::disallowed_methods,
    reason = "these tests write files, run processes and watch the clock"
)]
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod baseline;
mod corpus;
mod embedded;
mod example;
mod exit;
mod filter;
mod lines;
mod per_case;
mod reporters;
mod runner;
mod schemas;
mod support;
