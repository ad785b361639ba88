//! The scheduler looks at the tree.

use accord_base::By;
use accord_contract::{Code, Time, Timestamp};
use accord_tasks_core::board::{self, Action, Limits, RetryBudget, Silence};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::operations::{PollAlert, PollAnswer, PollRequest};
use accord_tasks_core::route::{Artifact, Facts, Routed, apply_result, move_task};
use accord_tasks_core::run::Run;
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::yaml::Change;
use accord_tasks_core::{Status, TaskId};

use super::apply::{apply, invalid};
use super::session_end::{Recorded, recorded, rejection};
use crate::work::Work;
use crate::{Result, Tree};

/// Who acts when no agent does.
const SYSTEM: &str = "system";
/// The member of a run's metadata that says that its result was rejected.
const REJECTED: &str = "resultRejectedAt";

impl Tree {
    /// Does everything that is due. A poll that finds nothing writes nothing.
    pub fn poll(&self, request: &PollRequest, _: &By) -> Result<PollAnswer> {
        let max_start = request.max_start.and_then(|count| usize::try_from(count).ok());
        self.poll_within(Limits::default(), max_start)
    }

    /// Does everything that is due, under these limits where the project does not say otherwise.
    pub(crate) fn poll_within(&self, usual: Limits, starts: Option<usize>) -> Result<PollAnswer> {
        self.change(move |work| {
            work.remove_uploads();
            let mut limits = limits(work, usual);
            limits.per_poll = limits.per_poll.min(starts.unwrap_or(usize::MAX));
            let mut answer = PollAnswer {
                moves: Vec::new(),
                start: Vec::new(),
                alerts: Vec::new(),
                notices: Vec::new(),
                counts: work.counts(),
                overdue: None,
                unmerged: work.unmerged(),
                next_due: None,
            };
            for action in work.poll(&limits) {
                let id = action.task();
                if let Action::Start(id) = action {
                    answer.start.push(id);
                    continue;
                }
                match decide(work, &action, limits.budget) {
                    Ok(None) => {}
                    Ok(Some((file, routed))) => {
                        answer.alerts.extend(alerts(&routed.events));
                        let applied = apply(work, &file, routed)?;
                        answer.moves.extend(applied.moves);
                        answer.notices.extend(applied.notices.into_iter().map(Into::into));
                    }
                    // An action that failed is not planned again before its task changes.
                    Err(failure) => {
                        let event =
                            TaskEvent::new(kind::ACTION_FAILED, SYSTEM, Some(id), work.now());
                        let event = event.with("code", failure.code.as_str());
                        work.event(event.with("error", failure.message.as_str()));
                        let reason = failure.code.as_str().to_owned();
                        answer.alerts.push(PollAlert { task_id: id, reason });
                    }
                }
            }
            let overdue: Vec<TaskId> = work.board().past_due(work.now()).collect();
            answer.overdue = (!overdue.is_empty()).then_some(overdue);
            answer.counts = work.counts();
            answer.next_due = work.board().next_due().map(Timestamp::emit);
            Ok(answer)
        })
    }
}

/// How many tasks may be in progress, and how often one is tried: as the project says, or usual.
fn limits(work: &Work<'_>, usual: Limits) -> Limits {
    let settings = work.settings();
    let (running, teams) = settings.limits();
    let manifest = settings.manifest.as_ref();
    let per_poll = manifest.and_then(|manifest| manifest.limits.as_ref()?.per_poll);
    let runs = manifest.and_then(|manifest| manifest.retry.as_ref()?.max_attempts);
    Limits {
        running: running.unwrap_or(usual.running),
        teams: usual.teams.into_iter().chain(teams).collect(),
        per_poll: per_poll.and_then(|count| usize::try_from(count).ok()).unwrap_or(usual.per_poll),
        budget: runs.map_or(usual.budget, |runs| RetryBudget { runs }),
    }
}

/// What events say to people.
fn alerts(events: &[TaskEvent]) -> impl Iterator<Item = PollAlert> {
    events.iter().filter_map(|event| {
        let reason = match event.kind {
            kind::SLA_VIOLATION => "sla_violation",
            kind::ALERT | kind::REJECTED => event.payload.get("reason")?.as_str()?,
            _ => return None,
        };
        Some(PollAlert { task_id: event.task?, reason: reason.to_owned() })
    })
}

/// What an action does to its task. Nothing is staged: a failure is not in the way of the others.
fn decide(work: &Work<'_>, due: &Action, runs: RetryBudget) -> Result<Option<(TaskFile, Routed)>> {
    let file = match work.find(due.task()) {
        Ok(Some(file)) => file,
        // A file that was removed since the index was built needs no action.
        Ok(None) => return Ok(None),
        // A person must adopt it first. That is reported once, when the tree is read.
        Err(failure) if failure.code == Code::AofTaskNeedsAdopt => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let (task, now) = (file.task(), work.now());
    let routed = match due {
        Action::Recover(_) => recover(work, &file, runs)?,
        Action::Promote(_) => {
            let mut routed =
                move_task(task, Status::Ready, SYSTEM, Some("dependency_satisfied"), now);
            routed.changes.extend(moved_at(since(work, &file)?));
            routed
        }
        Action::Requeue(_) => board::requeued(task, now),
        Action::Block(_, reason) => move_task(task, Status::Blocked, SYSTEM, Some(reason), now),
        Action::Violation(_) => {
            let run: Option<Run> = work.artifact(task.id, "run.json")?;
            board::overdue(task, run.as_ref(), now)
        }
        Action::Unrouted(_) => board::unrouted(task, now),
        _ => return Ok(None),
    };
    // Changes that the file does not allow are a failure of this action alone.
    file.clone().edit(&routed.changes).map_err(|why| invalid(&why.to_string()))?;
    Ok(Some((file, routed)))
}

/// Since when a task waits for nothing. Every copy of a tree says the same, so that git has nothing
/// to merge when several of them promote the task.
fn since(work: &Work<'_>, file: &TaskFile) -> Result<Time> {
    let mut since = file.task().updated_at.time();
    for needed in file.task().dependencies() {
        let ended = work.peek(*needed)?.map(|file| file.task().last_transition_at.time());
        since = since.max(ended.unwrap_or(since));
    }
    Ok(since.min(work.now()))
}

fn moved_at(time: Time) -> [Change; 2] {
    ["updatedAt", "lastTransitionAt"].map(|name| Change::set(&[name], time.to_string()))
}

/// One decision about a silent run: its recorded result, else the task is ready again. A result
/// that cannot be read is recorded once, and moves nothing.
/// Clauses: AOF-RS-STALE, AOF-RS-RECLAIM, AOF-EX-8, AOF-EX-9.
fn recover(work: &Work<'_>, file: &TaskFile, budget: RetryBudget) -> Result<Routed> {
    let (task, now) = (file.task(), work.now());
    let run: Option<Run> = work.artifact(task.id, "run.json")?;
    let result = match recorded(work, task.id)? {
        Recorded::Valid(result) => Some(*result),
        Recorded::Missing => None,
        Recorded::Invalid(why) => return Ok(invalid_result(work, file, run, &why)),
    };
    let (run, result) = (run.as_ref(), result.as_ref());
    let facts = Facts { task: Some(file), run, result, has_summary: true, ..Facts::default() };
    let reason = result.map(|result| format!("stale_heartbeat_{}", result.outcome.as_str()));
    if let Some(routed) = apply_result(task, &facts, reason.as_deref(), now) {
        return Ok(routed);
    }
    Ok(board::reclaimed(task, run, Silence::StaleHeartbeat, budget, now))
}

/// A result that cannot be read: the task stays in progress until a person looks at it.
/// Clauses: AOF-RS-INVALID-RESULT.
fn invalid_result(work: &Work<'_>, file: &TaskFile, run: Option<Run>, why: &str) -> Routed {
    let mut routed = Routed::default();
    let known = run.as_ref().and_then(|run| run.metadata.as_ref()?.get(REJECTED));
    if known.is_some() {
        return routed;
    }
    routed.events.push(rejection(file.task(), why, work.now()));
    if let Some(run) = run {
        let (status, at) = (run.status, work.now().to_string());
        routed.artifacts.push(Artifact::Run(run.ended(status, &[(REJECTED, at.as_str())])));
    }
    routed
}
