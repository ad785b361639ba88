//! Upkeep: the backup of a host that runs; restoring and compaction of a data folder that nobody serves.

mod backup;
mod folder;
mod offline;
mod repair;

pub(crate) use self::backup::backup;
pub(crate) use self::folder::create as create_folder;
pub use self::offline::{compact, restore};
pub use self::repair::repair;
