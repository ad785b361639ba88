//! Repair of a data folder that no host serves.

use std::path::Path;

use accord_contract::Failure;
use accord_memory::Repaired;

use super::offline::explain;
use crate::engine;

/// Rebuilds the derived data of a data folder, on a copy of its store that then replaces the store.
/// `tell` gets the number of packages that are done, and of all packages. Fails when there is no
/// store, it is in use, the disk is too full for a second copy, or the damage is not limited to
/// single rows. The store is unchanged then.
pub fn repair(folder: &Path, tell: &mut dyn FnMut(u64, u64)) -> Result<Repaired, Failure> {
    let repaired = engine::repair(folder, tell);
    repaired.map_err(|error| explain(folder, &error))
}
