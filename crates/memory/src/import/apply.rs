//! The part of an import that runs within a transaction: merges each line with the stored rows.
//!
//! A refused line has written nothing, so that the other lines of its batch can be kept.

use accord_base::ProjectId;
use accord_contract::{Code, Failure, Time, Timestamp, Wire as _};
use accord_memory_core::event::{self, SESSION_ENDED, SESSION_STARTED};
use accord_memory_core::export::{
    MergedPackage, MergedSession, Rejected, merge_package, merge_session,
};
use accord_memory_core::fact::{self, ImportState, Imported};
use accord_memory_core::project::{ProjectUpdate, create};
use accord_memory_core::{Fact, Project, Session};
use accord_store::{FactKey, Quarantine, ReadUnit, WriteUnit};

use super::read::{ImportedPackage, Item, LinePosition};
use crate::record::{create_project, record};
use crate::{Memory, UnitResult, load};

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Applied {
    Added,
    /// Its document existed in an earlier state, and was updated.
    Advanced,
    Unchanged,
    Refused(Failure),
}

/// The project that an import creates if it does not exist.
#[derive(Clone, Debug)]
pub(super) struct Creation {
    /// The project, not archived.
    pub(super) project: Project,
    /// The number of its line; `None` if no line describes it.
    pub(super) line: Option<u64>,
    /// When it was archived. It is archived again after the last line.
    pub(super) archived_at: Option<Timestamp>,
}

/// Lines that are written in one transaction.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) project: ProjectId,
    /// The project to create; `None` if it exists.
    pub(super) creation: Option<Creation>,
    /// The event of the project's last removal when the import began.
    pub(super) removal: Option<u64>,
    pub(super) lines: Vec<(LinePosition, Item)>,
}

impl Batch {
    /// Writes the lines. Returns the result of each.
    pub(super) fn apply(
        &self,
        memory: &Memory,
        unit: &mut dyn WriteUnit,
    ) -> UnitResult<Vec<Applied>> {
        refuse_removed(unit, &self.project, self.removal)?;
        let now = memory.now_in(unit, &self.project)?;
        let known = load::known_project(unit, &self.project)?;
        let mut job = Job { unit, known, creation: self.creation.as_ref(), now };
        let mut outcomes = Vec::with_capacity(self.lines.len());
        for (place, item) in &self.lines {
            outcomes.push(match job.line(place.number, item) {
                Ok(outcome) => outcome,
                // A refusal concerns its line. A failure of the store concerns the batch, which is
                // rolled back.
                Err(crate::UnitError::Refused(failure)) => Applied::Refused(failure),
                Err(stop) => return Err(stop),
            });
        }
        Ok(outcomes)
    }
}

struct Job<'a> {
    unit: &'a mut dyn WriteUnit,
    known: Option<Project>,
    creation: Option<&'a Creation>,
    now: Time,
}

impl Job<'_> {
    fn line(&mut self, number: u64, item: &Item) -> UnitResult<Applied> {
        match item {
            Item::Project(project) => self.project(number, project),
            Item::Session(session) => self.session(session),
            Item::Package(line) => self.package(line),
            Item::Fact(fact) => self.fact(fact),
        }
    }

    /// Creates the project if needed, and checks that it accepts writes.
    fn admit(&mut self) -> UnitResult<()> {
        if let Some(known) = &self.known {
            return Ok(known.must_take_writes()?);
        }
        // `find_creation` saw no project, so it made a creation. A batch without one has found the
        // project, and `refuse_removed` says that it was not removed since.
        let creation = self.creation.expect("a missing project is created");
        create_project(self.unit, Some(&creation.project), self.now)?;
        self.known = Some(creation.project.clone());
        Ok(())
    }

    fn project(&mut self, number: u64, project: &Project) -> UnitResult<Applied> {
        let own = self.creation.filter(|creation| creation.line == Some(number));
        let known = self.known.clone();
        let Some(known) = known.filter(|known| own.is_none_or(|own| own.project != *known)) else {
            self.admit()?;
            return Ok(Applied::Added);
        };
        if create(project, Some(&known)).is_ok_and(|outcome| outcome == ProjectUpdate::Unchanged) {
            return Ok(Applied::Unchanged);
        }
        // An earlier write may have created the project with only its id. The line then describes
        // it.
        if !is_bare(&known) {
            let id = known.project_id.as_str();
            let message =
                format!("the project {id:?} has another name, description or members; it is kept");
            return Err(Failure::new(Code::AgenticDuplicateProjectId, message).into());
        }
        self.admit()?;
        let mut renamed = project.clone();
        renamed.created_at = known.created_at;
        renamed.archived_at = known.archived_at;
        self.unit.update_project(&load::row_of_project(&renamed))?;
        record(self.unit, &event::about_project(event::PROJECT_UPDATED, &renamed, self.now))?;
        self.known = Some(renamed);
        Ok(Applied::Advanced)
    }

    fn session(&mut self, session: &Session) -> UnitResult<Applied> {
        let row = self.unit.session(&session.project_id, &session.session_id)?;
        let known = row.as_ref().map(load::session_of).transpose()?;
        match merge_session(session, known.as_ref())? {
            MergedSession::Unchanged => Ok(Applied::Unchanged),
            MergedSession::Added => {
                self.admit()?;
                self.unit.insert_session(&load::row_of_session(session))?;
                record(self.unit, &event::about_session(SESSION_STARTED, session, self.now))?;
                if session.ended_at.is_some() {
                    record(self.unit, &event::about_session(SESSION_ENDED, session, self.now))?;
                }
                Ok(Applied::Added)
            }
            MergedSession::Ended(end) => {
                self.admit()?;
                let mut ended = known.unwrap_or_else(|| session.clone());
                ended.ended_at = Some(end.clone());
                let text = ended.encode().to_string();
                let (project, id) = (&session.project_id, &session.session_id);
                self.unit.end_session(project, id, &end, &text)?;
                record(self.unit, &event::about_session(SESSION_ENDED, &ended, self.now))?;
                Ok(Applied::Advanced)
            }
        }
    }

    fn package(&mut self, line: &ImportedPackage) -> UnitResult<Applied> {
        let ImportedPackage { package, log, rejected, index } = line;
        let (project, id) = (package.project_id(), package.package_id());
        let known = match self.unit.package(project, id)? {
            // It is in its current state, so the log is not needed.
            Some(row) if row.state.content_hash == *package.content_hash() => {
                return Ok(Applied::Unchanged);
            }
            Some(_) => {
                let rows = self.unit.revisions(project, id)?;
                let known = rows.iter().map(|row| load::revision_of(id, row));
                Some(known.collect::<Result<Vec<_>, _>>()?)
            }
            None => None,
        };
        let last = log.last().map_or((1, false), |last| (last.seq, last.note.is_some()));
        // Each refusal must come before the first write of its line.
        match merge_package(package, log, known.as_deref())? {
            MergedPackage::Unchanged => Ok(Applied::Unchanged),
            MergedPackage::Added => {
                self.admit()?;
                let first = log.first().map_or(*package.content_hash(), |first| first.content_hash);
                let row = load::row_of_package(package, first, last, self.now);
                let log: Vec<_> = log.iter().map(load::row_of_revision).collect();
                self.unit.insert_package(&row, index, &log)?;
                if let Some(Rejected { at, work }) = rejected {
                    let aside = Quarantine::rejected(at.clone(), work);
                    self.unit.quarantine_package(project, id, Some(&aside))?;
                }
                record(self.unit, &event::deposited(package, self.now))?;
                Ok(Applied::Added)
            }
            MergedPackage::Advanced(entries) => {
                self.admit()?;
                let rows: Vec<_> = entries.iter().map(load::row_of_revision).collect();
                let state = load::state_of(package, last.0, last.1);
                self.unit.move_package(project, id, &state, &rows)?;
                for entry in &entries {
                    record(self.unit, &event::transitioned(package, entry, self.now))?;
                }
                Ok(Applied::Advanced)
            }
        }
    }

    fn fact(&mut self, fact: &Fact) -> UnitResult<Applied> {
        let project = &fact.project_id;
        let key = FactKey { subject: &fact.subject, predicate: &fact.predicate };
        let read = |row: Option<accord_store::FactRow>| row.as_ref().map(load::fact_of).transpose();
        let same_id = read(self.unit.fact(project, &fact.fact_id)?)?;
        let beside = (self.unit).fact_neighbours(project, key, fact.valid_from.time())?;
        let (before, after) = (read(beside.before)?, read(beside.after)?);
        let (same_id, before, after) = (same_id.as_ref(), before.as_ref(), after.as_ref());
        let state = ImportState { same_id, before, after };
        match fact::import(fact, &state)? {
            Imported::Unchanged => Ok(Applied::Unchanged),
            Imported::Added => {
                self.admit()?;
                self.unit.insert_fact(&load::row_of_fact(fact))?;
                record(self.unit, &event::asserted(fact, None, self.now))?;
                Ok(Applied::Added)
            }
            Imported::Ended { fact_id, valid_to } => {
                self.admit()?;
                let text = fact.encode().to_string();
                self.unit.end_fact(project, &fact_id, &valid_to, &text)?;
                record(self.unit, &event::invalidated(fact, None, self.now))?;
                Ok(Applied::Advanced)
            }
        }
    }
}

/// Refuses to continue when the project was removed after the import began: the lines that were
/// written before are gone, so the summary would be wrong.
pub(super) fn refuse_removed(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    at_first: Option<u64>,
) -> UnitResult<()> {
    let removal = unit.removal(project)?.map(|removal| removal.event);
    if removal == at_first {
        return Ok(());
    }
    let id = project.as_str();
    let message = format!("the project {id:?} was removed while the import ran; import it again");
    Err(Failure::new(Code::AgenticProjectNotFound, message).into())
}

/// Whether only the id of a project is known, as after its creation by a first write.
fn is_bare(project: &Project) -> bool {
    let bare = Project::bare(project.project_id.clone(), project.created_at.time());
    project.name == bare.name && project.description.is_empty() && project.extra.is_empty()
}
