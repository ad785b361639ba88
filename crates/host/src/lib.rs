//! The services of Accord and the doors to them.
//!
//! A request walks one way: a door parses it and says who asks ([`Caller`](accord_base::Caller)); a service
//! ([`accord_memory`])
//! loads what it needs, asks the pure core to decide, and commits in one transaction; the door answers.
//! What a door answers, it answers alike to everybody: the command, the MCP tools and other programs all
//! speak the same HTTP requests, through [`Api`], whether the host is this process or another.
//!
//! Invariants:
//! - nothing is acknowledged before its commit is durable;
//! - a door decides nothing: project scope and every rule lie below it;
//! - every refusal is a failure with a code, and leaves the process in one error body.
//!
//! ```
//! use accord_host::http::Host;
//! use accord_host::settings::Sources;
//!
//! let folder = tempfile::tempdir().expect("a folder");
//! let data = folder.path().join(".accord");
//! let settings = Sources::of_process(&data, None, Vec::new()).resolve()?.settings;
//! let host = Host::open(&data, settings)?;
//! assert_eq!(host.settings().listen.port(), 7171);
//! // A new data folder keeps itself out of git.
//! assert!(data.join(".gitignore").exists());
//! # Ok::<(), accord_contract::codes::Failure>(())
//! ```
#![expect(
    clippy::disallowed_methods,
    reason = "the host is where clock, sockets, files and random numbers come in"
)]

mod api;
pub mod client;
mod engine;
pub mod http;
pub mod keys;
pub mod log;
pub mod mcp;
pub mod serve;
pub mod settings;
pub mod upkeep;

pub use self::api::{Api, Request, Response};
