//! Maintenance: backup of a running host; restore, compaction and repair of a data folder that no
//! host serves.

mod backup;
mod offline;
mod room;
mod trees;

pub(crate) use self::backup::backup;
pub use self::offline::{compact, repair, restore};
pub(crate) use self::room::takes_writes;
pub use accord_serving::folder::{DATA_FOLDER, create as create_folder, must_be_private};
pub use accord_serving::lookup::{FoundFolder, Lookup, Obstacle};
