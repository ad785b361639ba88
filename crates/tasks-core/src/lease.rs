//! Leases: who works on a task, and until when.
//!
//! Invariants:
//! - a task has a lease exactly while it is in progress;
//! - a lease and the heartbeat of its run move together;
//! - each lease has a run of its own, whose id is the fencing token.

use accord_contract::{Code, Failure, Object, Time, Timestamp, Wire as _};

use crate::run::{Heartbeat, Run};
use crate::task::{Lease, Task};
use crate::yaml::Change;
use crate::{Status, TaskId, rule};

/// How long leases and heartbeats last.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseTimes {
    pub lease_seconds: i64,
    pub heartbeat_seconds: i64,
}

impl Default for LeaseTimes {
    /// The guide's five minutes for a heartbeat, and the reference's ten for a lease.
    fn default() -> Self {
        Self { lease_seconds: 600, heartbeat_seconds: 300 }
    }
}

/// A lease that was acquired or renewed: what to write.
#[derive(Clone, Debug, PartialEq)]
pub struct Leased {
    pub changes: Vec<Change>,
    pub run: Run,
    pub heartbeat: Heartbeat,
}

/// Acquires the lease of a ready task for an agent. The result of an earlier run must be moved
/// out of the way with the same commit.
/// Clauses: AOF-RUN-CLAIM, AOF-RUN-TTL.
pub fn acquire(
    task: &Task,
    agent: &str,
    run_id: &str,
    times: LeaseTimes,
    now: Time,
) -> Result<Leased, Failure> {
    if task.status != Status::Ready {
        let message = format!("{} is {}, not ready", task.id, task.status);
        return Err(Failure::new(Code::AofTaskNotReady, message)
            .with("task_id", task.id.to_string())
            .with("status", task.status.as_str()));
    }
    let routed = task.routing.as_ref().and_then(|routing| routing.agent.as_deref());
    if let Some(routed) = routed.filter(|routed| *routed != agent) {
        return Err(unauthorized(task.id, routed, agent));
    }
    Ok(grant(task, agent, run_id, times, now))
}

/// The lease of an agent on a task, with the run that begins.
pub(crate) fn grant(task: &Task, agent: &str, run: &str, times: LeaseTimes, now: Time) -> Leased {
    let run = Run::begin(task.id, agent, run, now);
    let heartbeat = Heartbeat::next(&run, None, times.heartbeat_seconds, now);
    let lease = Lease {
        agent: agent.to_owned(),
        acquired_at: Timestamp::emit(now),
        expires_at: Timestamp::emit(now.add_seconds(times.lease_seconds)),
        renew_count: Some(0),
        extra: Object::new(),
    };
    let mut changes = moved(Status::InProgress, now);
    changes.push(Change::set(&["lease"], lease.encode()));
    // A person's word holds for one start.
    changes.push(Change::remove(&["metadata", "forcedReady"]));
    Leased { changes, run, heartbeat }
}

/// Renews the lease of a run, with its heartbeat, without a limit: who lives keeps its task.
pub fn renew(
    task: &Task,
    (run, last): (&Run, Option<&Heartbeat>),
    agent: &str,
    run_id: Option<&str>,
    times: LeaseTimes,
    now: Time,
) -> Result<Leased, Failure> {
    check_holder(task, Some(run), agent, run_id, now)?;
    let renewed = task.lease.value().and_then(|lease| lease.renew_count).unwrap_or(0) + 1;
    let until = Timestamp::emit(now.add_seconds(times.lease_seconds));
    let changes = vec![
        Change::set(&["lease", "expiresAt"], until.as_str()),
        Change::set(&["lease", "renewCount"], renewed),
        Change::set(&["updatedAt"], now.to_string()),
    ];
    let heartbeat = Heartbeat::next(run, last, times.heartbeat_seconds, now);
    Ok(Leased { changes, run: run.clone(), heartbeat })
}

/// By how many seconds the clock of a sender may be behind, where only the time of a message says
/// which run it belongs to.
const CLOCK_SKEW: i64 = 120;

/// Checks that an agent holds the lease of a task, in its present run. Fails with `unassigned_task`
/// without a lease, `unauthorized_agent` for another agent, `stale_run` for an earlier run. Without
/// the id of the run, a message that is a little older than the lease still counts.
/// Clauses: AOF-AUTH-SENDER.
pub fn check_holder(
    task: &Task,
    run: Option<&Run>,
    agent: &str,
    run_id: Option<&str>,
    sent_at: Time,
) -> Result<(), Failure> {
    let Some(lease) = task.lease.value() else {
        let message = format!("{} has no lease", task.id);
        return Err(Failure::new(Code::AofUnassignedTask, message)
            .with("task_id", task.id.to_string())
            .with("sender", agent));
    };
    if lease.agent != agent {
        return Err(unauthorized(task.id, &lease.agent, agent));
    }
    let since = lease.acquired_at.time();
    let named = run_id.zip(run.and_then(|run| run.run_id.as_deref()));
    let is_stale = match named {
        Some((sent, held)) => sent != held,
        // Whole seconds, because agents write times without a fraction.
        None => sent_at.unix_seconds() + CLOCK_SKEW < since.unix_seconds(),
    };
    if rule!(is_stale; OldRunHeard => false) {
        return Err(stale(task.id, agent, named, (sent_at, since)));
    }
    Ok(())
}

/// The refusal of an earlier run, with what it was recognised by.
fn stale(
    task: TaskId,
    agent: &str,
    runs: Option<(&str, &str)>,
    (sent_at, since): (Time, Time),
) -> Failure {
    let message = match runs {
        Some((sent, held)) => {
            format!("{task} was given to a later run of {agent}, {held}: this is of the run {sent}")
        }
        None => format!(
            "{task} was given to {agent} at {since}: this was sent at {sent_at}, more than \
             {CLOCK_SKEW} s before; name the run, or correct the clock of the sender"
        ),
    };
    let failure = Failure::new(Code::AofStaleRun, message).with("task_id", task.to_string());
    match runs {
        Some((sent, held)) => failure.with("runId", sent).with("heldBy", held),
        None => {
            let failure = failure.with("sentAt", sent_at.to_string());
            failure.with("leasedAt", since.to_string())
        }
    }
}

/// The changes of a move to a status. A lease ends with the status that has one.
pub(crate) fn moved(to: Status, now: Time) -> Vec<Change> {
    let now = now.to_string();
    let mut changes = vec![
        Change::set(&["status"], to.as_str()),
        Change::set(&["updatedAt"], now.as_str()),
        Change::set(&["lastTransitionAt"], now.as_str()),
    ];
    if rule!(!to.is_leased(); LeaseStays => to == Status::Done) {
        changes.push(Change::remove(&["lease"]));
    }
    changes
}

pub(crate) fn unauthorized(task: TaskId, expected: &str, received: &str) -> Failure {
    let message = format!("{task} belongs to {expected}, not to {received}");
    Failure::new(Code::AofUnauthorizedAgent, message)
        .with("task_id", task.to_string())
        .with("expected", expected)
        .with("received", received)
}
