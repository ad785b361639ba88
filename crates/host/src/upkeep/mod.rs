//! Upkeep: the backup of a host that runs; restoring and compaction of a data folder that nobody serves.

mod backup;
mod offline;
mod repair;

pub(crate) use self::backup::backup;
pub use self::offline::{compact, restore};
pub use self::repair::{Repaired, repair};
