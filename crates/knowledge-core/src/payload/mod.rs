//! The schemas of payloads, as data, and the check against them.

mod check;
mod schemas;

pub use schemas::PAYLOAD_TYPES;

pub(crate) use check::check_payload;
