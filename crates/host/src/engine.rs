//! The engine of a data folder: the only module that knows which engine that is.

use std::path::Path;
use std::sync::Arc;

use accord_memory::Repaired;
use accord_store::{Engine, ModelStore, Result};
use accord_store_sqlite::Options;

pub(crate) use accord_store_sqlite::{DATABASE, LOCK, SqliteStore as FolderEngine};

/// Opens the engine of a folder, and creates the folder when it does not exist.
pub(crate) fn open(folder: &Path) -> Result<Arc<dyn Engine>> {
    Ok(Arc::new(FolderEngine::open(folder, &Options::default())?))
}

pub(crate) fn in_memory() -> Arc<dyn Engine> {
    Arc::new(ModelStore::new())
}

/// Rebuilds what is derived in the store of a folder, on a copy that then replaces the store.
pub(crate) fn repair(folder: &Path, tell: &mut dyn FnMut(u64, u64)) -> Result<Repaired> {
    let mut repaired = Repaired::default();
    FolderEngine::repair(folder, &mut |store| {
        repaired = accord_memory::repair(store, tell)?;
        Ok(())
    })?;
    Ok(repaired)
}
