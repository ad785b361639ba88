//! Disks for tests.

mod abort;
mod full;
mod sim;

pub use abort::AbortAfter;
pub use full::Limited;
pub use sim::{Crash, SimDisk};
