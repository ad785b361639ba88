//! Cases of one rule.

use accord_contract::{Time, Wire as _};
use accord_tasks_core::Status;
use accord_tasks_core::message::{Detected, Outcome, detect};
use accord_tasks_core::route::completion_path;
use accord_tasks_core::run::Heartbeat;
use accord_tasks_core::task::{LogEntry, TaskFile, with_entry};
use serde_json::{Value, json};

use crate::{Answered, BadCall, Call, Reply};

pub(super) fn detect_input(call: &Call) -> Answered {
    let outcome = match detect(call.value("input")?) {
        Detected::Other => json!({"kind": "other"}),
        Detected::Message(message) => {
            json!({"kind": "message", "type": message.envelope.kind.as_str()})
        }
        Detected::Unknown { kind, .. } => json!({"kind": "unknown", "type": kind}),
        Detected::Rejected(rejection) => {
            json!({"kind": "rejected", "reason": rejection.reason.as_str()})
        }
    };
    ok(outcome)
}

/// The statuses that an outcome leads to.
pub(super) fn completion_transitions(call: &Call) -> Answered {
    let members = json!({
        "schemaVersion": 1,
        "id": TASK,
        "title": "A task",
        "status": call.text("status")?,
        "createdAt": EARLIER,
        "updatedAt": EARLIER,
        "lastTransitionAt": EARLIER,
        "createdBy": "conformance",
        "metadata": call.value("metadata")?,
    });
    let Value::Object(members) = members else {
        return Err(BadCall::kind("metadata", "an object"));
    };
    let file = TaskFile::write(members, "").map_err(BadCall::from_error)?;
    let outcome = Outcome::parse(call.text("outcome")?);
    let outcome = outcome.ok_or_else(|| BadCall::kind("outcome", "an outcome"))?;
    let path = completion_path(file.task(), outcome);
    let path: Vec<&str> = path.iter().map(|status| status.as_str()).collect();
    ok(json!({"transitions": path}))
}

pub(super) fn status_transition(call: &Call) -> Answered {
    let (from, to) = (status(call, "from")?, status(call, "to")?);
    ok(json!({"valid": from.can_become(to)}))
}

pub(super) fn status_transitions(call: &Call) -> Answered {
    let from = status(call, "from")?;
    let following = Status::ALL.iter().filter(|to| from.can_become(**to));
    let following: Vec<&str> = following.map(|status| status.as_str()).collect();
    ok(json!({"to": following}))
}

/// The line that a status update adds to the work log.
pub(super) fn work_log_entry(call: &Call) -> Answered {
    let blockers = call.optional_texts("blockers")?;
    let entry = LogEntry {
        progress: call.optional_text("progress")?,
        notes: call.optional_text("notes")?,
        blockers: &blockers,
    };
    let body = with_entry("", &entry, time(call, "at")?);
    let line = body.as_deref().and_then(|body| body.trim_end().lines().last());
    ok(json!({"line": line}))
}

pub(super) fn is_stale(call: &Call) -> Answered {
    let heartbeat = Heartbeat::from_document(json!({
        "taskId": TASK,
        "agentId": "conformance",
        "lastHeartbeat": EARLIER,
        "expiresAt": call.text("expiresAt")?,
    }));
    let heartbeat = heartbeat.map_err(BadCall::from_error)?;
    ok(json!({"stale": heartbeat.is_expired(time(call, "now")?)}))
}

fn status(call: &Call, name: &str) -> Result<Status, BadCall> {
    Status::parse(call.text(name)?).ok_or_else(|| BadCall::kind(name, "a status"))
}

fn time(call: &Call, name: &str) -> Result<Time, BadCall> {
    Time::parse_rfc3339(call.text(name)?).ok_or_else(|| BadCall::kind(name, "a time"))
}

fn ok(members: Value) -> Answered {
    Ok(Reply::ok(members))
}

const TASK: &str = "TASK-2026-02-09-057";
const EARLIER: &str = "2026-02-09T20:00:00.000Z";
