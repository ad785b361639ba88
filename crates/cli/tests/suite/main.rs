//! Tests of the `accord` command and of the shape of the house.

#![expect(clippy::disallowed_methods, reason = "the tests run the command and read files")]

mod accord;
mod acting;
mod agents;
#[cfg(target_os = "linux")]
mod attacks;
mod attempt_socket;
mod batches;
mod boundaries;
mod builds;
mod checks;
mod checks_live;
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
mod lines;
mod live_browser;
mod live_commands;
#[cfg(feature = "faults")]
mod live_faults;
#[cfg(target_os = "linux")]
mod live_frames;
mod live_kills;
mod live_page;
mod live_place;
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
mod older_hosts;
mod only_project;
mod pages;
mod policy;
mod printed;
mod printed_live;
mod printed_run;
mod printed_task;
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
mod shop;
mod snapshot;
mod sources;
mod speaking;
mod task_board;
mod task_commands;
mod task_kills;
mod task_peers;
mod task_place;
mod task_streams;
mod task_work;
mod tasks_page;
mod terminal;
mod undeclared;
mod wait;
mod walk;
mod wire_pages;
mod workers;
