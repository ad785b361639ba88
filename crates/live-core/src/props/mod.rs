//! Props: the schema that a render enforces, and the updates of props.
//!
//! * [`EnforcedProps`]: the schema that a handshake returns and a render enforces, its hash, and
//!   whether a grammar can be made from it.
//! * [`PropsUpdate`]: a replacement or a merge patch (RFC 7396).
//!
//! Invariant: the schema that is returned is the schema that is enforced, byte for byte.

mod enforced;
mod update;

pub use enforced::{EnforcedProps, Profile};
pub use update::{PropsUpdate, merge_patch};
