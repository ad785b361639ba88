//! The operations on tasks, one file each.

mod claim;
mod create;
mod init;
mod lint;
mod message;
mod moves;
mod poll;
mod run_end;

pub use claim::Claimed;
pub use create::NewTask;
pub use lint::Finding;
pub use message::Received;
pub use poll::Polled;
