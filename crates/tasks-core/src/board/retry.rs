//! What follows a run that failed: another run later, or a dead letter. The budget counts runs,
//! because an agent that starts and then dies costs as much as one that does its work. A run that
//! was turned away by a rate limit did not begin to work: it waits the longest time, and is counted
//! apart, with a budget that is [`RATE_LIMITED_RUNS`] times as large.

use accord_contract::{Object, Time, Value, wire_enum};

use crate::event::{TaskEvent, kind};
use crate::route::{Artifact, Routed, move_task};
use crate::run::{Run, RunStatus};
use crate::task::Task;
use crate::yaml::Change;
use crate::{Status, rule};

wire_enum! {
    /// Whether another run can help after a failure.
    pub enum ErrorClass("TaskErrorClass", closed) {
        /// Another run may succeed.
        Transient = "transient",
        /// Another run fails in the same way.
        Permanent = "permanent",
        /// A service turned the run away for a while.
        RateLimited = "rate_limited",
    }
}

/// Texts of errors that another run cannot mend.
const PERMANENT: [&str; 7] = [
    "agent not found",
    "agent_not_found",
    "no such agent",
    "agent deregistered",
    "permission denied",
    "forbidden",
    "unauthorized",
];

/// Texts of errors of a service that is asked too often.
const RATE_LIMITED: [&str; 6] =
    ["rate limit", "rate_limit", "too many requests", "429", "throttled", "quota exceeded"];

const FIRST_PAUSE_MS: u64 = 60_000;
const LONGEST_PAUSE_MS: u64 = 900_000;
/// How many runs in a row a service may turn away, for each run that may fail: with the usual
/// budget and the longest pauses, six hours.
const RATE_LIMITED_RUNS: u64 = 8;
/// How much of an error is kept in the task.
const MAX_ERROR: usize = 512;

/// How often a task is run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RetryBudget {
    /// How many runs may fail. The last one makes a dead letter.
    pub runs: u64,
}

impl Default for RetryBudget {
    /// The reference's three.
    fn default() -> Self {
        Self { runs: 3 }
    }
}

/// A run that ended without a report.
#[derive(Clone, Copy, Debug)]
pub struct RunFailure<'a> {
    pub agent: &'a str,
    pub error: &'a str,
    pub class: ErrorClass,
}

impl ErrorClass {
    /// The class of an error text. A text that says both is a rate limit.
    pub fn of(error: &str) -> Self {
        let error = error.to_lowercase();
        let says = |texts: &[&str]| texts.iter().any(|text| error.contains(text));
        if says(&RATE_LIMITED) {
            Self::RateLimited
        } else if says(&PERMANENT) {
            Self::Permanent
        } else {
            Self::Transient
        }
    }
}

/// The pause before the next run: a minute, tripled with each failure, at most 15 minutes, and up
/// to a quarter more or less by `random`.
pub fn pause_ms(failures: u64, random: u32) -> u64 {
    let exponent = u32::try_from(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    let factor = 3_u64.checked_pow(exponent).unwrap_or(u64::MAX);
    let pause = FIRST_PAUSE_MS.saturating_mul(factor).min(LONGEST_PAUSE_MS);
    // From 3/4 to 5/4 of the pause.
    let spread = pause / 2;
    pause - spread / 2 + spread * u64::from(random) / u64::from(u32::MAX)
}

/// What happens to a task whose run ended without a report. `random` spreads the retries.
pub fn run_failed(
    task: &Task,
    run: Option<&Run>,
    failure: &RunFailure<'_>,
    budget: RetryBudget,
    random: u32,
    now: Time,
) -> Routed {
    let is_limited = failure.class == ErrorClass::RateLimited;
    let failures = failures(task) + u64::from(!is_limited);
    // A run that began to work ends the row of those that were turned away.
    let limited = if is_limited { count(task, RATE_LIMIT_COUNT) + 1 } else { 0 };
    let error = shortened(failure.error);
    let mut routed = match dead_because(failure.class, (failures, limited), budget) {
        Some(reason) => dead_letter(task, failure, failures + limited, reason, now),
        None => {
            let reason = format!("run_failed: {error}");
            let mut routed = move_task(task, Status::Blocked, SYSTEM, Some(&reason), now);
            let pause = if is_limited { longest(random) } else { pause_ms(failures, random) };
            let pause = i64::try_from(pause.div_ceil(1_000)).unwrap_or(i64::MAX);
            routed.changes.extend([
                set("lastBlockedAt", now.to_string()),
                set(RETRY_AT, now.add_seconds(pause).to_string()),
            ]);
            routed
        }
    };
    routed.changes.extend([
        set(RETRY_COUNT, failures),
        match limited {
            0 => Change::remove(&["metadata", RATE_LIMIT_COUNT]),
            limited => set(RATE_LIMIT_COUNT, limited),
        },
        set("lastError", error.as_str()),
        set("errorClass", failure.class.as_str()),
        // A service that turns runs away says nothing about the agent.
        match is_limited {
            true => Change::remove(&["metadata", FAILED_BY]),
            false => set(FAILED_BY, failure.agent),
        },
    ]);
    end_run(&mut routed, run, &[("failedAt", &now.to_string()), ("failedReason", &error)]);
    routed
}

/// How it is known that a run is over that left no result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Silence {
    StaleHeartbeat,
    /// The process that watched its agent was killed, and the agent with it.
    WorkerKilled,
}

impl Silence {
    fn expired(self) -> &'static str {
        match self {
            Self::StaleHeartbeat => "stale_heartbeat",
            Self::WorkerKilled => "worker_killed",
        }
    }

    /// Why the task is ready again.
    fn reclaim(self) -> &'static str {
        match self {
            Self::StaleHeartbeat => RECLAIM,
            Self::WorkerKilled => "worker_killed_reclaim",
        }
    }
}

/// What happens to a task whose run is over and left no result: it is ready again, as long as there
/// is a budget. Nothing says that the work failed, so there is no pause.
/// Clauses: AOF-RS-RECLAIM, AOF-RS-RECLAIM-REASON, AOF-RS-EXPIRED.
pub fn reclaimed(
    task: &Task,
    run: Option<&Run>,
    silence: Silence,
    budget: RetryBudget,
    now: Time,
) -> Routed {
    let failures = failures(task) + 1;
    let agent = task.agent().unwrap_or(SYSTEM);
    let failure = RunFailure { agent, error: silence.expired(), class: ErrorClass::Transient };
    let mut routed = match dead_because(failure.class, (failures, 0), budget) {
        Some(reason) => dead_letter(task, &failure, failures, reason, now),
        None => move_task(
            task,
            Status::Ready,
            SYSTEM,
            Some(rule!(silence.reclaim(); ReclaimUnexplained => "reclaimed")),
            now,
        ),
    };
    let limited = Change::remove(&["metadata", RATE_LIMIT_COUNT]);
    routed.changes.extend([set(RETRY_COUNT, failures), limited, set(FAILED_BY, agent)]);
    let about = [("expiredAt", &*now.to_string()), ("expiredReason", silence.expired())];
    if rule!(true; ExpiryUnmarked => false) {
        end_run(&mut routed, run, &about);
    }
    routed
}

/// Why a task is ready again after its run fell silent.
const RECLAIM: &str = "stale_heartbeat_reclaim";

/// A task whose pause is over becomes ready again.
pub fn requeued(task: &Task, now: Time) -> Routed {
    let is_retry = task.metadata(RETRY_AT).is_some();
    let reason = if is_retry { "retry" } else { "dependency_possible" };
    let mut routed = move_task(task, Status::Ready, SYSTEM, Some(reason), now);
    routed.changes.extend([set("lastRequeuedAt", now.to_string()), set("requeueReason", reason)]);
    routed
}

/// How many runs of a task failed since it last reported.
pub(crate) fn failures(task: &Task) -> u64 {
    count(task, RETRY_COUNT)
}

fn count(task: &Task, name: &str) -> u64 {
    task.metadata(name).and_then(Value::as_u64).unwrap_or(0)
}

/// When a blocked task is tried again.
pub fn retry_at(task: &Task) -> Option<Time> {
    let text = task.metadata(RETRY_AT)?.as_str()?;
    Time::parse_rfc3339(text).filter(|_| task.status == Status::Blocked)
}

fn dead_because(
    class: ErrorClass,
    (failures, limited): (u64, u64),
    budget: RetryBudget,
) -> Option<&'static str> {
    let is_spent = match class {
        ErrorClass::Permanent => return Some("permanent_error"),
        ErrorClass::RateLimited => limited >= budget.runs.saturating_mul(RATE_LIMITED_RUNS),
        ErrorClass::Transient => failures >= budget.runs,
    };
    is_spent.then_some("max_dispatch_failures")
}

fn dead_letter(task: &Task, failure: &RunFailure<'_>, count: u64, why: &str, now: Time) -> Routed {
    let mut routed = move_task(task, Status::Deadletter, SYSTEM, Some(why), now);
    routed.changes.push(set("deadletterReason", why));
    // What is known about the runs before this one.
    let before = [RETRY_COUNT, RATE_LIMIT_COUNT, "lastError", "lastBlockedAt"];
    let before = before.map(|name| Some((name.to_owned(), task.metadata(name)?.clone())));
    let before: Object = before.into_iter().flatten().collect();
    let event = TaskEvent::new(kind::DEADLETTERED, SYSTEM, Some(task.id), now)
        .with("reason", why)
        .with("failureCount", count)
        .with("retryCount", count)
        .with("lastFailureReason", shortened(failure.error))
        .with("errorClass", failure.class.as_str())
        .with("agent", failure.agent)
        .with("failureHistory", Value::Object(before));
    routed.events.push(event);
    routed
}

pub(super) fn end_run(routed: &mut Routed, run: Option<&Run>, about: &[(&str, &str)]) {
    if let Some(run) = run.filter(|run| run.status == RunStatus::Running) {
        routed.artifacts.push(Artifact::Run(run.clone().ended(RunStatus::Failed, about)));
    }
}

fn longest(random: u32) -> u64 {
    // Enough failures for the longest pause.
    pause_ms(4, random)
}

fn set(name: &str, value: impl Into<Value>) -> Change {
    Change::set(&["metadata", name], value)
}

/// The beginning of an error on one line.
fn shortened(error: &str) -> String {
    let line = error.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_ERROR) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The member of the metadata that names the agent of the last run that failed.
pub(super) const FAILED_BY: &str = "failedBy";
const RETRY_COUNT: &str = "retryCount";
const RATE_LIMIT_COUNT: &str = "rateLimitCount";
const RETRY_AT: &str = "retryAt";
const SYSTEM: &str = "system";
