//! A host: the doors of the protocols and their services, joined.
//!
//! A request takes one way: [`accord_serving`] parses and authenticates it
//! ([`Caller`](accord_base::Caller)); the door of its protocol calls a service, which loads what it
//! needs, asks the pure core to decide, and commits in one transaction; the door answers. The
//! command, the MCP tools and other programs all send the same HTTP requests, through [`Api`],
//! whether the host is in this process or another.
//!
//! Invariants:
//! - Nothing is acknowledged before its commit is durable.
//! - This crate decides nothing: project scope and every rule are enforced in the services.
//! - Every refusal is a failure with a code, and has an error body.
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
#![expect(clippy::disallowed_methods, reason = "the host uses sockets, files and the environment")]

mod engine;
pub mod flows;
pub mod http;
mod inbox;
pub mod mcp;
mod notify;
mod runs;
pub mod serve;
pub mod tasks;
pub mod upkeep;

pub use self::inbox::own_verb;
pub use accord_serving::{Api, Request, Response, client, keys, log, settings};
