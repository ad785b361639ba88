//! Disks for tests.

mod abort;
mod full;
mod read_only;
mod sim;

pub use abort::AbortAfter;
pub use full::Limited;
pub use read_only::ReadOnly;
pub use sim::{Crash, SimDisk};
