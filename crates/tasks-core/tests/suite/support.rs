//! Tasks and messages for tests.

use accord_contract::{Object, Time, Value};
use accord_tasks_core::TaskId;
use accord_tasks_core::message::{Detected, Message, detect};
use accord_tasks_core::route::{Facts, Refused, Routed, Rules, route};
use accord_tasks_core::run::{Run, RunResult};
use accord_tasks_core::task::TaskFile;
use serde_json::json;

/// The task of most tests.
pub(crate) const TASK: &str = "TASK-2026-02-09-057";
/// The agent that has it.
pub(crate) const AGENT: &str = "swe-backend";
/// The run in which the agent has it.
pub(crate) const RUN: &str = "run_1";

/// The time of the tests: 2026-02-09T21:00:00Z and so many seconds.
pub(crate) fn at(seconds: i64) -> Time {
    Time::parse_rfc3339("2026-02-09T21:00:00Z").unwrap().add_seconds(seconds)
}

/// The members of a task, with those of `about` over them.
pub(crate) fn members(id: &str, status: &str, about: Value) -> Object {
    let mut members = json!({
        "schemaVersion": 1,
        "id": id,
        "project": "shop",
        "title": "Ship it",
        "status": status,
        "priority": "normal",
        "routing": {"tags": []},
        "createdAt": at(-60).to_string(),
        "updatedAt": at(-60).to_string(),
        "lastTransitionAt": at(-60).to_string(),
        "createdBy": "human:reviewer",
        "dependsOn": [],
        "metadata": {},
    });
    let members = members.as_object_mut().unwrap();
    for (name, value) in about.as_object().unwrap() {
        members.insert(name.clone(), value.clone());
    }
    members.clone()
}

/// A task.
pub(crate) fn task(id: &str, status: &str, about: Value) -> TaskFile {
    TaskFile::write(members(id, status, about), "## Instructions\n\nShip it.").unwrap()
}

/// A task in progress, with the lease of [`AGENT`].
pub(crate) fn leased(about: Value) -> TaskFile {
    let mut about = about;
    about["lease"] = json!({
        "agent": AGENT,
        "acquiredAt": at(-30).to_string(),
        "expiresAt": at(570).to_string(),
        "renewCount": 0,
    });
    task(TASK, "in-progress", about)
}

/// The run of [`leased`].
pub(crate) fn run() -> Run {
    Run::begin(TaskId::parse(TASK).unwrap(), AGENT, RUN, at(-30))
}

/// A message.
pub(crate) fn message(kind: &str, id: &str, sender: &str, payload: Value) -> Message {
    let envelope = json!({
        "protocol": "aof",
        "version": 1,
        "type": kind,
        "taskId": id,
        "fromAgent": sender,
        "toAgent": "dispatcher",
        "sentAt": at(0).to_string(),
        "payload": payload,
    });
    match detect(&envelope) {
        Detected::Message(message) => *message,
        other => panic!("{other:?}"),
    }
}

/// A report of [`AGENT`] on [`TASK`].
pub(crate) fn report(outcome: &str) -> Message {
    let payload = json!({
        "outcome": outcome,
        "summaryRef": "outputs/summary.md",
        "deliverables": ["src/api.ts"],
        "tests": {"total": 2, "passed": 2, "failed": 0},
        "blockers": if outcome == "blocked" { json!(["no key", "no database"]) } else { json!([]) },
        "notes": "All done.",
    });
    message("completion.report", TASK, AGENT, payload)
}

/// What is known of a task without a run.
pub(crate) fn known(file: &TaskFile) -> Facts<'_> {
    Facts {
        task: Some(file),
        parent: None,
        run: None,
        result: None,
        parent_run: None,
        has_summary: true,
        grant: None,
    }
}

/// Routes a message about a task with the run of [`run`].
pub(crate) fn routed(file: &TaskFile, message: &Message, rules: Rules) -> Result<Routed, Refused> {
    let run = run();
    route(message, &Facts { run: Some(&run), ..known(file) }, rules, at(1))
}

/// The task after what a message does.
pub(crate) fn after(file: &TaskFile, routed: &Routed) -> TaskFile {
    let mut file = file.clone();
    file.edit(&routed.changes).unwrap();
    if let Some(body) = &routed.body {
        file.set_body(body);
    }
    // What is written is read again.
    assert_eq!(TaskFile::read(&file.text()).unwrap(), file);
    file
}

/// The events, as types with payloads.
pub(crate) fn events(routed: &Routed) -> Vec<String> {
    routed.events.iter().map(shown).collect()
}

/// The events of a refusal.
pub(crate) fn refused(refused: &Refused) -> Vec<String> {
    refused.events.iter().map(shown).collect()
}

fn shown(event: &accord_tasks_core::event::TaskEvent) -> String {
    format!("{} {} {}", event.kind, event.actor, Value::Object(event.payload.clone()))
}

/// The result that a message makes.
pub(crate) fn result(routed: &Routed) -> Option<RunResult> {
    routed.artifacts.iter().find_map(|artifact| match artifact {
        accord_tasks_core::route::Artifact::Result(result) => Some(result.clone()),
        _ => None,
    })
}
