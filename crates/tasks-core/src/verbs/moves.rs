//! Verbs that move a task.

use accord_contract::Failure;

use super::review::{Verdict, record};
use super::{About, Subject};
use crate::Status;
use crate::board::Waits;
use crate::event::{TaskEvent, kind};
use crate::lease::{check_holder, moved};
use crate::route::{BLOCKED_BY, Routed, is_blocked_by_person};
use crate::task::Task;
use crate::yaml::Change;

/// What is recorded about failed attempts, which a person's decision makes void.
const FAILURES: &[&str] = &[
    "retryCount",
    "rateLimitCount",
    "failedBy",
    "lastBlockedAt",
    "lastError",
    "errorClass",
    "dispatchFailures",
    "lastDispatchFailureReason",
    "lastDispatchFailureAt",
    "deadletterReason",
    "deadletterLastError",
    "deadletterErrorClass",
    "deadletterFailureCount",
    "deadletterAt",
];

/// Blocks a task. The name of a person who does it is recorded.
/// Clauses: AOF-ST-TABLE.
pub fn block(subject: &Subject<'_>, reason: &str) -> Result<Routed, Failure> {
    subject.check_may_change()?;
    let mut routed = subject.walk(&[Status::Blocked], Some(reason))?;
    if subject.by.is_person() {
        routed.changes.push(Change::set(&["metadata", BLOCKED_BY], subject.by.name()));
    }
    Ok(routed)
}

/// Makes a blocked task ready again, with a new budget. What a person blocked, a person unblocks.
pub fn unblock(subject: &Subject<'_>, reason: Option<&str>) -> Result<Routed, Failure> {
    subject.check_may_change()?;
    if subject.task.status != Status::Blocked {
        return Err(subject.impossible(Status::Ready));
    }
    if is_blocked_by_person(subject.task) {
        subject.by.check_person("unblock what a person blocked")?;
    }
    let mut routed = subject.walk(&[Status::Ready], reason)?;
    forget_failures(&mut routed);
    Ok(routed)
}

/// Makes a dead letter ready again, with a new retry budget.
pub fn resurrect(
    subject: &Subject<'_>,
    reason: Option<&str>,
    about: About<'_>,
) -> Result<Routed, Failure> {
    subject.by.check_person("resurrect a task")?;
    subject.check_shown(about, subject.task.status == Status::Deadletter)?;
    if subject.task.status != Status::Deadletter {
        return Err(subject.impossible(Status::Ready));
    }
    let mut routed = subject.walk(&[Status::Ready], reason)?;
    forget_failures(&mut routed);
    let event =
        TaskEvent::new(kind::RESURRECTED, subject.by.name(), Some(subject.task.id), subject.now);
    let event = if let Some(reason) = reason { event.with("reason", reason) } else { event };
    routed.events.push(event);
    record(&mut routed, subject, Verdict::RESURRECTED, reason, about.0);
    Ok(routed)
}

/// Forgets what is recorded about failed attempts of a task.
pub(super) fn forgotten_failures(task: &Task) -> impl Iterator<Item = Change> + '_ {
    let known = FAILURES.iter().filter(|name| task.metadata(name).is_some());
    known.map(|name| Change::remove(&["metadata", name]))
}

fn forget_failures(routed: &mut Routed) {
    routed.changes.extend(FAILURES.iter().map(|name| Change::remove(&["metadata", name])));
    routed.changes.push(Change::remove(&["metadata", "blockReason"]));
}

/// Gives a task up. Beyond the table, any task that is not finished can be given up.
pub fn cancel(
    subject: &Subject<'_>,
    reason: Option<&str>,
    about: About<'_>,
) -> Result<Routed, Failure> {
    subject.by.check_person("cancel a task")?;
    subject.check_shown(about, !subject.task.status.is_final())?;
    subject.check_open()?;
    let (task, now) = (subject.task, subject.now);
    let way = (task.status, Status::Cancelled);
    let mut routed = Routed::default();
    routed.events.push(TaskEvent::moved(task.id, subject.by.name(), way, reason, now));
    routed.changes = moved(Status::Cancelled, now);
    if let Some(reason) = reason {
        routed.changes.push(Change::set(&["metadata", "cancellationReason"], reason));
    }
    routed.moved_to = Some(Status::Cancelled);
    record(&mut routed, subject, Verdict::CANCELLED, reason, about.0);
    subject.end_run(&mut routed, Some(reason.unwrap_or("cancelled")));
    Ok(routed)
}

/// Moves a task of the backlog to the ready ones. While it waits for tasks, only a person can.
pub fn promote(subject: &Subject<'_>, waits: &Waits, force: bool) -> Result<Routed, Failure> {
    subject.check_may_change()?;
    let task = subject.task;
    if task.status != Status::Backlog {
        return Err(subject.impossible(Status::Ready));
    }
    let is_forced = match waits {
        Waits::Nothing => false,
        _ if force => {
            subject.by.check_person("promote a task that waits for others")?;
            true
        }
        waits => {
            waits.check(task.id)?;
            false
        }
    };
    let reason = if is_forced { "promoted_by_force" } else { "promoted" };
    let mut routed = subject.walk(&[Status::Ready], Some(reason))?;
    if is_forced {
        // Otherwise a claim of the next ready task would pass it over.
        routed.changes.push(Change::set(&["metadata", "forcedReady"], true));
    }
    Ok(routed)
}

/// Gives a task back: it is ready for another claim. Its holder can do it, and a person.
pub fn release(
    subject: &Subject<'_>,
    agent: Option<&str>,
    run_id: Option<&str>,
    reason: Option<&str>,
) -> Result<Routed, Failure> {
    let (task, by) = (subject.task, subject.by);
    let holder = task.lease.value().map(|lease| lease.agent.as_str());
    // A person names an agent only to be sure that it is the holder.
    let agent = match agent {
        Some(agent) => by.agent(Some(agent))?,
        None if by.is_agent() => by.name(),
        None => holder.unwrap_or_default(),
    };
    check_holder(task, subject.run, agent, run_id, subject.now)?;
    let mut routed = subject.walk(&[Status::Ready], Some(reason.unwrap_or("released")))?;
    let event = TaskEvent::new(kind::LEASE_RELEASED, by.name(), Some(task.id), subject.now);
    routed.events.push(event.with("agent", agent));
    Ok(routed)
}
