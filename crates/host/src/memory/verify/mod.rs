//! Looking through everything that is kept, for what is no longer as it was.
//!
//! Every hash is computed again, every log and chain is followed, every number is looked for. Rows are read in
//! pages, each on a snapshot of its own, so that a long look keeps nobody waiting; what seems wrong is
//! looked at again, whole and on one snapshot, before it is called so.
//!
//! A package that is damaged is quarantined; one that was and is sound again is let out. Nothing else is
//! written.

mod blobs;
mod facts;
mod report;
mod rows;

use accord_context::{ProjectId, Timestamp, Verb, project};
use accord_contract::codes::Failure;
use accord_store::{
    Order, PackageQuery, PackageRow, Quarantine, Quarantined, ReadUnit, SessionQuery, StoreError,
    StoreExt as _, Trouble,
};
use tokio::task::spawn_blocking;

use self::report::wrong;
use super::patron::{Patron, Patronage};
use super::record::recorded;
use super::walk::all_projects;
use super::{Memory, Stop, Work};
use crate::Caller;

pub use self::report::{Problem, Suspect, VerifyReport};

/// How many rows are read at once.
const PAGE: usize = 200;

/// What is to be looked at.
#[derive(Clone, Debug, Default)]
pub struct Verify {
    /// One project alone; everything that the caller administers where none is named.
    pub project: Option<ProjectId>,
    /// Packages are quarantined or let out; otherwise nothing is written.
    pub quarantine: bool,
}

/// What is told while it goes on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum VerifyStep {
    /// So many rows and files were looked at, of so many that are known of.
    Progress {
        /// What was looked at.
        done: u64,
        /// What is known to be there; it may turn out to be more.
        total: u64,
    },
    /// Something is wrong.
    Problem(Problem),
}

impl Memory {
    /// Looks through a project or through everything. `tell` hears how it goes. The look ends when the
    /// future is dropped.
    ///
    /// # Errors
    /// With `unauthorized` or `project_not_found`, and when the store fails.
    pub async fn verify(
        &self,
        caller: &Caller,
        asked: Verify,
        tell: impl FnMut(VerifyStep) + Send + 'static,
    ) -> Result<VerifyReport, Failure> {
        let access = caller.access().clone();
        match &asked.project {
            Some(project) => access.may(Verb::Admin, project)?,
            None => access.may_anywhere(Verb::Admin)?,
        }
        let (patron, patronage) = Patron::new();
        let look = Look {
            memory: self.clone(),
            quarantine: asked.quarantine,
            report: VerifyReport::new(),
            total: 0,
            tell: Box::new(tell),
            patronage,
        };
        let done = spawn_blocking(move || look.run(asked.project, &access)).await;
        patron.served();
        let done = done.unwrap_or_else(|error| {
            Err(StoreError::new(Trouble::Broken, error.to_string()).into())
        });
        done.map_err(Stop::into_failure)
    }
}

struct Look {
    memory: Memory,
    quarantine: bool,
    report: VerifyReport,
    total: u64,
    tell: Box<dyn FnMut(VerifyStep) + Send>,
    patronage: Patronage,
}

impl Look {
    fn run(
        mut self,
        only: Option<ProjectId>,
        access: &accord_context::Access,
    ) -> Work<VerifyReport> {
        let everything = only.is_none() && access.projects().is_none();
        let projects = match only {
            Some(project) => vec![project],
            None => self.read(|unit| {
                let mut found = all_projects(unit)?;
                found.retain(|project| access.covers(project));
                Ok(found)
            })?,
        };
        for project in &projects {
            self.total += self.read(|unit| known_of(unit, project))?;
        }
        for project in &projects {
            self.project(project)?;
            self.sessions(project)?;
            self.packages(project)?;
            self.facts(project)?;
            self.events(project)?;
            self.blobs_of(project, !everything)?;
        }
        if everything {
            self.blob_files()?;
        }
        Ok(self.report)
    }

    fn read<T>(&self, job: impl FnMut(&dyn ReadUnit) -> Work<T>) -> Work<T> {
        self.memory.store().read(job)
    }

    /// Says how far it is; says whether somebody still waits for it.
    fn goes_on(&mut self) -> bool {
        let done = self.report.looked_at();
        let total = self.total.max(done);
        (self.tell)(VerifyStep::Progress { done, total });
        !self.patronage.is_gone()
    }

    fn problem(
        &mut self,
        suspect: Suspect,
        project: Option<&ProjectId>,
        id: &str,
        failure: &Failure,
    ) {
        let problem = Problem::new(suspect, project, id, failure);
        self.report.add(problem.clone());
        (self.tell)(VerifyStep::Problem(problem));
    }

    fn project(&mut self, id: &ProjectId) -> Work<()> {
        let row = self.read(|unit| Ok(unit.project(id)?))?;
        let row = row.ok_or_else(|| project::not_found(id))?;
        self.report.projects += 1;
        if let Err(failure) = rows::project(&row) {
            self.problem(Suspect::Project, Some(id), id.as_str(), &failure);
        }
        Ok(())
    }

    fn sessions(&mut self, project: &ProjectId) -> Work<()> {
        let mut query = SessionQuery {
            order: Order::OldestFirst,
            limit: PAGE,
            ..SessionQuery::default()
        };
        while self.goes_on() {
            let page = self.read(|unit| Ok(unit.sessions(project, &query)?))?;
            let Some(last) = page.last() else {
                break;
            };
            query.after = Some(last.position());
            for row in &page {
                self.report.sessions += 1;
                if let Err(failure) = rows::session(row) {
                    let id = row.session_id.as_str();
                    self.problem(Suspect::Session, Some(project), id, &failure);
                }
            }
        }
        Ok(())
    }

    fn packages(&mut self, project: &ProjectId) -> Work<()> {
        let mut query = PackageQuery {
            quarantined: Quarantined::Also,
            order: Order::OldestFirst,
            limit: PAGE,
            ..PackageQuery::default()
        };
        while self.goes_on() {
            let page = self.read(|unit| {
                let page = unit.packages(project, &query)?;
                let judged = page.into_iter().map(|row| {
                    let log = unit.revisions(project, &row.package_id)?;
                    let verdict = rows::package(&row, &log);
                    Ok((row, verdict))
                });
                judged.collect::<Work<Vec<_>>>()
            })?;
            let Some((last, _)) = page.last() else {
                break;
            };
            query.after = Some(last.position());
            for (row, verdict) in &page {
                self.report.packages += 1;
                if let Err(failure) = verdict {
                    let id = row.package_id.as_str();
                    self.problem(Suspect::Package, Some(project), id, failure);
                }
                if self.quarantine && verdict.is_err() != row.quarantine.is_some() {
                    self.judge(row)?;
                }
            }
        }
        Ok(())
    }

    /// Quarantines a package or lets it out, as it is when that is written.
    fn judge(&mut self, row: &PackageRow) -> Work<()> {
        let (project, id) = (row.project_id.clone(), row.package_id.clone());
        let now = Timestamp::emit(self.memory.now());
        let moved = self.memory.store().write(move |unit| {
            let Some(row) = unit.package(&project, &id)? else {
                return Ok(None);
            };
            let log = unit.revisions(&project, &id)?;
            let verdict = match rows::package(&row, &log) {
                Err(failure) if row.quarantine.is_none() => Some(Quarantine {
                    at: now.clone(),
                    reason: failure.message,
                }),
                Ok(()) if row.quarantine.is_some() => None,
                _ => return Ok(None),
            };
            unit.quarantine_package(&project, &id, verdict.as_ref())?;
            Ok::<_, Stop>(Some(verdict.is_some()))
        })?;
        match moved {
            Some(true) => self.report.quarantined += 1,
            Some(false) => self.report.released += 1,
            None => {}
        }
        Ok(())
    }

    fn events(&mut self, project: &ProjectId) -> Work<()> {
        let mut seen = 0;
        while self.goes_on() {
            let (page, kept) = self.read(|unit| {
                let page = unit.events(project, seen, PAGE)?;
                Ok((page, unit.events_kept(project)?))
            })?;
            if page.is_empty() {
                if seen.max(kept.oldest.saturating_sub(1)) < kept.newest {
                    let failure = wrong(format!("events behind {seen} are not there"));
                    self.problem(Suspect::Event, Some(project), &seen.to_string(), &failure);
                }
                break;
            }
            // What was trimmed meanwhile is not missing.
            seen = seen.max(kept.oldest.saturating_sub(1));
            for row in page {
                let number = row.seq;
                self.report.events += 1;
                let failure = match recorded(project, row) {
                    Err(failure) => Some(failure),
                    Ok(_) if number > seen + 1 => Some(wrong(format!(
                        "there is no event between {seen} and {number}"
                    ))),
                    Ok(_) => None,
                };
                if let Some(failure) = failure {
                    self.problem(Suspect::Event, Some(project), &number.to_string(), &failure);
                }
                seen = number;
            }
        }
        Ok(())
    }
}

/// How many rows a project is known to have.
fn known_of(unit: &dyn ReadUnit, project: &ProjectId) -> Work<u64> {
    let packages = unit.tallies(project, None)?;
    let packages: u64 = packages.iter().map(|tally| tally.packages).sum();
    let kept = unit.events_kept(project)?;
    Ok(packages + (kept.newest + 1).saturating_sub(kept.oldest))
}
