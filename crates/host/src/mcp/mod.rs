//! The door for agents: MCP tools over the same requests that everybody sends.
//!
//! Tools are data ([`Toolset`], [`Tool`], [`Argument`]): a name, words for models, arguments, how they
//! become a request to a host ([`Ask`]), and how its answer becomes the result ([`Outcome`]). A protocol's
//! tools are one module and one line in [`TOOLSETS`].
//!
//! The same tools are served over streamable HTTP ([`service`]) and over standard input and output
//! ([`serve`]); either way a call is a request through [`Api`](crate::Api).
//!
//! Invariants:
//! - a tool decides nothing: what holds for a request of HTTP holds for a call;
//! - what a host refuses is a result with its code and what to do about it, never a protocol error;
//! - a result within a budget has no more tokens than that, counted as it is served;
//! - a session of MCP belongs to the key that began it.

mod argument;
mod ask;
mod budget;
mod call;
mod door;
mod lines;
pub mod memory;
mod outcome;
mod raw;
mod server;
mod sessions;
mod stream;
mod toolset;

pub use self::argument::Argument;
pub use self::ask::{Answer, Ask};
pub use self::call::{Call, Standing, parse_actor};
pub use self::door::{McpDoors, service};
pub use self::outcome::{Memo, OpenSession, Outcome};
pub use self::server::ApiFor;
pub use self::sessions::SessionLimits;
pub use self::stream::{serve, serve_stdio};
pub use self::toolset::{Advice, Effect, Tool, Toolbox, Toolset};

/// The sets of tools that there are.
pub const TOOLSETS: &[&Toolset] = &[&memory::TOOLSET];
