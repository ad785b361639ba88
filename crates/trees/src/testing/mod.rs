//! Disks for tests.

mod abort;
mod sim;

pub use abort::AbortAfter;
pub use sim::{Crash, SimDisk};
