//! What is guarded while a program of others runs.
//!
//! - [`guarded_files`]: the files that a hook around an acceptance must not change.
//! - [`check_foreign_change`]: which changes of the records, made while a worker runs, may be taken
//!   over without a person.

mod change;
mod files;

pub use change::{ForeignChange, check_foreign_change};
pub use files::guarded_files;
