//! The hub that a folder is joined to: it has the memory of that folder.

use std::path::Path;

use accord_api::operations::edges::EdgeSource;
use accord_contract::Code;
use accord_edge::{Edges, JoinFile};

use super::names::setting;
use crate::Result;

/// The hub that the current folder, or one above it, is joined to.
pub(crate) fn hub_here() -> Option<JoinFile> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find_map(|folder| hub_of(folder).ok().flatten())
}

/// The hub that a work tree is joined to. A data folder that the environment names comes first.
/// Fails with `edge_mark_changed`.
pub(crate) fn hub_of(root: &Path) -> Result<Option<JoinFile>> {
    if setting("ACCORD_DATA").is_some() {
        return Ok(None);
    }
    let Ok(edges) = Edges::of_user() else { return Ok(None) };
    for source in [EdgeSource::Runs, EdgeSource::Tasks] {
        match edges.find(root, source) {
            Ok(Some(joined)) => return Ok(Some(joined.join)),
            Err(refused) if refused.code == Code::EdgeMarkChanged => return Err(refused.into()),
            Ok(None) | Err(_) => {}
        }
    }
    Ok(None)
}
