//! Maintenance: backup of a running host; restore, compaction and repair of a data folder that no
//! host serves.

mod backup;
mod folder;
mod offline;
mod repair;

pub(crate) use self::backup::backup;
pub(crate) use self::folder::create as create_folder;
pub use self::offline::{compact, restore};
pub use self::repair::repair;
