//! A run that belongs to an initiative, whose coordinator decides which turn is next.

use std::path::{Path, PathBuf};

use accord_runs_core::{Result, State};

use crate::Runs;
use crate::coordinator::COORDINATOR_CONFIG;

/// The workspace of the initiative that a run belongs to. `root` is its repository.
pub fn initiative_of(root: &Path, state: &State) -> Option<PathBuf> {
    let state = state.document();
    if state.get("provenance")?.get("trigger")? != "coordinator" {
        return None;
    }
    let mut above = root.ancestors().skip(1);
    above.find(|folder| folder.join(COORDINATOR_CONFIG).is_file()).map(Path::to_owned)
}

pub fn initiative_command(workspace: &Path) -> String {
    let workspace = workspace.to_string_lossy();
    format!("accord run coordinator step --workspace {}", shell_words::quote(&workspace))
}

impl Runs {
    pub(super) fn initiative(&self) -> Result<Option<PathBuf>> {
        Ok(initiative_of(self.repository().root(), &self.state()?))
    }
}
