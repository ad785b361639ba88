//! What is guarded while a program of others runs.
//!
//! [`guarded_files`] are those that a hook around an acceptance must not change.
//! [`check_foreign_change`] says which changes of the records need a person while a worker runs.

mod change;
mod files;

pub use change::{ForeignChange, check_foreign_change};
pub use files::guarded_files;
