//! ggui: the rules about live sessions.
//!
//! [`session`] decides about sessions, [`contract`] about what a page shows and what a person can
//! do on it, and [`asking`] about questions of one call. [`operations`] has what a host is asked
//! for. This crate is pure: the time and random bytes come in as arguments.
//!
//! ```
//! use accord_live_core::version::{PROTOCOL_VERSION, is_supported};
//!
//! assert!(is_supported(Some(&[PROTOCOL_VERSION.to_owned()]), PROTOCOL_VERSION));
//! ```

pub mod asking;
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
