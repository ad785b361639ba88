//! What a worker does with the run of a claimed task: it beats, delivers messages, and ends the
//! run. Each operation is refused if the task was given to another run.

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Value;
use accord_tasks_core::board::{self, ErrorClass, RetryBudget, RunFailure, Silence};
use accord_tasks_core::lease::{self, LeaseTimes};
use accord_tasks_core::operations::{
    BriefingAnswer, ClaimRequest, HeartbeatRequest, ReleaseRequest, SessionEndRequest,
};
use accord_tasks_core::run::{Run, RunResult, RunStatus};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{By, Door, Status, TaskId};

use super::apply::apply;
use crate::work::Work;
use crate::worker::WorkEnd;
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

    /// How long leases and heartbeats last, and how often a task is run, as the project says now.
    pub(crate) fn run_settings(&self) -> Result<(LeaseTimes, RetryBudget)> {
        self.change(|work| {
            let settings = work.settings();
            let retry = settings.manifest.as_ref().and_then(|manifest| manifest.retry.as_ref());
            let runs = retry.and_then(|retry| retry.max_attempts);
            let budget = runs.map_or_else(RetryBudget::default, |runs| RetryBudget { runs });
            Ok((settings.times(), budget))
        })
    }

    pub(crate) fn beat(&self, claimed: &Claimed, times: LeaseTimes) -> Result<()> {
        let (id, agent, run_id) = named(claimed);
        let mut request = HeartbeatRequest::default();
        (request.agent, request.run_id) = (Some(agent), run_id);
        request.lease_ttl_ms = ms(times.lease_seconds);
        request.heartbeat_ttl_ms = ms(times.heartbeat_seconds);
        self.heartbeat(&id.to_string(), &request, &worker()?).map(drop)
    }

    pub(crate) fn worker_message(&self, message: &Value) -> Result<()> {
        self.message(message, &worker()?).map(drop)
    }

    /// Carries out a text of the agent that is meant as a message.
    pub(crate) fn worker_text(&self, text: &str) -> Result<()> {
        self.message(&text.into(), &worker()?).map(drop)
    }

    /// Ends the run of a task that was claimed without a report.
    pub(crate) fn fail_run(
        &self,
        claimed: &Claimed,
        error: &str,
        budget: RetryBudget,
    ) -> Result<Status> {
        let (id, agent, run_id) = named(claimed);
        let error = error.to_owned();
        let random = self.environment().random_number();
        self.change(move |work| {
            let (file, run) = held(work, id, &agent, run_id.as_deref())?;
            let failure =
                RunFailure { agent: &agent, error: &error, class: ErrorClass::of(&error) };
            let now = work.now();
            let routed =
                board::run_failed(file.task(), run.as_ref(), &failure, budget, random, now);
            apply(work, &file, routed)?;
            Ok(work.task(id)?.task().status)
        })
    }

    /// Ends the run of a task whose worker was killed: the task is ready again.
    pub(crate) fn reclaim_run(&self, claimed: &Claimed, budget: RetryBudget) -> Result<Status> {
        let (id, agent, run_id) = named(claimed);
        self.change(move |work| {
            let (file, run) = held(work, id, &agent, run_id.as_deref())?;
            let now = work.now();
            let silence = Silence::WorkerKilled;
            let routed = board::reclaimed(file.task(), run.as_ref(), silence, budget, now);
            apply(work, &file, routed)?;
            Ok(work.task(id)?.task().status)
        })
    }

    /// Gives a claimed task back: it is ready again, and the run does not count.
    pub(crate) fn give_back(&self, claimed: &Claimed) -> Result<()> {
        let (id, agent, run_id) = named(claimed);
        let mut request = ReleaseRequest::default();
        (request.agent, request.run_id) = (Some(agent), run_id);
        request.reason = Some("released".to_owned());
        self.release(&id.to_string(), &request, &worker()?).map(drop)
    }

    /// Applies a result that waits for the end of the agent's session.
    pub(crate) fn end_session(&self, claimed: &Claimed) -> Result<()> {
        let (id, agent, _) = named(claimed);
        let mut request = SessionEndRequest::default();
        (request.agent, request.task) = (Some(agent), Some(id.to_string()));
        self.session_end(&request, &worker()?).map(drop)
    }

    /// Whether a task is still in progress in the run that it was claimed with.
    pub(crate) fn is_held(&self, claimed: &Claimed) -> Result<bool> {
        let (id, agent, run_id) = named(claimed);
        self.change(move |work| Ok(held(work, id, &agent, run_id.as_deref()).is_ok()))
    }

    pub(crate) fn has_reported(&self, claimed: &Claimed) -> Result<bool> {
        let (id, run_id) = (claimed.task.task().id, claimed.run.run_id.clone());
        self.change(move |work| reported(work, id, run_id.as_deref()))
    }

    /// How a run ended whose task moved on.
    pub(crate) fn ended_as(&self, id: TaskId, run_id: Option<&str>) -> Result<WorkEnd> {
        let run_id = run_id.map(str::to_owned);
        self.change(move |work| {
            let status = work.find(id)?.map(|file| file.task().status);
            Ok(match status {
                Some(status) if reported(work, id, run_id.as_deref())? => WorkEnd::Reported(status),
                _ => WorkEnd::Lost,
            })
        })
    }

    /// The name that a task is claimed under: its agent, else its role, else its team. Fails with
    /// `unassigned_task` if the task names none.
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
fn worker() -> Result<By> {
    By::parse("script:worker", Door::Message)
}

fn ms(seconds: i64) -> Option<u64> {
    u64::try_from(seconds).ok().map(|seconds| seconds * 1_000)
}

/// The result that is recorded for a run, or that its run is over because of one.
fn reported(work: &Work<'_>, id: TaskId, run_id: Option<&str>) -> Result<bool> {
    let result: Option<RunResult> = work.artifact(id, "run_result.json")?;
    let run: Option<Run> = work.artifact(id, "run.json")?;
    let is_over = run
        .is_some_and(|run| run.run_id.as_deref() == run_id && run.status == RunStatus::Completed);
    Ok(is_over || result.is_some_and(|result| result.run_id.as_deref() == run_id))
}

/// The task of a run, if the run has it.
fn held(
    work: &Work<'_>,
    id: TaskId,
    agent: &str,
    run_id: Option<&str>,
) -> Result<(TaskFile, Option<Run>)> {
    let file = work.task(id)?;
    let run: Option<Run> = work.artifact(id, "run.json")?;
    lease::check_holder(file.task(), run.as_ref(), agent, run_id, work.now())?;
    Ok((file, run))
}

fn named(claimed: &Claimed) -> (TaskId, String, Option<String>) {
    let task = claimed.task.task();
    let agent = claimed.run.agent_id.clone();
    (task.id, agent, claimed.run.run_id.clone())
}
