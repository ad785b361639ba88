//! Tasks that cannot be started, because it is not clear who may do them.

use accord_contract::{Time, Value};

use crate::event::{TaskEvent, kind};
use crate::route::Routed;
use crate::task::Task;
use crate::yaml::Change;

/// The member of the metadata that says that people were alerted: the time since when the task had
/// its status then. It holds until the task moves, whatever the clock says.
const ALERTED: &str = "unroutedSince";
const SYSTEM: &str = "system";

/// Alerts people. The alert is recorded in the task, so that no process repeats it.
/// Clauses: AOF-SC-QUIET.
pub fn unrouted(task: &Task, now: Time) -> Routed {
    let event = TaskEvent::new(kind::ALERT, SYSTEM, Some(task.id), now);
    let since = task.last_transition_at.as_str();
    Routed {
        changes: vec![Change::set(&["metadata", ALERTED], since)],
        events: vec![event.with("reason", "no_routing_target")],
        ..Routed::default()
    }
}

/// Whether people were alerted since the task has its status.
pub(super) fn is_alerted(task: &Task) -> bool {
    let alerted = task.metadata(ALERTED).and_then(Value::as_str);
    alerted == Some(task.last_transition_at.as_str())
}
