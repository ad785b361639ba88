//! A check-up: problems in the files of a governed repository. It changes nothing.

use std::collections::BTreeMap;

use accord_contract::text::counted;
use accord_contract::{Object, Value, wire_enum};
use accord_runs_core::coordinator::{barriers_path, coordinator_state_path};
use accord_runs_core::ledger::duplicates;
use accord_runs_core::{GovernedFile, MistypedMember, RepoPath, build};

use accord_trees::commit::{obstacle_of, obstacle_to};
use accord_trees::{TreeError, TreeFormat as _, atomic, journal, read_file};

use super::journal::writes;
use super::{RecordFile, Repository, RepositoryError, Result, layout, limits, lock};

wire_enum! {
    pub enum FindingKind("TreeFinding", closed) {
        /// The last line of a record was cut off; the next writer truncates it.
        TornLine = "torn_line",
        /// A line of a record cannot be parsed.
        DamagedLine = "damaged_line",
        /// Two decisions of one run have the same id.
        DuplicateDecision = "duplicate_decision",
        /// A journal is pending; the next writer finishes its commit.
        WaitingJournal = "waiting_journal",
        /// A journal cannot be read; nothing can be written until it is removed.
        DamagedJournal = "damaged_journal",
        /// A journal is pending and something is in its way; nothing can be written until that
        /// is removed.
        ObstructedJournal = "obstructed_journal",
        /// The process that held the lock has ended; the next writer takes it over.
        StaleLock = "stale_lock",
        LeftTemporary = "left_temporary",
        DamagedState = "damaged_state",
        Unreadable = "unreadable",
        /// A member of a state has another type than the declared one.
        MistypedState = "mistyped_state",
        /// A member of another document has another type than the declared one.
        MistypedRecord = "mistyped_record",
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    pub kind: FindingKind,
    pub path: String,
    /// The line number, from 1, if it is about a line.
    pub line: Option<u64>,
    /// The path of the member, joined by dots, if it is about one.
    pub field: Option<String>,
    pub detail: String,
}

impl Repository {
    /// Checks the state, records, journals, lock and temporary files.
    pub fn checkup(&self) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        if let Err(error) = self.state() {
            let kind = FindingKind::DamagedState;
            findings.push(finding(kind, layout::state(), None, error.to_string()));
        }
        self.check_documents(&mut findings)?;
        let mut runs = BTreeMap::new();
        let mut decisions = Vec::new();
        // The history comes before the ledger in this list, so `runs` is complete then.
        for record in RecordFile::ALL {
            self.check_record(record, &mut findings, |line| match record {
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
            let detail = format!("{id} occurs more than once among the decisions of one run");
            findings.push(finding(FindingKind::DuplicateDecision, path, None, detail));
        }
        for pending in self.pending_journals()? {
            if let Some((kind, detail)) = self.judge_journal(&pending.path) {
                findings.push(finding(kind, pending.path, None, detail));
            }
        }
        if let Some(holder) = self.lock_holder()?.filter(|holder| !holder.alive) {
            let detail = format!("process {} held it and has ended", holder.lock.owner_pid);
            let path = lock::file().path;
            findings.push(finding(FindingKind::StaleLock, path, None, detail));
        }
        for path in atomic::temporaries(self.disk(), &self.folders())? {
            let detail = "a process ended while it wrote it, or is still writing it".to_owned();
            findings.push(finding(FindingKind::LeftTemporary, path, None, detail));
        }
        Ok(findings)
    }

    /// Checks that the next writer can read a journal. Fails with `record_invalid` if it cannot.
    pub fn check_journal(&self, path: &str) -> Result<()> {
        let Some(journal) = journal::read(self.disk(), path)? else { return Ok(()) };
        match self.recovery(path, &journal) {
            Err(error @ RepositoryError::Tree(TreeError::Damaged { .. })) => Err(error),
            _ => Ok(()),
        }
    }

    /// What keeps a pending journal from being applied. `None` if there is no obstacle, if the
    /// journal is gone by now, or if it cannot be read.
    pub fn obstacle(&self, path: &str) -> Result<Option<RepositoryError>> {
        let Ok(Some(journal)) = journal::read(self.disk(), path) else { return Ok(None) };
        let Ok((_, recovery)) = self.recovery(path, &journal) else { return Ok(None) };
        let obstacle = obstacle_of(self.disk(), &writes(&recovery.writes))?;
        Ok(obstacle.map(|source| {
            let (journal, source) = (path.to_owned(), Box::new(source));
            TreeError::Unfinished { journal, source }.into()
        }))
    }

    /// The files among these that could not be written, each with the path of its obstacle. Fails
    /// with `path_outside_repository` if a path leads out of the repository.
    pub fn obstructed(&self, files: &[RepoPath]) -> Result<Vec<(String, String)>> {
        let mut obstructed = Vec::new();
        for file in files {
            if let Some(by) = obstacle_to(self.disk(), file.as_str())? {
                obstructed.push((file.to_string(), by));
            }
        }
        Ok(obstructed)
    }

    /// The finding about a journal; `None` if it is gone by now.
    fn judge_journal(&self, path: &str) -> Option<(FindingKind, String)> {
        let journal = match journal::read(self.disk(), path) {
            Ok(journal) => journal?,
            Err(error) => return Some((FindingKind::DamagedJournal, error.to_string())),
        };
        // A journal with an obstacle is valid, but the next writer cannot finish it.
        if let Ok(Some(error)) = self.obstacle(path) {
            return Some((FindingKind::ObstructedJournal, error.to_string()));
        }
        let (kind, detail) = match self.recovery(path, &journal) {
            Ok(_) => {
                let detail = "its commit has happened; the next command that writes finishes it";
                (FindingKind::WaitingJournal, detail.to_owned())
            }
            Err(RepositoryError::Tree(TreeError::Damaged { path: at, why, .. })) if at == path => {
                (FindingKind::DamagedJournal, why)
            }
            Err(error) => {
                let detail =
                    format!("its commit has happened, but cannot be finished yet: {error}");
                (FindingKind::WaitingJournal, detail)
            }
        };
        Some((kind, detail))
    }

    /// Checks the types in the documents that are not records. A document that is not JSON is
    /// reported where it is read.
    fn check_documents(&self, findings: &mut Vec<Finding>) -> Result<()> {
        for (path, file, kind) in [
            (layout::state(), GovernedFile::State, FindingKind::MistypedState),
            (layout::session(), GovernedFile::Session, FindingKind::MistypedRecord),
            (coordinator_state_path(), GovernedFile::CoordinatorState, FindingKind::MistypedState),
            (barriers_path(), GovernedFile::Barriers, FindingKind::MistypedState),
        ] {
            let bytes = read_file(self.disk(), &path, limits::DOCUMENT)?;
            let document = bytes.and_then(|bytes| accord_canon::read(&bytes).ok());
            let Some(document) = document else { continue };
            for member in file.mistyped_members(&document) {
                let about = finding(kind, path.clone(), None, member.to_string());
                findings.push(Finding { field: Some(member.field), ..about });
            }
        }
        Ok(())
    }

    fn check_record(
        &self,
        record: RecordFile,
        findings: &mut Vec<Finding>,
        mut add: impl FnMut(&Object),
    ) -> Result<()> {
        let path = record.path().to_string();
        let mut lines = match self.lines(record) {
            Ok(lines) => lines,
            Err(error) => {
                findings.push(finding(FindingKind::Unreadable, path, None, error.to_string()));
                return Ok(());
            }
        };
        let mut last = 0;
        let mut mistyped = MistypedLines::default();
        for line in &mut lines {
            match line {
                Ok(line) => {
                    last = line.number;
                    add(&line.object);
                    if let Some(file) = governed(record) {
                        mistyped.add(line.number, file.mistyped_members(&line.object.into()));
                    }
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
            let detail = "the line was cut off while it was written".to_owned();
            findings.push(finding(FindingKind::TornLine, path.clone(), Some(last + 1), detail));
        }
        findings.extend(mistyped.findings(&path));
        Ok(())
    }
}

/// The mistyped members of the lines of a record. The same mistake in many lines is one finding.
#[derive(Default)]
struct MistypedLines {
    /// The first line, how many lines follow it, and the member, by the place of the member.
    found: BTreeMap<String, (u64, usize, MistypedMember)>,
}

impl MistypedLines {
    fn add(&mut self, line: u64, members: Vec<MistypedMember>) {
        for member in members {
            let known = self.found.entry(member.field.clone());
            known.and_modify(|(_, more, _)| *more += 1).or_insert((line, 0, member));
        }
    }

    fn findings(self, path: &str) -> impl Iterator<Item = Finding> {
        let mut found: Vec<_> = self.found.into_values().collect();
        found.sort_by_key(|(line, ..)| *line);
        found.into_iter().map(move |(line, more, member)| {
            let mut detail = member.to_string();
            if more > 0 {
                detail += &format!("; the same in {}", counted(more as u64, "later line"));
            }
            let kind = FindingKind::MistypedRecord;
            let about = finding(kind, path.to_owned(), Some(line), detail);
            Finding { field: Some(member.field), ..about }
        })
    }
}

/// The declarations of the members of a record's lines, if there are any.
fn governed(record: RecordFile) -> Option<GovernedFile> {
    Some(match record {
        RecordFile::History => GovernedFile::History,
        RecordFile::Ledger | RecordFile::CoordinatorLedger => GovernedFile::Ledger,
        RecordFile::Events => GovernedFile::Events,
        RecordFile::RepoDecisions => GovernedFile::RepoDecisions,
        RecordFile::CoordinatorHistory => GovernedFile::CoordinatorHistory,
        RecordFile::RunHistory
        | RecordFile::HookAudit
        | RecordFile::HookAnnotations
        | RecordFile::BarrierLedger
        | RecordFile::CoordinatorHookAudit
        | RecordFile::CoordinatorHookAnnotations => return None,
    })
}

/// What identifies a decision. Other runners do not name the run; it is that of the turn.
fn about(line: &Object, runs: &BTreeMap<String, String>) -> Object {
    let run = text(line, "run_id").or_else(|| runs.get(&text(line, "turn_id")?).cloned());
    build([("id", line.get("id").cloned().unwrap_or(Value::Null)), ("run_id", run.into())])
}

fn text(line: &Object, name: &str) -> Option<String> {
    line.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn finding(kind: FindingKind, path: String, line: Option<u64>, detail: String) -> Finding {
    Finding { kind, path, line, field: None, detail }
}
