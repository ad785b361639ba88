//! ggui: the rules about live sessions.
//!
//! * [`version`]: the version of the protocol, and whether a client can speak it.
//!
//! This crate is pure: the time and random bytes come in as arguments.
//!
//! ```
//! use accord_live_core::version::{PROTOCOL_VERSION, is_supported};
//!
//! assert!(is_supported(Some(&[PROTOCOL_VERSION.to_owned()])));
//! ```

pub mod version;
