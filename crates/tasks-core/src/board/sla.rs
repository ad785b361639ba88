//! Tasks that are in progress for too long.

use accord_contract::{Time, Value};

use super::retry::end_run;
use crate::Status;
use crate::event::{TaskEvent, kind};
use crate::route::{Routed, move_task};
use crate::run::Run;
use crate::task::{OnViolation, Task};
use crate::yaml::Change;

/// What the reference allows a task that does not say otherwise: an hour in progress.
pub(super) const DEFAULT_MS: u64 = 3_600_000;

/// The shortest time between two alerts about a task.
const ALERT_PAUSE_SECONDS: i64 = 900;

const ALERTED_AT: &str = "slaAlertedAt";
const SYSTEM: &str = "system";

/// What happens to a task that is in progress for too long. The task records when it was alerted.
pub fn overdue(task: &Task, run: Option<&Run>, now: Time) -> Routed {
    let action = on_violation(task);
    let mut routed = match action {
        OnViolation::Alert => Routed {
            changes: vec![Change::set(&["metadata", ALERTED_AT], now.to_string())],
            ..Routed::default()
        },
        OnViolation::Block => move_task(task, Status::Blocked, SYSTEM, Some("sla_violation"), now),
        OnViolation::Deadletter => {
            move_task(task, Status::Deadletter, SYSTEM, Some("sla_violation"), now)
        }
    };
    let duration = now.unix_millis().saturating_sub(task.last_transition_at.time().unix_millis());
    let event = TaskEvent::new(kind::SLA_VIOLATION, SYSTEM, Some(task.id), now)
        .with("duration", duration)
        .with("limit", limit_ms(task))
        .with("agent", task.agent().map_or(Value::Null, Value::from))
        .with("action", action.as_str());
    routed.events.insert(0, event);
    if action != OnViolation::Alert {
        let about = [("failedAt", &*now.to_string()), ("failedReason", "sla_violation")];
        end_run(&mut routed, run, &about);
    }
    routed
}

pub(super) fn due_at(task: &Task) -> Option<Time> {
    let since = task.last_transition_at.time();
    let seconds = i64::try_from(limit_ms(task).div_ceil(1_000)).ok()?;
    let first = since.add_seconds(seconds);
    let text = task.metadata(ALERTED_AT).and_then(Value::as_str);
    let alerted = text.and_then(Time::parse_rfc3339);
    // An alert of an earlier time in progress does not count.
    let alerted = alerted.filter(|alerted| *alerted >= since);
    Some(alerted.map_or(first, |alerted| first.max(alerted.add_seconds(ALERT_PAUSE_SECONDS))))
}

pub(super) fn on_violation(task: &Task) -> OnViolation {
    task.sla.as_ref().and_then(|sla| sla.on_violation).unwrap_or(OnViolation::Alert)
}

fn limit_ms(task: &Task) -> u64 {
    task.sla.as_ref().and_then(|sla| sla.max_in_progress_ms).unwrap_or(DEFAULT_MS)
}
