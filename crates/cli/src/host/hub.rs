//! The hub that a folder is joined to: it has the memory of that folder.

use std::path::Path;

use accord_api::operations::edges::EdgeSource;
use accord_edge::{Edges, JoinFile};

use super::names::setting;

/// The hub that the current folder, or one above it, is joined to.
pub(crate) fn hub_here() -> Option<JoinFile> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find_map(hub_of)
}

/// The hub that a work tree is joined to. A data folder that the environment names comes first.
pub(crate) fn hub_of(root: &Path) -> Option<JoinFile> {
    if setting("ACCORD_DATA").is_some() {
        return None;
    }
    let edges = Edges::of_user().ok()?;
    let joined = [EdgeSource::Runs, EdgeSource::Tasks]
        .into_iter()
        .find_map(|source| edges.find(root, source).ok().flatten());
    Some(joined?.join)
}
