//! How coding agents are connected to Accord: given the texts of their settings, the new texts.
//!
//! The door, `accord init`, reads and writes the files. This crate decides what is in them:
//!
//! 1. [`wire`] and [`remove`] make a [`Plan`] of all files of a tool, or refuse before any change.
//! 2. Texts are edited in place. Comments, order, indentation, line ends, a byte order mark and a
//!    missing final newline stay.
//! 3. Each edit is checked: the result is parsed again, and everything but Accord's own keys has
//!    the same value.
//! 4. The [`Ledger`] has what was added. Without changes by others, a removal restores the bytes
//!    from before; otherwise it takes out what is still Accord's.

mod bytes;
mod check;
mod document;
mod edit;
mod elsewhere;
mod entry;
pub mod hook;
mod json;
mod ledger;
mod markdown;
mod plan;
mod remove;
mod table;
mod tool;
mod wire;

pub use self::check::{Present, present, trust};
pub use self::entry::{Choices, Door, INSTRUCTIONS, block_body};
pub use self::ledger::{FileRecord, Ledger};
pub use self::plan::{Change, Plan, Snapshot, folders_of};
pub use self::remove::remove;
pub use self::tool::{Homes, Scope, TOOLS, Tool};
pub use self::wire::wire;
