//! The MCP endpoint: real JSON-RPC, over a stream and over HTTP.

mod budgets;
pub(crate) mod client;
mod endpoints;
mod fake;
mod house;
mod names;
mod real;
mod requests;
mod stateless;
mod tools;
