//! ggui: the rules about live sessions.
//!
//! * [`frame`]: what goes over the channel; [`limits`]: how much of it; [`version`]: the version of
//!   the protocol, and whether a client can speak it.
//! * [`session`]: what is stored of a session, and what is decided about it: subscriptions,
//!   actions, streams, replay, props, the pipe.
//! * [`upgrade`], [`token`], [`tenancy`]: who opens a socket, who may use a session, and in which
//!   app.
//! * [`operations`]: what a host is asked for; [`handshake`], [`tools`]: what agents and pages ask
//!   for; [`resource`]: what a host mounts.
//! * [`contract`]: what a page shows, what a person can do, what an agent can send; its hashes.
//! * [`capabilities`], [`gadgets`]: the tools and gadgets that a contract names; [`resolution`]:
//!   where the code of a gadget is; [`binding`]: how pages are found by their tools.
//! * [`schema`]: JSON Schema as contracts use it; [`subset`]: whether one schema fits another;
//!   [`props`]: the schema of props, and their updates.
//! * [`reserved`]: the channels of the server.
//! * [`violation`]: the places where a contract, or data under a contract, is wrong; [`refuse`]:
//!   the refusals, by their codes.
//! * [`control`]: how a kit brings sessions into a state; [`messages`]: the documents that have a
//!   schema.
//!
//! This crate is pure: the time and random bytes come in as arguments.
//!
//! ```
//! use accord_live_core::version::{PROTOCOL_VERSION, is_supported};
//!
//! assert!(is_supported(Some(&[PROTOCOL_VERSION.to_owned()]), PROTOCOL_VERSION));
//! ```

pub mod binding;
pub mod capabilities;
pub mod contract;
pub mod control;
pub mod faults;
pub mod frame;
pub mod gadgets;
pub mod handshake;
mod ids;
mod json;
pub mod limits;
pub mod messages;
pub mod operations;
pub mod props;
pub mod refuse;
pub mod reserved;
pub mod resolution;
pub mod resource;
pub mod schema;
pub mod session;
pub mod subset;
pub mod tenancy;
pub mod token;
pub mod tools;
pub mod upgrade;
pub mod version;
pub mod violation;

pub use ids::{AppId, HandshakeId, SessionId};
