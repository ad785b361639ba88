//! Verifies everything that is stored.
//!
//! It recomputes every hash, and checks every log, every chain of facts and the numbers of all
//! events. Rows are read in pages, each on its own snapshot, so that a long run blocks no writer. A
//! suspicious row is checked again on one snapshot before it is reported.
//!
//! Derived data is compared with its source: columns with documents; counts, questions and the
//! search index with packages.
//!
//! A damaged package is quarantined, except when its row cannot be read, because such a row is
//! never served. A quarantined package that is sound again is released. Other damage is noted, and
//! the notes of damage that is gone are removed. Nothing else is written.

mod blobs;
mod facts;
mod packages;
mod rows;

use std::collections::{BTreeMap, BTreeSet};

use accord_base::{Access, Caller, ProjectId, Verb};
use accord_contract::Failure;
use accord_memory_core::damage::{DERIVED, NOTES, is_derived, note_name};
use accord_memory_core::operations::{Problem, Suspect, VerifyReport};
use accord_memory_core::project;
use accord_store::{
    DamagedRow, DecisionQuery, Order, ReadUnit, Scope, SessionQuery, StoreExt as _, Table,
};

use super::cancel::{CancelOnDrop, CancelToken};
use super::damage::{self, Found, suspect_in};
use super::load::integrity;
use super::record::recorded;
use super::unit::blocking;
use super::{Memory, UnitError, UnitResult, load};

/// How many rows are read at once.
const PAGE: usize = 200;

#[derive(Clone, Debug, Default)]
pub struct Verify {
    /// The project; everything that the caller administers if absent.
    pub project: Option<ProjectId>,
    /// Whether packages are quarantined and released, and other damage is noted. If not, nothing is
    /// written.
    pub quarantine: bool,
}

/// What is reported during a run.
#[derive(Clone, Debug)]
pub enum VerifyStep {
    /// How many rows and files were checked.
    Progress {
        /// Rows and files that were checked.
        done: u64,
        /// The expected number of rows and files; there may be more.
        total: u64,
    },
    Problem(Problem),
}

impl Memory {
    /// Verifies a project or everything. `tell` gets the progress. Dropping the future ends it.
    pub async fn verify(
        &self,
        caller: &Caller,
        asked: Verify,
        tell: impl FnMut(VerifyStep) + Send + 'static,
    ) -> Result<VerifyReport, Failure> {
        let access = caller.access().clone();
        load::may_in(&access, Verb::Admin, asked.project.as_ref())?;
        let (guard, cancelled) = CancelOnDrop::new();
        let verification = Verification {
            memory: self.clone(),
            met: BTreeSet::new(),
            quarantine: asked.quarantine,
            found: Found::new(),
            report: VerifyReport::default(),
            total: 0,
            tell: Box::new(tell),
            cancelled,
        };
        let done = blocking(move || verification.run(asked.project, &access)).await;
        drop(guard);
        done.map_err(UnitError::into_failure)
    }
}

/// The advice for a row that cannot be rebuilt.
const RESTORE: &str = "restore it from a backup";
const MEND: &str = "run accord store repair, which rebuilds the row when its text and its log \
    are sound; otherwise restore it from a backup";
/// The advice for derived data.
const REBUILD: &str = "run accord store repair, which rebuilds it";
const SEND_AGAIN: &str = "store the blob again";

struct Verification {
    memory: Memory,
    met: BTreeSet<DamagedRow>,
    quarantine: bool,
    /// The damage of each project that is noted.
    found: Found,
    report: VerifyReport,
    total: u64,
    tell: Box<dyn FnMut(VerifyStep) + Send>,
    cancelled: CancelToken,
}

impl Verification {
    fn run(mut self, only: Option<ProjectId>, access: &Access) -> UnitResult<VerifyReport> {
        let everything = only.is_none() && access.projects().is_none();
        let projects = match only {
            Some(project) => vec![project],
            // A project without an id is reported to callers that administer all projects.
            None if everything => self.noting(|unit| Ok(unit.project_ids()?))?,
            None => self.read(|unit| {
                let mut found = unit.project_ids()?;
                found.retain(|project| access.covers(project));
                Ok(found)
            })?,
        };
        for project in &projects {
            self.total += self.read(|unit| known_of(unit, project))?;
        }
        for project in &projects {
            self.found.entry(project.clone()).or_default();
            let before = self.report.problem_count;
            self.project(project)?;
            self.sessions(project)?;
            self.decisions(project)?;
            self.packages(project)?;
            self.facts(project)?;
            self.events(project)?;
            // Projects share the files of blobs. A run over everything reads each file once, below.
            self.blobs_of(project, !everything)?;
            let is_sound = self.report.problem_count == before;
            self.derived(Some(project), is_sound)?;
        }
        if everything {
            self.derived(None, true)?;
            self.blob_files()?;
        }
        self.write_notes()?;
        Ok(self.report)
    }

    /// Notes what was found, unless the run did not come to its end.
    fn write_notes(&mut self) -> UnitResult<()> {
        if !self.quarantine || self.cancelled.is_cancelled() {
            return Ok(());
        }
        let (found, now) = (std::mem::take(&mut self.found), self.memory.now());
        // A sound store is not written.
        let is_noted = self.read(|unit| {
            let mut all = found.keys().map(|project| Ok(unit.settings(Scope::Project(project))?));
            all.try_fold(false, |is_noted, settings: UnitResult<Vec<(String, String)>>| {
                let mut names = settings?.into_iter().map(|(name, _)| name);
                Ok(is_noted || names.any(|name| name.starts_with(NOTES)))
            })
        })?;
        if !is_noted && found.values().all(BTreeMap::is_empty) {
            return Ok(());
        }
        self.memory.store().write(move |unit| damage::renew(unit, &found, now))
    }

    /// Has a problem noted in the projects that it is about.
    fn note(&mut self, suspect: Suspect, project: &ProjectId, id: &str, failure: &Failure) {
        if let Some(found) = self.found.get_mut(project) {
            found.insert(note_name(suspect, id), failure.message.clone());
        }
    }

    fn read<T>(&self, job: impl FnMut(&dyn ReadUnit) -> UnitResult<T>) -> UnitResult<T> {
        self.memory.store().read(job)
    }

    /// Reads, and reports the damaged rows that were met, each once.
    fn noting<T>(&mut self, mut job: impl FnMut(&dyn ReadUnit) -> UnitResult<T>) -> UnitResult<T> {
        let (outcome, met) = self.read(|unit| Ok((job(unit)?, unit.damage())))?;
        met.into_iter().for_each(|row| self.damaged_row(row));
        Ok(outcome)
    }

    fn damaged_row(&mut self, row: DamagedRow) {
        if self.met.contains(&row) {
            return;
        }
        use Table::{Blob, Counter, Embedding, Inbox, Link, Package, Question, Search, Tally};
        let advice = match row.table {
            Tally | Question | Link | Search | Embedding | Counter | Inbox => REBUILD,
            Blob => SEND_AGAIN,
            Package => MEND,
            _ => RESTORE,
        };
        let failure = integrity(&row.what);
        let (suspect, project) = (suspect_in(row.table), row.project_id.as_ref());
        let failure = advised(&failure, advice);
        self.problem(suspect, project, &row.id, &failure);
        // An item of the inbox needs none of its own. What a repair makes again needs one note.
        if let Some(project) = project.filter(|_| row.table != Inbox) {
            let id = if is_derived(suspect) { DERIVED } else { &row.id };
            self.note(suspect, project, id, &failure);
        }
        self.met.insert(row);
    }

    /// Reports and notes a problem, with what to do about it.
    fn advise(
        &mut self,
        suspect: Suspect,
        project: &ProjectId,
        id: &str,
        failure: &Failure,
        advice: &str,
    ) {
        let failure = advised(failure, advice);
        self.problem(suspect, Some(project), id, &failure);
        self.note(suspect, project, id, &failure);
    }

    /// An item of the inbox follows its source: it is compared only where all sources are sound.
    fn derived(&mut self, project: Option<&ProjectId>, is_sound: bool) -> UnitResult<()> {
        if !self.goes_on() {
            return Ok(());
        }
        for row in self.read(|unit| Ok(unit.check_derived(project)?))? {
            if is_sound || row.table != Table::Inbox {
                self.damaged_row(row);
            }
        }
        Ok(())
    }

    /// Reports the progress. Returns whether the run goes on.
    fn goes_on(&mut self) -> bool {
        let done = self.report.looked_at();
        // There may be more than was counted at the start, and progress must not exceed its total.
        let total = self.total.max(done);
        (self.tell)(VerifyStep::Progress { done, total });
        !self.cancelled.is_cancelled()
    }

    fn problem(&mut self, kind: Suspect, project: Option<&ProjectId>, id: &str, failure: &Failure) {
        let problem = Problem::new(kind, project, id, failure);
        self.report.add(problem.clone());
        (self.tell)(VerifyStep::Problem(problem));
    }

    fn project(&mut self, id: &ProjectId) -> UnitResult<()> {
        let row = self.noting(|unit| match unit.project(id) {
            Err(error) if error.damaged().is_some() => Ok(None),
            Ok(None) => Err(project::not_found(id).into()),
            found => Ok(found?),
        })?;
        self.report.projects += 1;
        if let Some(Err(failure)) = row.map(|row| load::project_of(&row)) {
            self.advise(Suspect::Project, id, id.as_str(), &failure, RESTORE);
        }
        Ok(())
    }

    fn sessions(&mut self, project: &ProjectId) -> UnitResult<()> {
        let mut query =
            SessionQuery { order: Order::OldestFirst, limit: PAGE, ..SessionQuery::default() };
        while self.goes_on() {
            let page = self.noting(|unit| Ok(unit.sessions(project, &query)?))?;
            let Some(last) = page.last() else { break };
            query.after = Some(last.position());
            for row in &page {
                self.report.sessions += 1;
                if let Err(failure) = load::session_of(row) {
                    let id = row.session_id.as_str();
                    self.advise(Suspect::Session, project, id, &failure, RESTORE);
                }
            }
        }
        Ok(())
    }

    fn decisions(&mut self, project: &ProjectId) -> UnitResult<()> {
        let mut query = DecisionQuery { limit: PAGE, ..DecisionQuery::default() };
        while self.goes_on() {
            let page = self.noting(|unit| Ok(unit.decisions(project, &query)?))?;
            let Some(last) = page.last() else { break };
            query.after = Some(last.position());
            for row in &page {
                if let Err(failure) = load::decision_of(row) {
                    let id = row.decision_id.as_str();
                    self.advise(Suspect::Decision, project, id, &failure, RESTORE);
                }
            }
            let checked = self.report.decisions.get_or_insert_default();
            *checked += page.len() as u64;
        }
        Ok(())
    }

    fn events(&mut self, project: &ProjectId) -> UnitResult<()> {
        let mut seen = 0;
        while self.goes_on() {
            let (page, kept, unreadable) = self.noting(|unit| {
                let page = unit.events(project, seen, PAGE)?;
                let unreadable = load::unreadable(unit, Table::Event);
                Ok((page, unit.event_range(project)?, unreadable))
            })?;
            // A trimmed event is not missing, and an unreadable one exists.
            seen = seen.max(kept.oldest.saturating_sub(1));
            let there: BTreeSet<u64> = unreadable.iter().filter_map(|id| id.parse().ok()).collect();
            self.report.events += there.len() as u64;
            let missing = |seen: u64, next: u64| (seen + 1..next).find(|seq| !there.contains(seq));
            if page.is_empty() {
                if missing(seen, kept.newest + 1).is_some() {
                    let failure = integrity(format!("the events after {seen} are missing"));
                    let id = seen.to_string();
                    self.advise(Suspect::Event, project, &id, &failure, RESTORE);
                }
                break;
            }
            for row in page {
                let number = row.seq;
                self.report.events += 1;
                let failure = match recorded(project, row) {
                    Err(failure) => Some(failure),
                    Ok(_) if missing(seen, number).is_some() => {
                        Some(integrity(format!("there is no event between {seen} and {number}")))
                    }
                    Ok(_) => None,
                };
                if let Some(failure) = failure {
                    let id = number.to_string();
                    self.advise(Suspect::Event, project, &id, &failure, RESTORE);
                }
                seen = number;
            }
        }
        Ok(())
    }
}

fn known_of(unit: &dyn ReadUnit, project: &ProjectId) -> UnitResult<u64> {
    let packages: u64 = unit.tallies(project, None)?.iter().map(|tally| tally.packages).sum();
    let kept = unit.event_range(project)?;
    Ok(packages + (kept.newest + 1).saturating_sub(kept.oldest))
}

/// A failure that says what to do about it.
fn advised(failure: &Failure, advice: &str) -> Failure {
    let mut failure = failure.clone();
    failure.message = format!("{}; {advice}", failure.message);
    failure
}
