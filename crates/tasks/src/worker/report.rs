//! The report that an agent leaves in the folder of its task.

use accord_contract::wire::{Object, Value};
use accord_tasks_core::{Status, TaskId};
use accord_trees::{Kind, read_file};
use serde_json::json;

use super::{Worker, agent_of};
use crate::layout::companion;
use crate::operations::Claimed;

/// The file with the payload of a `completion.report`, in the folder of a task. Only its outcome is
/// needed.
pub const REPORT: &str = "outputs/report.json";

/// The summary of an agent that names no other.
const SUMMARY: &str = "outputs/summary.md";

/// Where the report of an earlier run is kept.
const EARLIER: &str = "outputs/report.earlier.json";

const MAX_BYTES: u64 = 10 * 1024 * 1024;

/// Moves the report of an earlier run out of the way.
pub(super) fn put_aside(worker: &Worker, id: TaskId) {
    let folder = companion(Status::InProgress, id);
    let disk = worker.tree.shared_disk();
    // Without a report there is nothing to move; another error shows when the report is read.
    drop(disk.move_to(&format!("{folder}/{REPORT}"), &format!("{folder}/{EARLIER}")));
}

/// The report in the folder of a task: the payload, or a whole message. Text that is not JSON is
/// given on as it is, so that the protocol refuses it and says why.
pub(super) fn read(worker: &Worker, id: TaskId) -> Option<Value> {
    let path = format!("{}/{REPORT}", companion(Status::InProgress, id));
    let disk = worker.tree.shared_disk();
    // Not through a link: the agent could name any file of the machine. What is no file is not
    // opened, and nothing outside the tree is read.
    disk.stat(&path).ok().flatten().filter(|stat| stat.kind == Kind::File)?;
    let bytes = read_file(disk.as_ref(), &path, MAX_BYTES).ok().flatten()?;
    Some(accord_canon::read(&bytes).unwrap_or_else(|_| Value::Object(Object::new())))
}

/// The message of a report: as it is if it is a whole message, else with the envelope of the run.
pub(super) fn envelope(worker: &Worker, claimed: &Claimed, report: Value) -> Value {
    if report.get("protocol").is_some() {
        return in_run(claimed, report);
    }
    let task = claimed.task.task();
    let mut message = json!({
        "protocol": "aof",
        "version": 1,
        "type": "completion.report",
        "projectId": worker.tree.project(),
        "taskId": task.id.to_string(),
        "fromAgent": agent_of(&claimed.task),
        "toAgent": "accord",
        "sentAt": worker.tree.environment().now().to_string(),
    });
    message["payload"] = with_defaults(report);
    in_run(claimed, message)
}

/// The payload with what an agent may leave out.
fn with_defaults(mut report: Value) -> Value {
    if let Value::Object(members) = &mut report {
        members.entry("summaryRef").or_insert_with(|| SUMMARY.into());
        members.entry("notes").or_insert_with(|| "".into());
        let none = || json!({"total": 0, "passed": 0, "failed": 0});
        members.entry("tests").or_insert_with(none);
    }
    report
}

/// The report for an agent that ended well without one.
pub(super) fn unreported(last_lines: &str) -> Value {
    let mut notes = "the agent ended with exit code 0 and without a report".to_owned();
    if !last_lines.trim().is_empty() {
        notes = format!("{notes}. Its last lines:\n{}", last_lines.trim());
    }
    json!({
        "outcome": "needs_review",
        "summaryRef": "outputs/summary.md",
        "deliverables": [],
        "tests": {"total": 0, "passed": 0, "failed": 0},
        "blockers": [],
        "notes": notes,
    })
}

/// A message of the agent, with the id of its run if it names none.
pub(super) fn in_run(claimed: &Claimed, mut message: Value) -> Value {
    let is_own = message.get("taskId").and_then(Value::as_str)
        == Some(claimed.task.task().id.to_string().as_str());
    if let (true, Value::Object(members), Some(run)) = (is_own, &mut message, &claimed.run.run_id) {
        members.entry("runId").or_insert_with(|| run.as_str().into());
    }
    message
}
