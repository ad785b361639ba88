//! MCP: tools for agents, over the same requests as HTTP.
//!
//! Tools are data ([`Toolset`], [`Tool`], [`Argument`]): a name, a description, arguments, how they
//! become a request to a host ([`HostRequest`]), and how its answer becomes the result
//! ([`ToolResult`]). Prompts ([`Prompt`]) and resources ([`ResourceSet`]) are, too. A set of tools
//! is one module of the door of its protocol.
//!
//! The same tools are served over streamable HTTP ([`service`]) and over standard input and output
//! ([`serve`]). Each call is a request through [`Api`](accord_serving::Api).
//!
//! Invariants:
//! - A tool decides nothing: a call is checked like any HTTP request.
//! - A refusal of the host is a result with its code and advice, never a protocol error.
//! - A result with a budget has at most that many tokens, counted as it is served.
//! - An MCP session belongs to the key that started it. The sessions of the memory that were
//!   started over it end with it.
//! - A stream ends when its key is no longer accepted.

#![expect(clippy::disallowed_methods, reason = "sessions end when they are idle")]

pub mod argument;
mod boxed;
pub mod budget;
pub mod call;
mod confirmation;
mod connection;
pub mod endpoints;
mod headers;
pub mod host_request;
mod in_flight;
mod lines;
mod malformed;
mod progress;
pub mod prompt;
pub mod raw;
mod refused;
pub mod resource;
mod server;
mod sessions;
mod stream;
pub mod tool_result;
pub mod toolset;
mod transport;
mod watch;

pub use self::argument::Argument;
pub use self::call::{Call, CallContext, parse_actor};
pub use self::endpoints::{HostAccess, KeepOpen, McpEndpoints, service};
pub use self::host_request::{Answer, HostRequest};
pub use self::prompt::Prompt;
pub use self::resource::{ListRequest, ResourcePage, ResourceSet, Template};
pub use self::server::ApiFor;
pub use self::sessions::SessionLimits;
pub use self::stream::{serve, serve_stdio};
pub use self::tool_result::{Memo, OpenSession, ToolError, ToolResult};
pub use self::toolset::{Advice, Effect, Tool, Toolbox, Toolset, Visibility};
pub use self::watch::IsAccepted;
