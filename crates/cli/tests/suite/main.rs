//! Tests of the `accord` command and of the shape of the house.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests run the command and read files"
)]

mod accord;
mod batches;
mod checks;
mod checks_servers;
mod connection;
mod contracts;
mod crash;
mod documents;
mod garbage;
mod house;
mod manual;
mod mcp;
mod memory;
mod memory_context;
mod memory_lines;
mod memory_same;
mod memory_store;
mod memory_trouble;
mod quickstart;
mod serving;
mod speaking;
