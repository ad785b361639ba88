//! What waits for a person about a task.

use accord_base::inbox::{Urgency, Waiting, kind, words};
use accord_contract::Time;

use crate::operations::{BlockEnd, TaskItem};
use crate::task::due_at;
use crate::{Status, TaskId};

/// What the board knows of a task beyond its file.
#[derive(Clone, Copy, Debug, Default)]
pub struct BoardFacts {
    /// How many open tasks wait for it.
    pub dependents: u64,
    /// Whether people were alerted that nobody can take it.
    pub is_unrouted: bool,
    /// When it is in progress for too long.
    pub overdue_at: Option<Time>,
    /// Whether it is ready and routed to a person ([`is_handed_over`]).
    pub is_handed_over: bool,
    /// Until when the handoff asks for it.
    pub due_at: Option<Time>,
}

/// How the names of people begin.
const PERSON: &str = "human:";

/// Whether a task with a status waits for the person that it is routed to.
pub fn is_handed_over(status: Status, agent: Option<&str>) -> bool {
    status == Status::Ready && agent.is_some_and(|agent| agent.starts_with(PERSON))
}

/// Whether something can wait about a task with a status, before its file is read.
pub fn may_wait(status: Status, facts: BoardFacts, is_unadopted: bool) -> bool {
    matches!(status, Status::Review | Status::Blocked | Status::Deadletter)
        || facts.is_unrouted
        || facts.is_handed_over
        || is_unadopted
        || (status == Status::InProgress && facts.overdue_at.is_some())
}

/// What waits about a task.
pub fn waiting(item: &TaskItem, facts: BoardFacts) -> Vec<Waiting> {
    let mut found = Vec::new();
    let id = item.id;
    match item.status {
        Status::Review => {
            let by = item.done_by.as_ref();
            let by = by.map(|by| format!(", done by {by}")).unwrap_or_default();
            found.push(of(kind::TASK_REVIEW, item, format!("Review of task {id}{by}"), facts));
        }
        Status::Blocked if is_for_person(item) => {
            let mut blocked = of(kind::TASK_BLOCKED, item, format!("Task {id} is blocked"), facts);
            if let Some(reason) = &item.block_reason {
                blocked.words = words(&format!("{}: {reason}", item.title));
            }
            if facts.dependents > 0 {
                blocked.urgency = Urgency::Chain;
            }
            found.push(blocked);
        }
        Status::Deadletter => {
            let mut failed =
                of(kind::TASK_FAILED, item, format!("Task {id} failed too often"), facts);
            failed.urgency = Urgency::Loss;
            found.push(failed);
        }
        Status::InProgress => {
            if let Some(at) = facts.overdue_at {
                let title = format!("Task {id} is in progress for too long");
                let mut late = of(kind::TASK_OVERDUE, item, title, facts);
                (late.shown_from, late.urgency) = (Some(at), Urgency::Chain);
                found.push(late);
            }
        }
        // One that waits for other tasks cannot be taken.
        Status::Ready if facts.is_handed_over && item.waits_for.is_none() => {
            found.extend(handed_over(item, facts));
        }
        _ => {}
    }
    if facts.is_unrouted {
        let title = format!("Nobody can take task {id}");
        let mut nobody = of(kind::TASK_UNROUTED, item, title, facts);
        nobody.urgency = Urgency::Chain;
        found.push(nobody);
    }
    if let Some(moved) = &item.unadopted {
        let title = format!("The file of task {id} says {}, and nobody decided it", moved.status);
        found.push(of(kind::TASK_UNADOPTED, item, title, facts));
    }
    found
}

/// The item of a task for a person. After its deadline other work was promised that does not come.
fn handed_over(item: &TaskItem, facts: BoardFacts) -> Option<Waiting> {
    let person = item.agent.as_ref()?;
    let title = format!("Task {} is for {person}", item.id);
    let mut handed = of(kind::TASK_HANDOFF, item, title, facts);
    handed.asked_by = None;
    handed.to = Some(person.clone());
    handed.deadline = facts.due_at.or_else(|| item.due.as_deref().and_then(due_at));
    handed.rises = handed.deadline.map(|deadline| (deadline, Urgency::Loss));
    Some(handed)
}

/// Whether the block of a task ends only when a person does something.
fn is_for_person(item: &TaskItem) -> bool {
    let is_dead = |status: Option<Status>| {
        matches!(status, None | Some(Status::Cancelled | Status::Deadletter))
    };
    match item.block_ends {
        Some(BlockEnd::Retry) => false,
        Some(BlockEnd::Dependency) => {
            item.waits_for.iter().flatten().any(|needed| is_dead(needed.status))
        }
        Some(BlockEnd::Unblock | BlockEnd::Person) | None => true,
    }
}

fn of(kind: &str, item: &TaskItem, title: String, facts: BoardFacts) -> Waiting {
    let since = item.since.time();
    let opening = since.unix_millis().max(0).unsigned_abs();
    let mut waiting = Waiting::new(kind, &TaskId::to_string(&item.id), opening, title, since);
    waiting.words = words(&item.title);
    waiting.asked_by = item.done_by.clone().or_else(|| item.agent.clone());
    waiting.behind = facts.dependents;
    waiting
}
