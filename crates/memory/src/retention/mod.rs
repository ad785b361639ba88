//! Retention: deletes old events, and blobs that nothing refers to.
//!
//! Packages, facts and sessions are never deleted.
//!
//! Invariants:
//! - nothing is deleted unless a request or a setting asks for it, and each deletion is logged;
//! - the newest event of a project is kept, because the project's clock depends on it;
//! - a blob is kept when any member of a package or fact of its project names it, and when it was
//!   stored, or stored again, after the given time.

mod sweep;

use std::future::Future;
use std::time::Duration;

use accord_api::operations::upkeep::TrimmedProject;
use accord_base::{Caller, ProjectId, Verb};
use accord_contract::{Failure, Object, Time};
use accord_store::{ReadUnit, WriteUnit};

use super::load::all_projects;
use super::{Memory, UnitResult, load};

pub use self::sweep::{Sweep, SweepReport};

/// How many events are deleted in one transaction.
const STEP: u64 = 5_000;

#[derive(Clone, Debug)]
pub struct Trim {
    /// Those that happened before this.
    pub before: Time,
    /// Only those of this project; without it, those of all projects that the caller administers.
    pub project: Option<ProjectId>,
    /// Deletes nothing, and reports what would be deleted.
    pub dry_run: bool,
}

/// The retention settings. By default nothing is deleted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Retention {
    /// How many days events are kept.
    pub events_days: Option<u32>,
    /// How many days unreferenced blobs are kept.
    pub blobs_days: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct TrimReport {
    pub events: u64,
    /// The projects with deleted events.
    pub projects: Vec<TrimmedProject>,
}

impl Memory {
    /// Deletes old events. Fails with `unauthorized` or `project_not_found`.
    pub async fn trim_events(&self, caller: &Caller, asked: &Trim) -> Result<TrimReport, Failure> {
        let projects = match &asked.project {
            Some(project) => {
                let (access, project) = (caller.access().clone(), project.clone());
                let read =
                    self.read(move |unit| load::project(unit, &access, Verb::Admin, &project));
                vec![read.await?.project_id]
            }
            None => self.administered(caller).await?,
        };
        let mut report = TrimReport { events: 0, projects: Vec::new() };
        for project in projects {
            let trimmed = self.trim(&project, asked).await?;
            if trimmed.events > 0 {
                report.events += trimmed.events;
                report.projects.push(trimmed);
            }
        }
        Ok(report)
    }

    async fn trim(&self, project: &ProjectId, asked: &Trim) -> Result<TrimmedProject, Failure> {
        let (named, before) = (project.clone(), asked.before);
        let (kept, through) = self.read(move |unit| last_of(unit, &named, before)).await?;
        let mut oldest = kept;
        while oldest <= through {
            // In steps, because a long transaction would delay all other writes.
            let next = through.min(oldest + STEP - 1);
            if !asked.dry_run {
                let named = project.clone();
                let job = move |unit: &mut dyn WriteUnit| Ok(unit.trim_events(&named, next)?);
                self.write(job).await?;
            }
            oldest = next + 1;
        }
        Ok(TrimmedProject {
            project_id: project.clone(),
            events: oldest - kept,
            oldest,
            extra: Object::new(),
        })
    }

    /// All projects that a caller administers.
    async fn administered(&self, caller: &Caller) -> Result<Vec<ProjectId>, Failure> {
        let access = caller.access().clone();
        access.may_anywhere(Verb::Admin)?;
        self.read(move |unit| {
            let mut found = all_projects(unit)?;
            found.retain(|project| access.covers(project));
            Ok(found)
        })
        .await
    }

    /// Applies the retention settings of the host once.
    pub async fn retain(&self, retention: Retention) -> Result<(), Failure> {
        let scheduler = Caller::scheduler();
        if let Some(days) = retention.events_days {
            let before = self.now().days_before(days);
            let asked = Trim { before, project: None, dry_run: false };
            let report = self.trim_events(&scheduler, &asked).await?;
            let (events, projects) = (report.events, report.projects.len());
            tracing::info!(days, events, projects, "retention: events were deleted");
        }
        if let Some(days) = retention.blobs_days
            && self.options().blobs.is_some()
        {
            let asked = Sweep { before: self.now().days_before(days), dry_run: false };
            let report = self.sweep_blobs(&scheduler, asked).await?;
            let (links, files, bytes) = (report.links, report.files, report.bytes);
            tracing::info!(days, links, files, bytes, "retention: unreferenced blobs were deleted");
        }
        Ok(())
    }

    /// Applies the retention settings of the host now and once a day, until `closing`.
    pub async fn retain_daily(&self, retention: Retention, closing: impl Future<Output = ()>) {
        if retention == Retention::default() {
            return;
        }
        let mut day = tokio::time::interval(Duration::from_secs(24 * 60 * 60));
        // After a suspend of the machine one run is enough, not one for each missed day.
        day.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut closing = std::pin::pin!(closing);
        loop {
            tokio::select! {
                () = &mut closing => return,
                _ = day.tick() => {}
            }
            tokio::select! {
                () = &mut closing => return,
                done = self.retain(retention) => if let Err(failure) = done {
                    tracing::error!(code = %failure.code, "retention: {}", failure.message);
                },
            }
        }
    }
}

/// The oldest event of a project, and the last to delete.
fn last_of(unit: &dyn ReadUnit, project: &ProjectId, before: Time) -> UnitResult<(u64, u64)> {
    let kept = unit.event_range(project)?;
    let through = unit.events_before(project, before)?;
    Ok((kept.oldest, through.min(kept.newest.saturating_sub(1))))
}
