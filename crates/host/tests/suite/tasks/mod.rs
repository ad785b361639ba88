//! Tasks over HTTP and MCP.

mod access;
mod messages;
mod reading;
mod routes;
mod tools;

use serde_json::{Value, json};

use crate::support::{Answer, Asker};

/// The tasks of the project atlas.
const TASKS: &str = "/accord/v1/projects/atlas/tasks";

/// Where messages are sent.
const MESSAGES: &str = "/accord/v1/projects/atlas/aof/messages";

/// Creates a ready task, and gives its id.
async fn create(asker: &Asker, members: Value) -> String {
    let mut body = json!({"title": "Cut the tiles", "ready": true});
    body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    let answer = asker.post(&format!("{TASKS}?actor=human:lead"), &body).await.expect(201);
    answer["result"]["task"]["id"].as_str().unwrap().to_owned()
}

/// Claims a task for an agent, and gives the answer.
async fn claim(asker: &Asker, task: &str, agent: &str) -> Value {
    let path = format!("{TASKS}/{task}/claim");
    asker.post(&path, &json!({"agent": agent})).await.expect(200)["result"].clone()
}

/// Asks for a verb on a task.
async fn verb(asker: &Asker, task: &str, verb: &str, actor: &str, body: Value) -> Answer {
    asker.post(&format!("{TASKS}/{task}/{verb}?actor={actor}"), &body).await
}

/// The status of a task.
async fn status(asker: &Asker, task: &str) -> String {
    let shown = asker.get(&format!("{TASKS}/{task}")).await.expect(200);
    shown["result"]["task"]["status"].as_str().unwrap().to_owned()
}

/// A message of an agent about a task.
fn message(kind: &str, task: &str, agent: &str, payload: Value) -> Value {
    json!({
        "protocol": "aof",
        "version": 1,
        "type": kind,
        "taskId": task,
        "fromAgent": agent,
        "toAgent": "accord",
        // After every lease of the test.
        "sentAt": "2099-01-01T00:00:00Z",
        "payload": payload,
    })
}

/// The payload of a report.
fn report(outcome: &str) -> Value {
    json!({
        "outcome": outcome,
        "summaryRef": "outputs/summary.md",
        "tests": {"total": 1, "passed": 1, "failed": 0},
        "notes": "Cut at zoom 12.",
    })
}
