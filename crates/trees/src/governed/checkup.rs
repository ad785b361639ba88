//! A check-up: what is odd in the files of a governed repository. It changes nothing.

use std::collections::BTreeMap;

use accord_contract::wire::{Object, Value};
use accord_contract::wire_enum;
use accord_runs_core::ledger::duplicates;

use super::{RecordFile, Repository, held, journal};
use crate::{Result, TreeError, lock};

wire_enum! {
    /// What is odd.
    pub enum FindingKind("TreeFinding", closed) {
        /// The last line of a record was cut off; the next writer cuts it away.
        TornLine = "torn_line",
        /// A line of a record says nothing sound.
        DamagedLine = "damaged_line",
        /// Two decisions of one run have the same id.
        DuplicateDecision = "duplicate_decision",
        /// A journal waits for the next writer, who finishes its commit.
        WaitingJournal = "waiting_journal",
        /// A journal cannot be read; until it is removed, nothing is written.
        DamagedJournal = "damaged_journal",
        /// A journal waits, and something is in its way; until that is removed, nothing is
        /// written.
        ObstructedJournal = "obstructed_journal",
        /// The holder of the lock is gone; the next writer takes it over.
        StaleLock = "stale_lock",
        /// A temporary file was left.
        LeftTemporary = "left_temporary",
        /// The state cannot be read.
        DamagedState = "damaged_state",
        /// A file cannot be read at all.
        Unreadable = "unreadable",
    }
}

/// One thing that is odd.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The file.
    pub path: String,
    /// The line, from 1, where it is about one.
    pub line: Option<u64>,
    /// What it is, for people.
    pub detail: String,
}

impl Repository {
    /// Looks at every file of the run's own.
    ///
    /// # Errors
    /// When the repository itself cannot be looked at.
    pub fn checkup(&self) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        if let Err(error) = self.state() {
            let kind = FindingKind::DamagedState;
            findings.push(finding(
                kind,
                super::files::state(),
                None,
                error.to_string(),
            ));
        }
        let mut runs = BTreeMap::new();
        let mut decisions = Vec::new();
        for record in RecordFile::ALL {
            self.look_at(record, &mut findings, |line| match record {
                RecordFile::History => {
                    if let Some((turn, run)) = text(line, "turn_id").zip(text(line, "run_id")) {
                        runs.insert(turn, run);
                    }
                }
                RecordFile::Ledger => decisions.push(about(line, &runs)),
                _ => {}
            })?;
        }
        for id in duplicates(&decisions) {
            let path = RecordFile::Ledger.path().to_string();
            let detail = format!("{id} stands more than once among the decisions of one run");
            findings.push(finding(FindingKind::DuplicateDecision, path, None, detail));
        }
        for waiting in self.waiting()? {
            let Some((kind, detail)) = self.look_at_journal(&waiting.path) else {
                continue;
            };
            findings.push(finding(kind, waiting.path, None, detail));
        }
        if let Some(holder) = self.holder()?.filter(|holder| !holder.alive) {
            let detail = format!("process {} held it and is gone", holder.lock.owner_pid);
            findings.push(finding(FindingKind::StaleLock, lock::path(), None, detail));
        }
        for path in held::temporaries(self)? {
            let detail = "a process ended while it wrote, or still does".to_owned();
            findings.push(finding(FindingKind::LeftTemporary, path, None, detail));
        }
        Ok(findings)
    }

    /// Whether the commit of a journal can be finished by the next writer, as far as the journal
    /// goes.
    ///
    /// # Errors
    /// With `record_invalid` when the journal cannot be read.
    pub fn check_journal(&self, path: &str) -> Result<()> {
        let Some(journal) = journal::read(self.disk(), path)? else {
            return Ok(());
        };
        match journal::recovery(self, path, &journal) {
            Err(error @ TreeError::Damaged { .. }) => Err(error),
            _ => Ok(()),
        }
    }

    /// What is to be said about a journal, by the reader that finishes commits; `None` where it
    /// is gone by now.
    fn look_at_journal(&self, path: &str) -> Option<(FindingKind, String)> {
        let journal = match journal::read(self.disk(), path) {
            Ok(journal) => journal?,
            Err(error) => return Some((FindingKind::DamagedJournal, error.to_string())),
        };
        if let Ok(Some(error)) = self.obstacle(path) {
            return Some((FindingKind::ObstructedJournal, error.to_string()));
        }
        Some(match journal::recovery(self, path, &journal) {
            Ok(_) => (
                FindingKind::WaitingJournal,
                "its commit has happened, and the next command that writes finishes it".to_owned(),
            ),
            Err(TreeError::Damaged { path: at, why, .. }) if at == path => {
                (FindingKind::DamagedJournal, why)
            }
            Err(error) => (
                FindingKind::WaitingJournal,
                format!("its commit has happened and cannot be finished yet: {error}"),
            ),
        })
    }

    fn look_at(
        &self,
        record: RecordFile,
        findings: &mut Vec<Finding>,
        mut add: impl FnMut(&Object),
    ) -> Result<()> {
        let path = record.path().to_string();
        let mut lines = match self.lines(record) {
            Ok(lines) => lines,
            Err(error) => {
                findings.push(finding(
                    FindingKind::Unreadable,
                    path,
                    None,
                    error.to_string(),
                ));
                return Ok(());
            }
        };
        let mut last = 0;
        for line in &mut lines {
            match line {
                Ok(line) => {
                    last = line.number;
                    add(&line.object);
                }
                Err(TreeError::Damaged { line, why, .. }) => {
                    last = line.unwrap_or(last);
                    findings.push(finding(FindingKind::DamagedLine, path.clone(), line, why));
                }
                Err(error) => {
                    let detail = error.to_string();
                    findings.push(finding(FindingKind::Unreadable, path.clone(), None, detail));
                }
            }
        }
        if lines.is_torn() {
            let detail = "it was cut off while it was written".to_owned();
            findings.push(finding(FindingKind::TornLine, path, Some(last + 1), detail));
        }
        Ok(())
    }
}

/// What tells a decision from another; other runners leave the run to be known by the turn.
fn about(line: &Object, runs: &BTreeMap<String, String>) -> Object {
    let run = text(line, "run_id").or_else(|| runs.get(&text(line, "turn_id")?).cloned());
    let mut about = Object::new();
    about.insert("id".into(), line.get("id").cloned().unwrap_or(Value::Null));
    about.insert("run_id".into(), run.into());
    about
}

fn text(line: &Object, name: &str) -> Option<String> {
    line.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn finding(kind: FindingKind, path: String, line: Option<u64>, detail: String) -> Finding {
    Finding {
        kind,
        path,
        line,
        detail,
    }
}
