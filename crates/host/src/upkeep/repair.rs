//! Repair of a data folder that nobody serves.

use std::path::Path;

use accord_contract::codes::Failure;
use accord_memory::Repaired;

use super::offline::explain;
use crate::engine;

/// Makes again what is derived in a data folder, on a copy of its store that then replaces the
/// store.
///
/// # Errors
/// When there is no store, when it is in use, when there is no room for a second copy, or when more
/// than single rows is damaged. The store is unchanged then.
pub fn repair(folder: &Path) -> Result<Repaired, Failure> {
    let repaired = engine::repair(folder);
    repaired.map_err(|error| explain(folder, &error))
}
