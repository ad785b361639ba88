//! The MCP door: real JSON-RPC, over a stream and over HTTP.

mod budgets;
pub(crate) mod client;
mod door;
mod fake;
mod names;
mod real;
mod tools;
