//! A run that belongs to an initiative: only its coordinator assigns turns.

use std::path::{Path, PathBuf};

use accord_contract::codes::{Code, Failure};
use accord_runs_core::state::State;

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

/// The command that assigns the next turn of an initiative.
pub fn initiative_command(workspace: &Path) -> String {
    let workspace = workspace.to_string_lossy();
    format!("accord run coordinator step --workspace {}", shell_words::quote(&workspace))
}

impl Runs {
    /// The workspace of the initiative that the run belongs to.
    pub(super) fn initiative(&self) -> Result<Option<PathBuf>, Failure> {
        Ok(initiative_of(self.repository().root(), &self.state()?))
    }

    /// Fails where an assignment would not be part of the plan of an initiative.
    pub(super) fn refuse_in_initiative(&self) -> Result<(), Failure> {
        let Some(workspace) = self.initiative()? else {
            return Ok(());
        };
        let message = "the run belongs to an initiative, which assigns its turns";
        Err(Failure::new(Code::XchainInvalidStateTransition, message)
            .suggesting(initiative_command(&workspace)))
    }
}
