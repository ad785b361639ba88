//! The YAML of task files: read with positions, written scalar by scalar, edited in place.
//!
//! Invariants:
//! - a text is read by the core schema of YAML 1.2, as in the reference: a timestamp is a text;
//! - an edit changes the lines of the members that it names, and no other byte;
//! - a text that Accord wrote is written again after an edit. Any other text is edited in place
//!   and read again, and must say what the edit meant.

mod edit;
mod emit;
mod load;
mod scalar;

pub use edit::{Change, Yaml};
pub use load::YamlError;
