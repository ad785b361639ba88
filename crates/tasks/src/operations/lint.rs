//! Whether the files of a tree are what they should be. It takes no lock and writes nothing.

use std::collections::BTreeMap;

use accord_base::By;
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::{LintAnswer, LintQuery};
use accord_trees::wal::Wal;
use accord_trees::{Disk, TreeError};

use crate::committed::State;
use crate::layout::OWN;
use crate::lint::{Lint, damaged};
use crate::referee::waiting::Waiting;
use crate::scan::scan;
use crate::tree::failure;
use crate::work::Work;
use crate::writers::is_in_git;
use crate::{Result, Tree};

impl Tree {
    /// The moves that wait for a person, as an operation would judge them. None in a tree that no
    /// operation can read: lint says why.
    fn waiting_moves(&self, disk: &dyn Disk, state: &State) -> BTreeMap<TaskId, Waiting> {
        let settings = self.settings();
        let is_in_git = is_in_git(disk.root_path());
        let scanned = scan(disk, settings.layout(), state, is_in_git, || None).ok();
        let Some(mut index) = scanned.filter(|_| state.is_begun()) else { return BTreeMap::new() };
        let now = self.environment().now();
        Work::new(disk, state, &mut index, settings, now).settle_tasks();
        index.waiting
    }

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
                    let waiting = self.waiting_moves(disk.as_ref(), &state);
                    let lint = Lint::new(disk.as_ref(), &state).with_waiting(&waiting).run()?;
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
