//! What a worker of a tree does before its agent starts: it claims a task, and reads what the
//! project says about runs.

use accord_base::{By, Door};
use accord_contract::{Code, Failure};
use accord_tasks_core::lease::LeaseTimes;
use accord_tasks_core::operations::{BriefingAnswer, ClaimRequest};
use accord_tasks_core::run::Run;
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};

use crate::{Result, Tree};

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Claimed {
    pub task: TaskFile,
    /// The run, whose id is the fencing token.
    pub run: Run,
}

impl Tree {
    /// Claims a ready task for a worker of an agent.
    pub(crate) fn claim_for(&self, id: TaskId, agent: &str, times: LeaseTimes) -> Result<Claimed> {
        let request = ClaimRequest {
            agent: Some(agent.to_owned()),
            lease_ttl_ms: ms(times.lease_seconds),
            heartbeat_ttl_ms: ms(times.heartbeat_seconds),
            ..ClaimRequest::default()
        };
        let answer = self.claim(&id.to_string(), &request, &worker()?)?;
        let claimed = self.claimed_in(id, &answer.run_id)?;
        claimed.ok_or_else(|| {
            let message = format!("{id} was taken away right after it was claimed");
            Failure::new(Code::AofTaskNotReady, message).with("task_id", id.to_string())
        })
    }

    /// What the agent of a claimed task needs to know.
    pub(crate) fn briefing_for(&self, claimed: &Claimed) -> Result<BriefingAnswer> {
        self.briefing(&claimed.task.task().id.to_string(), &worker()?)
    }

    /// How long leases and heartbeats last, as the project says now.
    pub(crate) fn lease_times(&self) -> Result<LeaseTimes> {
        self.read(|work| Ok(work.settings().times()))
    }

    /// The name that a task is claimed under: its agent, else its role, else its team.
    pub(crate) fn target(&self, id: TaskId) -> Result<String> {
        self.change(move |work| {
            let file = work.task(id)?;
            let routing = file.task().routing.clone();
            let name = routing.and_then(|routing| routing.agent.or(routing.role).or(routing.team));
            name.ok_or_else(|| {
                let message = format!("{id} names neither an agent nor a role nor a team");
                Failure::new(Code::AofUnassignedTask, message).with("task_id", id.to_string())
            })
        })
    }

    /// The claimed task of a run, if it is still in progress in that run.
    pub(crate) fn claimed_in(&self, id: TaskId, run_id: &str) -> Result<Option<Claimed>> {
        let run_id = run_id.to_owned();
        self.change(move |work| {
            let Some(task) = work.find(id)? else { return Ok(None) };
            let run: Option<Run> = work.artifact(id, "run.json")?;
            let run = run.filter(|run| run.run_id.as_deref() == Some(&run_id));
            let is_held = task.task().status == Status::InProgress;
            Ok(run.filter(|_| is_held).map(|run| Claimed { task, run }))
        })
    }
}

/// A worker passes the words of its agent on.
pub(crate) fn worker() -> Result<By> {
    By::parse("script:worker", Door::Message)
}

/// A time in a request.
pub(crate) fn ms(seconds: i64) -> Option<u64> {
    u64::try_from(seconds).ok().map(|seconds| seconds * 1_000)
}
