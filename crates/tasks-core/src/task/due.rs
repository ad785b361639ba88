//! When a task should be done. AOF/1 has no member for it, so that it is in the metadata, which
//! readers keep.

use accord_contract::{Code, Failure, Time, Value};

use super::Task;

/// The member of the metadata.
pub const DUE: &str = "due";

const DAY: i64 = 86_400;

/// The end of what a text names: a time, or a day of UTC.
pub fn due_at(text: &str) -> Option<Time> {
    if text.len() == "2026-01-31".len() {
        let start = Time::parse_rfc3339(&format!("{text}T00:00:00Z"))?;
        return Some(start.add_seconds(DAY));
    }
    Time::parse_rfc3339(text)
}

/// When a task should be done, as its file says it.
pub fn due(task: &Task) -> Option<&str> {
    task.metadata(DUE).and_then(Value::as_str).filter(|text| due_at(text).is_some())
}

/// Whether a task that can still move should have been done by now.
pub fn is_overdue(task: &Task, now: Time) -> bool {
    !task.status.is_final() && due(task).and_then(due_at).is_some_and(|at| at <= now)
}

/// Refuses what is neither a day nor a time.
pub fn check_due(text: &str) -> Result<(), Failure> {
    if due_at(text).is_some() {
        return Ok(());
    }
    let message = format!(
        "{text:?} is neither a day nor a time, as 2026-01-31 or \
                           2026-01-31T17:00:00Z"
    );
    Err(Failure::new(Code::WireFieldValue, message).at("/due"))
}
