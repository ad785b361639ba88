//! The report that an agent leaves in the folder of its task, and the messages of its run.

use accord_contract::{Object, Value};
use accord_tasks_core::{Status, TaskId};
use accord_trees::{Disk, Kind, read_file};
use serde_json::json;

use crate::Tree;
use crate::layout::companion;

/// The file with the payload of a `completion.report`, in the folder of a task.
pub const REPORT: &str = "outputs/report.json";

/// The summary of an agent that names no other.
const SUMMARY: &str = "outputs/summary.md";

/// Where the report of an earlier run is kept.
const EARLIER: &str = "outputs/report.earlier.json";

const MAX_BYTES: u64 = 10 * 1024 * 1024;

/// A run of an agent on a task. Its id is the fencing token.
#[derive(Clone, Debug)]
pub(crate) struct RunOfAgent {
    pub(crate) task: TaskId,
    pub(crate) agent: String,
    pub(crate) run_id: String,
}

/// Moves the report of an earlier run out of the way.
pub(crate) fn put_aside(disk: &dyn Disk, id: TaskId) {
    let folder = companion(Status::InProgress, id);
    // Without a report there is nothing to move; another error shows when the report is read.
    drop(disk.move_to(&format!("{folder}/{REPORT}"), &format!("{folder}/{EARLIER}")));
}

/// The report in the folder of a task: the payload, or a whole message. Text that is not JSON is
/// given on as it is, so that the protocol refuses it and says why.
pub(crate) fn read(disk: &dyn Disk, id: TaskId) -> Option<Value> {
    read_in(disk, &companion(Status::InProgress, id))
}

/// The report in a folder that has the outputs of a task.
pub(crate) fn read_in(disk: &dyn Disk, folder: &str) -> Option<Value> {
    let path = format!("{folder}/{REPORT}");
    // Not through a link: the agent could name any file of the machine. What is no file is not
    // opened, and nothing outside the tree is read.
    disk.stat(&path).ok().flatten().filter(|stat| stat.kind == Kind::File)?;
    let bytes = read_file(disk, &path, MAX_BYTES).ok().flatten()?;
    Some(accord_canon::read(&bytes).unwrap_or_else(|_| Value::Object(Object::new())))
}

/// The message of a report: as it is if it is a whole message, else with the envelope of the run.
pub(crate) fn envelope(tree: &Tree, run: &RunOfAgent, report: Value) -> Value {
    if report.get("protocol").is_some() {
        return run.message(report);
    }
    let mut message = json!({
        "protocol": "aof",
        "version": 1,
        "type": "completion.report",
        "projectId": tree.project(),
        "taskId": run.task.to_string(),
        "fromAgent": run.agent,
        "toAgent": "accord",
        "sentAt": tree.environment().now().to_string(),
    });
    message["payload"] = with_defaults(report);
    run.message(message)
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
pub(crate) fn unreported(last_lines: &str) -> Value {
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

impl RunOfAgent {
    /// Whether a message names another sender. Through its socket an agent cannot send it either.
    pub(crate) fn is_of_another(&self, message: &Value) -> bool {
        let sender = message.get("fromAgent").and_then(Value::as_str);
        sender.is_some_and(|sender| sender != self.agent.as_str())
    }

    /// A message of the agent, with the id of its run if it names none.
    pub(crate) fn message(&self, mut message: Value) -> Value {
        let named = message.get("taskId").and_then(Value::as_str);
        let is_own = named == Some(self.task.to_string().as_str());
        if let (true, Value::Object(members)) = (is_own, &mut message) {
            members.entry("runId").or_insert_with(|| self.run_id.as_str().into());
        }
        message
    }
}
