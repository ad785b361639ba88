//! The MCP endpoint: real JSON-RPC, over a stream and over HTTP.

mod budgets;
pub(crate) mod client;
mod endpoints;
mod fake;
mod house;
mod names;
mod outputs;
mod pages;
mod prompts;
mod real;
mod relay;
mod requests;
mod resources;
mod sizes;
mod stateless;
mod tools;
