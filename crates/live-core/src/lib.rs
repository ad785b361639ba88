//! ggui: the rules about live sessions.
//!
//! * [`version`]: the version of the protocol, and whether a client can speak it.
//! * [`contract`]: what a page shows, what a person can do, what an agent can send; its hashes.
//! * [`capabilities`], [`gadgets`]: the tools and gadgets that a contract names; [`resolution`]:
//!   where the code of a gadget is; [`binding`]: how pages are found by their tools.
//! * [`schema`]: JSON Schema as contracts use it; [`subset`]: whether one schema fits another;
//!   [`props`]: the schema of props, and their updates.
//! * [`reserved`]: the channels of the server.
//! * [`violation`]: the places where a contract, or data under a contract, is wrong.
//!
//! This crate is pure: the time and random bytes come in as arguments.
//!
//! ```
//! use accord_live_core::version::{PROTOCOL_VERSION, is_supported};
//!
//! assert!(is_supported(Some(&[PROTOCOL_VERSION.to_owned()])));
//! ```

pub mod binding;
pub mod capabilities;
pub mod contract;
pub mod gadgets;
pub mod props;
pub mod reserved;
pub mod resolution;
pub mod schema;
pub mod subset;
pub mod version;
pub mod violation;
