//! An agent takes a task.

use accord_base::{By, refuse};
use accord_contract::{Code, Failure, Timestamp};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::lease::{self, LeaseTimes};
use accord_tasks_core::operations::{ClaimAnswer, ClaimRequest};
use accord_tasks_core::run::{Heartbeat, Run, RunStatus};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};

use super::apply::invalid;
use crate::layout::companion;
use crate::view::{Draft, RunFacts, alive_until};
use crate::work::Work;
use crate::{Result, Tree};

pub(crate) struct Claim {
    pub(crate) agent: String,
    pub(crate) run_id: RunId,
    pub(crate) lease_ttl_ms: Option<u64>,
    pub(crate) heartbeat_ttl_ms: Option<u64>,
    /// The person who lets the agent have it although it waits for others.
    pub(crate) forced_by: Option<String>,
    pub(crate) project: String,
}

/// The id of the run that a claim begins.
pub(crate) enum RunId {
    New(String),
    /// The caller made it. The claim may have been made before, and its answer lost.
    Named(String),
}

impl RunId {
    pub(crate) fn of(tree: &Tree, named: Option<&String>) -> Result<Self> {
        let Some(named) = named else { return Ok(Self::New(tree.environment().run_id())) };
        let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-');
        if named.bytes().all(is_plain) {
            return Ok(Self::Named(named.clone()));
        }
        let message = "the id of a run has only letters, digits, `_` and `-`";
        Err(refuse::schema("/run_id", message))
    }

    fn as_str(&self) -> &str {
        let (Self::New(id) | Self::Named(id)) = self;
        id
    }
}

impl Tree {
    /// Claims a ready task for an agent. One that waits for others is refused, unless a person
    /// forces it.
    pub fn claim(&self, task: &str, request: &ClaimRequest, by: &By) -> Result<ClaimAnswer> {
        let is_forced = request.force == Some(true);
        if is_forced {
            by.check_person("claim a task that waits for others")?;
        }
        let claim = Claim {
            agent: by.agent(request.agent.as_deref())?.to_owned(),
            run_id: RunId::of(self, request.run_id.as_ref())?,
            lease_ttl_ms: request.lease_ttl_ms,
            heartbeat_ttl_ms: request.heartbeat_ttl_ms,
            forced_by: is_forced.then(|| by.name().to_owned()),
            project: self.project().to_owned(),
        };
        let task = task.to_owned();
        let taken = self.change(move |work| {
            let id = work.resolve(&task)?;
            match claim.again_on(work, id)? {
                Some(claimed) => Ok(claimed),
                None => claim.take(work, id),
            }
        })?;
        Ok(taken.answer())
    }
}

/// A claim that a group decided.
pub(crate) struct ClaimedTask {
    draft: Draft,
    run_id: String,
    lease_until: Timestamp,
    alive_until: Timestamp,
    directory: String,
    times: LeaseTimes,
}

impl ClaimedTask {
    /// The answer, which the caller makes after the group.
    pub(crate) fn answer(self) -> ClaimAnswer {
        ClaimAnswer {
            task: self.draft.details(),
            run_id: self.run_id,
            lease_until: self.lease_until,
            alive_until: self.alive_until,
            directory: self.directory,
            lease_seconds: u64::try_from(self.times.lease_seconds).ok(),
            alive_seconds: u64::try_from(self.times.heartbeat_seconds).ok(),
        }
    }
}

impl Claim {
    /// Gives the lease of a task to the agent.
    pub(crate) fn take(&self, work: &mut Work<'_>, id: TaskId) -> Result<ClaimedTask> {
        let before = work.task(id)?;
        let now = work.now();
        let times = times(work.settings().times(), self.lease_ttl_ms, self.heartbeat_ttl_ms);
        let run_id = self.run_id.as_str();
        let leased = lease::acquire(before.task(), &self.agent, run_id, times, now)?;
        let entry = work.board().entry(id).filter(|entry| !entry.is_forced);
        if let Some(entry) = entry.filter(|_| self.forced_by.is_none()) {
            work.board().waits(entry).check(id)?;
        }
        if let Some(resource) = before.task().resource.as_deref()
            && !work.board().is_free(resource)
        {
            let message = format!("{id} needs {resource}, which another task uses");
            return Err(Failure::new(Code::AofResourceBusy, message)
                .with("task_id", id.to_string())
                .with("resource", resource));
        }
        let mut after = before.clone();
        after.edit(&leased.changes).map_err(|error| invalid(&error.to_string()))?;
        // The result of an earlier run must not decide about this one.
        if let Some(name) = work.old_result(id)? {
            work.archive_result(id, &name)?;
        }
        work.write_artifact(id, "run.json", &leased.run)?;
        work.write_heartbeat(id, &leased.heartbeat)?;
        let has_folders = work.has_companion(&before);
        work.update(&before, &after)?;
        if !has_folders {
            // Git carries no empty folder.
            work.make_companion(id, Status::InProgress);
        }
        let to = (Status::Ready, Status::InProgress);
        work.event(match &self.forced_by {
            None => TaskEvent::moved(id, &self.agent, to, Some("claimed"), now),
            Some(person) => {
                let why = Some("claimed_by_force");
                TaskEvent::moved(id, &self.agent, to, why, now).with("by", person.as_str())
            }
        });
        let event = TaskEvent::new(kind::LEASE_ACQUIRED, &self.agent, Some(id), now);
        work.event(event.with("runId", run_id));
        Ok(self.claimed(work, &after, (leased.run, leased.heartbeat), times))
    }

    /// The claim that this run has made already, on any task, if it still holds that.
    pub(crate) fn again(&self, work: &mut Work<'_>) -> Result<Option<ClaimedTask>> {
        let RunId::Named(_) = &self.run_id else { return Ok(None) };
        let held = work.board().open().filter(|entry| {
            entry.status == Status::InProgress && entry.holder.as_ref() == Some(&self.agent)
        });
        let held: Vec<TaskId> = held.map(|entry| entry.id).collect();
        for id in held {
            if let Some(claimed) = self.again_on(work, id)? {
                return Ok(Some(claimed));
            }
        }
        Ok(None)
    }

    /// The same on one task. The lease begins anew.
    fn again_on(&self, work: &mut Work<'_>, id: TaskId) -> Result<Option<ClaimedTask>> {
        let RunId::Named(run_id) = &self.run_id else { return Ok(None) };
        // Files that cannot be read are not in the way of a claim.
        let Ok(Some(run)) = work.artifact::<Run>(id, "run.json") else { return Ok(None) };
        let is_own = run.run_id.as_ref() == Some(run_id) && run.status == RunStatus::Running;
        let Some(before) = work.find(id)?.filter(|_| is_own) else { return Ok(None) };
        if before.task().status != Status::InProgress || work.is_elsewhere(id) {
            return Ok(None);
        }
        let now = work.now();
        let times = times(work.settings().times(), self.lease_ttl_ms, self.heartbeat_ttl_ms);
        let last: Option<Heartbeat> = work.artifact(id, "run_heartbeat.json")?;
        let held = (&run, last.as_ref());
        let leased = lease::renew(before.task(), held, &self.agent, Some(run_id), times, now)?;
        let mut after = before.clone();
        after.edit(&leased.changes).map_err(|error| invalid(&error.to_string()))?;
        work.write_heartbeat(id, &leased.heartbeat)?;
        work.update(&before, &after)?;
        Ok(Some(self.claimed(work, &after, (leased.run, leased.heartbeat), times)))
    }

    fn claimed(
        &self,
        work: &Work<'_>,
        task: &TaskFile,
        (run, heartbeat): (Run, Heartbeat),
        times: LeaseTimes,
    ) -> ClaimedTask {
        let id = task.task().id;
        let root = work.disk().root_path();
        let directory = root.join(companion(Status::InProgress, id)).display().to_string();
        let alive_until = alive_until(&heartbeat);
        let until = task.task().lease.value().map(|lease| lease.expires_at.clone());
        let facts = RunFacts { run: Some(run), heartbeat: Some(heartbeat), result: None };
        ClaimedTask {
            draft: work.draft(&self.project, task, facts),
            run_id: self.run_id.as_str().to_owned(),
            lease_until: until.unwrap_or_else(|| alive_until.clone()),
            alive_until,
            directory,
            times,
        }
    }
}

/// How long lease and heartbeat last, in whole seconds.
pub(crate) fn times(usual: LeaseTimes, lease_ms: Option<u64>, beat_ms: Option<u64>) -> LeaseTimes {
    let seconds = |ms: Option<u64>, usual: i64| {
        ms.and_then(|ms| i64::try_from(ms.div_ceil(1_000)).ok()).unwrap_or(usual)
    };
    LeaseTimes {
        lease_seconds: seconds(lease_ms, usual.lease_seconds),
        heartbeat_seconds: seconds(beat_ms, usual.heartbeat_seconds),
    }
}
