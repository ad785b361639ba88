//! The scheduler looks at the tree.

use accord_contract::codes::Failure;
use accord_contract::time::Time;
use accord_tasks_core::board::{Action, Limits};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::route::{Facts, Routed, apply_result, move_task};
use accord_tasks_core::run::{Run, RunResult, RunStatus};
use accord_tasks_core::task::{OnViolation, TaskFile};
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
                // A file that was removed or broken since the index was built is not in the way
                // of the others.
                let Ok(Some(file)) = work.find(id) else { continue };
                if let Some(status) = act(work, &action, &file)? {
                    polled.moved.push((id, status));
                }
            }
            polled.next_due = work.board().next_due();
            Ok(polled)
        })
    }
}

fn act(work: &mut Work<'_>, action: &Action, file: &TaskFile) -> Result<Option<Status>, Failure> {
    let (task, now) = (file.task(), work.now());
    let routed = match action {
        Action::Recover(_) => recover(work, file)?,
        Action::Promote(_) => {
            move_task(task, Status::Ready, SYSTEM, Some("dependency_satisfied"), now)
        }
        Action::Requeue(_) => move_task(task, Status::Ready, SYSTEM, Some("requeued"), now),
        Action::Block(_, reason) => move_task(task, Status::Blocked, SYSTEM, Some(reason), now),
        Action::Violation(_, on_violation) => {
            let event = TaskEvent::new(kind::SLA_VIOLATION, SYSTEM, Some(task.id), now);
            work.event(event.with("action", on_violation.as_str()));
            match on_violation {
                OnViolation::Alert => return Ok(None),
                OnViolation::Block => {
                    move_task(task, Status::Blocked, SYSTEM, Some("sla_violation"), now)
                }
                OnViolation::Deadletter => {
                    move_task(task, Status::Deadletter, SYSTEM, Some("sla_violation"), now)
                }
            }
        }
        Action::Unrouted(_) => {
            let event = TaskEvent::new(kind::ALERT, SYSTEM, Some(task.id), now);
            work.event(event.with("reason", "no_routing_target"));
            return Ok(None);
        }
        _ => return Ok(None),
    };
    let moved = routed.moved_to;
    apply(work, file, routed)?;
    Ok(moved)
}

/// One decision about a silent run: its recorded result, else the task is ready again.
///
/// Clauses: AOF-RS-STALE, AOF-RS-RECLAIM.
fn recover(work: &Work<'_>, file: &TaskFile) -> Result<Routed, Failure> {
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
    let mut routed = move_task(task, Status::Ready, SYSTEM, Some("stale_heartbeat_reclaim"), now);
    if let Some(run) = run.filter(|run| run.status == RunStatus::Running) {
        let at = now.to_string();
        let about = [("expiredAt", at.as_str()), ("expiredReason", "stale_heartbeat")];
        let run = run.ended(RunStatus::Failed, &about);
        routed.artifacts.push(accord_tasks_core::route::Artifact::Run(run));
    }
    Ok(routed)
}
