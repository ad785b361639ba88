//! The journals of a governed repository, in the reference's format.
//!
//! In addition to what other runners read, ours contain the length of each file that the commit
//! appends to, under `accord.lengths`.

use accord_contract::{Object, Value};
use accord_runs_core::accept::{self, Commit, CommitKind, Key, Recovery, recover};
use accord_runs_core::{Config, State, TransactionId, coordinator};
use accord_trees::commit::{Lengths, LineKey, Write};
use accord_trees::{TreeError, journal};

use super::{Repository, Result, layout};

const LENGTHS: &str = "lengths";

/// A journal that exists: its commit is being applied, or waits for the next writer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PendingJournal {
    pub path: String,
    /// The kind of its commit, as far as its folder tells.
    pub kind: CommitKind,
    pub transaction: TransactionId,
}

/// A journal of another process whose commit was finished.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReplayedJournal {
    pub kind: CommitKind,
    /// Whether the state already contained the commit.
    pub applied_before: bool,
    /// Whether another runner continued without it, or it was written while a worker ran, so that
    /// it was dropped.
    pub superseded: bool,
}

pub(super) fn path(commit: &Commit) -> String {
    let folder = layout::journals(commit.kind);
    format!("{folder}/{}.json", commit.transaction)
}

pub(super) fn document(commit: &Commit, lengths: &Lengths) -> Object {
    let mut document = commit.journal.clone();
    if let Some(Value::Object(own)) = document.get_mut("accord") {
        own.insert(LENGTHS.into(), journal::lengths_member(lengths));
    }
    document
}

/// The lengths in a journal; none in that of another runner.
pub(super) fn lengths(document: &Object) -> Lengths {
    journal::read_lengths(document.get("accord").and_then(|own| own.get(LENGTHS)))
}

pub(super) fn writes(writes: &[accept::Write]) -> Vec<Write> {
    let writes = writes.iter().cloned().map(|write| match write {
        accept::Write::Append { record, line } => {
            let key = match record.key() {
                Key::Member(name) => LineKey::Member(name),
                Key::Whole => LineKey::Whole,
            };
            Write::Append { path: record.path(), line, key }
        }
        accept::Write::Section { path, text } => Write::Section { path, text },
        accept::Write::Replace { path, text } => Write::Replace { path, text },
        accept::Write::Remove { path } => Write::Remove { path },
    });
    writes.collect()
}

impl Repository {
    pub fn pending_journals(&self) -> Result<Vec<PendingJournal>> {
        let mut pending = Vec::new();
        // `Coordinate` has the folder of `Change`.
        for kind in [CommitKind::Accept, CommitKind::Change] {
            for (path, stem) in journal::list(self.disk(), &layout::journals(kind))? {
                // Other files in the folder are not journals, and must not stop every writer.
                if let Some(transaction) = TransactionId::parse(&stem) {
                    pending.push(PendingJournal { path, kind, transaction });
                }
            }
        }
        Ok(pending)
    }

    /// What is left to do for a journal, given the states on disk. Fails with
    /// [`TreeError::Damaged`], with the journal's path, if it cannot be finished; or if a state
    /// cannot be read.
    pub(super) fn recovery(&self, path: &str, journal: &Object) -> Result<(CommitKind, Recovery)> {
        let kind = CommitKind::of_journal(journal)
            .ok_or_else(|| TreeError::damaged(path, "the kind of the journal is unknown"))?;
        let recovery = match kind {
            CommitKind::Coordinate => {
                coordinator::recover(journal, self.coordinator_state()?.as_ref())
            }
            CommitKind::Accept | CommitKind::Change => recover(journal, &self.state_or_idle()?),
        };
        let recovery = recovery.map_err(|failure| TreeError::damaged(path, failure.message))?;
        Ok((kind, recovery))
    }

    /// The state; an idle one before the first commit, which writes the first state.
    fn state_or_idle(&self) -> Result<State> {
        if let Some(state) = self.state()? {
            return Ok(state);
        }
        let config = self.config()?.as_object().cloned().unwrap_or_default();
        Ok(State::idle(&Config::lenient(config)))
    }
}
