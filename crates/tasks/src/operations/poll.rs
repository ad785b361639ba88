//! The scheduler looks at the tree.

use accord_contract::codes::Failure;
use accord_contract::time::Time;
use accord_tasks_core::board::{self, Action, Limits, RetryBudget};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::route::{Facts, Routed, apply_result, move_task};
use accord_tasks_core::run::{Run, RunResult};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};

use super::message::apply;
use crate::Tree;
use crate::work::Work;

/// Who acts when no agent does.
const SYSTEM: &str = "system";

/// What a poll did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Polled {
    /// The tasks that an executor should start, the most urgent first.
    pub start: Vec<TaskId>,
    /// The tasks that moved, with their statuses now.
    pub moved: Vec<(TaskId, Status)>,
    /// The actions that failed. They are not planned again before their tasks change.
    pub failed: Vec<(TaskId, Failure)>,
    /// When the next action is due without any change of a task.
    pub next_due: Option<Time>,
}

impl Tree {
    /// Does everything that is due. A poll that finds nothing writes nothing.
    ///
    /// # Errors
    /// When the tree cannot be read or written.
    pub fn poll(&self, limits: &Limits) -> Result<Polled, Failure> {
        let limits = limits.clone();
        self.change(move |work| {
            let mut polled = Polled::default();
            for action in work.poll(&limits) {
                let id = action.task();
                if let Action::Start(id) = action {
                    polled.start.push(id);
                    continue;
                }
                match decide(work, &action, limits.budget) {
                    Ok(None) => {}
                    Ok(Some((file, routed))) => {
                        let moved = routed.moved_to;
                        apply(work, &file, routed)?;
                        polled.moved.extend(moved.map(|status| (id, status)));
                    }
                    Err(failure) => {
                        let event =
                            TaskEvent::new(kind::ACTION_FAILED, SYSTEM, Some(id), work.now());
                        let event = event.with("code", failure.code.as_str());
                        work.event(event.with("error", failure.message.as_str()));
                        polled.failed.push((id, failure));
                    }
                }
            }
            polled.next_due = work.board().next_due();
            Ok(polled)
        })
    }
}

/// What an action does to its task. Nothing is staged here, so that a task that cannot be read is
/// not in the way of the others.
fn decide(
    work: &Work<'_>,
    action: &Action,
    budget: RetryBudget,
) -> Result<Option<(TaskFile, Routed)>, Failure> {
    // A file that was removed since the index was built needs no action.
    let Some(file) = work.find(action.task())? else { return Ok(None) };
    let (task, now) = (file.task(), work.now());
    let routed = match action {
        Action::Recover(_) => recover(work, &file, budget)?,
        Action::Promote(_) => {
            move_task(task, Status::Ready, SYSTEM, Some("dependency_satisfied"), now)
        }
        Action::Requeue(_) => board::requeued(task, now),
        Action::Block(_, reason) => move_task(task, Status::Blocked, SYSTEM, Some(reason), now),
        Action::Violation(_) => {
            let run: Option<Run> = work.artifact(task.id, "run.json")?;
            board::overdue(task, run.as_ref(), now)
        }
        Action::Unrouted(_) => {
            let event = TaskEvent::new(kind::ALERT, SYSTEM, Some(task.id), now);
            let event = event.with("reason", "no_routing_target");
            let mut routed = Routed::default();
            routed.events.push(event);
            routed
        }
        _ => return Ok(None),
    };
    // Changes that the file does not allow are a failure of this action alone.
    file.clone().edit(&routed.changes).map_err(|why| super::message::invalid(&why.to_string()))?;
    Ok(Some((file, routed)))
}

/// One decision about a silent run: its recorded result, else the task is ready again.
///
/// Clauses: AOF-RS-STALE, AOF-RS-RECLAIM.
fn recover(work: &Work<'_>, file: &TaskFile, budget: RetryBudget) -> Result<Routed, Failure> {
    let (task, now) = (file.task(), work.now());
    let run: Option<Run> = work.artifact(task.id, "run.json")?;
    let result: Option<RunResult> = work.artifact(task.id, "run_result.json")?;
    let facts = Facts {
        task: Some(file),
        parent: None,
        run: run.as_ref(),
        result: result.as_ref(),
        parent_run: None,
        has_summary: true,
    };
    let reason =
        result.as_ref().map(|result| format!("stale_heartbeat_{}", result.outcome.as_str()));
    if let Some(routed) = apply_result(task, &facts, reason.as_deref(), now) {
        return Ok(routed);
    }
    Ok(board::reclaimed(task, run.as_ref(), budget, now))
}
