//! The operations on tasks, one file each.

mod claim;
mod create;
mod init;
mod message;

pub use claim::Claimed;
pub use create::NewTask;
pub use message::Received;
