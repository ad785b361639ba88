//! The kit's own behaviour, with small corpora and adapters that are a few lines of shell.

#![expect(
    clippy::disallowed_methods,
    reason = "these tests write files, run processes and watch the clock"
)]
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod agentic;
mod agentxchain;
mod baseline;
mod breaking;
mod browse;
mod browser;
mod channel;
mod checks;
mod corpus;
mod embedded;
mod example;
mod exit;
mod filter;
mod fixtures;
mod folders;
mod fuzz;
mod http;
mod levels;
mod lines;
mod per_case;
mod refusals;
mod reporters;
mod runner;
mod schemas;
mod scopes;
mod server;
mod support;
mod talk;
mod target_folder;
mod target_server;
mod web;
mod web_corpus;
