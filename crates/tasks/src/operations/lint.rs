//! Whether the files of a tree are what they should be. It takes no lock and writes nothing.

use accord_base::By;
use accord_tasks_core::operations::{LintAnswer, LintQuery};
use accord_trees::TreeError;
use accord_trees::wal::Wal;

use crate::committed::State;
use crate::layout::OWN;
use crate::lint::{Lint, damaged};
use crate::tree::failure;
use crate::{Result, Tree};

impl Tree {
    pub fn lint(&self, request: &LintQuery, _: &By) -> Result<LintAnswer> {
        let check = || {
            let disk = self.shared_disk();
            let wal: Wal<State> = Wal::new(disk.clone(), OWN, self.environment().boot());
            match wal.preview() {
                Ok(preview) => {
                    // With a change that waits for space on the disk: it is no fault.
                    let (state, disk) = match preview {
                        Some(preview) => (preview.state, preview.disk),
                        None => (State::default(), disk),
                    };
                    let lint = Lint::new(disk.as_ref(), &state).run()?;
                    Ok((lint.findings, lint.seen.len() as u64, lint.events))
                }
                // Without it, nothing can be said about the files.
                Err(TreeError::Damaged { path, why, .. }) => Ok((vec![damaged(&path, why)], 0, 0)),
                Err(error) => Err(error),
            }
        };
        let (mut findings, tasks, events) = check().map_err(|error| failure(&error))?;
        if !findings.is_empty() {
            // A commit that was in progress looks like a fault. What is wrong is so a second time.
            let (again, ..) = check().map_err(|error| failure(&error))?;
            findings.retain(|finding| again.contains(finding));
        }
        let limit = request.limit.and_then(|limit| usize::try_from(limit).ok());
        let all = findings.len();
        findings.truncate(limit.unwrap_or(usize::MAX));
        let hidden = (all - findings.len()) as u64;
        Ok(LintAnswer { clean: all == 0, tasks, events, hidden, findings })
    }
}
