//! Tests of the `accord` command and of the shape of the house.

#![expect(clippy::disallowed_methods, reason = "the tests run the command and read files")]

mod accord;
mod agents;
mod batches;
mod checks;
mod checks_servers;
mod clauses;
mod conformance;
mod conformance_own;
mod connection;
mod contracts;
mod crash;
mod data_folder;
mod documents;
#[expect(clippy::unwrap_used, dead_code, reason = "the tests of the services use more of it")]
#[path = "../../../memory/tests/suite/embedding_server.rs"]
mod embedding_server;
mod finding;
mod fixtures;
mod fixtures_unfriendly;
mod garbage;
mod governed_runs;
mod help;
mod house;
mod ids;
mod manual;
mod mcp;
mod mcp_http;
mod meaning;
mod memory;
mod memory_context;
mod memory_lines;
mod memory_relay;
mod memory_same;
mod memory_store;
mod memory_trouble;
mod pages;
mod printed;
mod printed_run;
mod quickstart;
mod refusals;
mod run_approvals;
mod run_beginning;
mod run_by_hand;
mod run_coordinator;
mod run_crash;
mod run_hints;
mod run_hostile;
mod run_meeting;
mod run_place;
mod run_send_back;
mod run_silence;
mod run_words;
mod server;
mod serving;
mod snapshot;
mod sources;
mod speaking;
mod terminal;
mod wait;
mod walk;
