//! A sign of life of a run.

use accord_base::By;
use accord_tasks_core::lease;
use accord_tasks_core::operations::{HeartbeatAnswer, HeartbeatRequest};
use accord_tasks_core::run::{Heartbeat, Run};

use super::apply::invalid;
use super::claim::times;
use super::comment::since_begin;
use crate::view::alive_until;
use crate::{Result, Tree};

impl Tree {
    /// Renews the lease of a run, with its heartbeat.
    pub fn heartbeat(
        &self,
        task: &str,
        beat: &HeartbeatRequest,
        by: &By,
    ) -> Result<HeartbeatAnswer> {
        let agent = by.agent(beat.agent.as_deref())?.to_owned();
        let (task, beat, new_id) = (task.to_owned(), beat.clone(), self.environment().run_id());
        self.change(move |work| {
            let id = work.resolve(&task)?;
            let before = work.task(id)?;
            let known: Option<Run> = work.artifact(id, "run.json")?;
            // A lease that another tool gave out may have no run: it gets one with this heartbeat.
            let is_new = known.is_none();
            let run = known.unwrap_or_else(|| Run::begin(id, &agent, &new_id, work.now()));
            let last: Option<Heartbeat> = work.artifact(id, "run_heartbeat.json")?;
            let held = (&run, last.as_ref());
            let times = times(work.settings().times(), beat.lease_ttl_ms, beat.heartbeat_ttl_ms);
            let run_id = beat.run_id.as_deref();
            let leased = lease::renew(before.task(), held, &agent, run_id, times, work.now())?;
            let mut after = before.clone();
            after.edit(&leased.changes).map_err(|error| invalid(&error.to_string()))?;
            if is_new {
                work.write_artifact(id, "run.json", &run)?;
            }
            work.write_heartbeat(id, &leased.heartbeat)?;
            work.update(&before, &after)?;
            let alive_until = alive_until(&leased.heartbeat);
            let until = after.task().lease.value().map(|lease| lease.expires_at.clone());
            let comments = since_begin(&after, &agent);
            Ok(HeartbeatAnswer {
                task_id: id,
                agent,
                run_id: run.run_id.unwrap_or_default(),
                lease_until: until.unwrap_or_else(|| alive_until.clone()),
                alive_until,
                beat_count: leased.heartbeat.beat_count.unwrap_or(0),
                lease_seconds: u64::try_from(times.lease_seconds).ok(),
                alive_seconds: u64::try_from(times.heartbeat_seconds).ok(),
                comments,
            })
        })
    }
}
