//! Where a work tree is: its commit, its branch, and whether it has uncommitted changes.

use accord_runs_core::Result;
use accord_runs_core::accept::WorkPlace;

use super::Git;
use super::status::{NOT_INTO, names};

/// A record that every operation changes, so that it tells whether the work tree is clean.
const STATE: &str = ".agentxchain/state.json";

impl Git {
    /// The commit, the branch, and whether `git status` shows anything. Unlike [`Git::changes`],
    /// the records of the run count: that is how other runners look at a work tree. Fails with
    /// `git_failed`.
    pub(crate) fn place(&self) -> Result<WorkPlace> {
        let place = self.place_by(&["--", STATE])?;
        // A work tree whose records are ignored is as clean as the rest of it.
        if place.dirty == Some(false) { self.place_by(&[]) } else { Ok(place) }
    }

    fn place_by(&self, files: &[&str]) -> Result<WorkPlace> {
        let arguments = ["status", "--porcelain=v2", "-z", "--branch", "--no-renames", NOT_INTO];
        let output = self.ask(&[&arguments, files].concat(), Vec::new())?;
        let mut place = WorkPlace { dirty: Some(false), ..WorkPlace::default() };
        for entry in names(&output) {
            let text = String::from_utf8_lossy(entry);
            if let Some(commit) = text.strip_prefix("# branch.oid ") {
                place.head = (commit != "(initial)").then(|| commit.to_owned());
            } else if let Some(branch) = text.strip_prefix("# branch.head ") {
                // As `git rev-parse --abbrev-ref HEAD` prints it.
                let name = if branch == "(detached)" { "HEAD" } else { branch };
                place.branch = Some(name.to_owned());
            } else if !text.starts_with('#') {
                place.dirty = Some(true);
            }
        }
        Ok(place)
    }
}
