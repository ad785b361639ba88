//! An agent takes a task, keeps it, and gives it back.

use accord_contract::codes::Failure;
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::lease::{self, LeaseTimes};
use accord_tasks_core::run::{Heartbeat, Run, RunResult};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};

use crate::Tree;

/// A task that was claimed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Claimed {
    /// The task.
    pub task: TaskFile,
    /// The run, whose id is the fencing token.
    pub run: Run,
}

impl Tree {
    /// Claims a ready task for an agent.
    ///
    /// # Errors
    /// `task_not_found`, `task_not_ready`, `unauthorized_agent`.
    pub fn claim(&self, id: TaskId, agent: &str, times: LeaseTimes) -> Result<Claimed, Failure> {
        let (agent, run_id) = (agent.to_owned(), self.environment().run_id());
        self.change(move |work| {
            let before = work.task(id)?;
            let now = work.now();
            let leased = lease::acquire(before.task(), &agent, &run_id, times, now)?;
            let mut after = before.clone();
            after
                .edit(&leased.changes)
                .map_err(|error| super::message::invalid(&error.to_string()))?;
            // The result of an earlier run must not decide about this one.
            if let Some(old) = work.artifact::<RunResult>(id, "run_result.json")? {
                let name = old.run_id.unwrap_or_else(|| "earlier".into());
                work.archive_result(id, &name)?;
            }
            work.write_artifact(id, "run.json", &leased.run)?;
            work.write_artifact(id, "run_heartbeat.json", &leased.heartbeat)?;
            work.update(&before, &after)?;
            let to = (Status::Ready, Status::InProgress);
            work.event(TaskEvent::moved(id, &agent, to, Some("claimed"), now));
            let event = TaskEvent::new(kind::LEASE_ACQUIRED, &agent, Some(id), now);
            work.event(event.with("runId", run_id));
            Ok(Claimed { task: after, run: leased.run })
        })
    }

    /// Renews the lease of a run, with its heartbeat.
    ///
    /// # Errors
    /// `unassigned_task`, `unauthorized_agent`, `stale_run`.
    pub fn heartbeat(
        &self,
        id: TaskId,
        agent: &str,
        run_id: Option<&str>,
        times: LeaseTimes,
    ) -> Result<Heartbeat, Failure> {
        let (agent, run_id) = (agent.to_owned(), run_id.map(str::to_owned));
        let new_id = self.environment().run_id();
        self.change(move |work| {
            let before = work.task(id)?;
            let known: Option<Run> = work.artifact(id, "run.json")?;
            // A lease that another tool gave out may have no run: it gets one with this heartbeat.
            let is_new = known.is_none();
            let run = known.unwrap_or_else(|| Run::begin(id, &agent, &new_id, work.now()));
            let last: Option<Heartbeat> = work.artifact(id, "run_heartbeat.json")?;
            let held = (&run, last.as_ref());
            let leased =
                lease::renew(before.task(), held, &agent, run_id.as_deref(), times, work.now())?;
            let mut after = before.clone();
            after
                .edit(&leased.changes)
                .map_err(|error| super::message::invalid(&error.to_string()))?;
            if is_new {
                work.write_artifact(id, "run.json", &run)?;
            }
            work.write_artifact(id, "run_heartbeat.json", &leased.heartbeat)?;
            work.update(&before, &after)?;
            Ok(leased.heartbeat)
        })
    }
}
