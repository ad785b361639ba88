//! Props: the schema that a render enforces, and the updates of props.
//!
//! Invariant: the schema that is returned is the schema that is enforced, byte for byte.

mod enforced;
mod update;

pub use enforced::{EnforcedProps, Profile};
pub use update::{PropsUpdate, merge_patch};
