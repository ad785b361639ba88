//! Large trees, written as another tool would write them.

use std::fs;
use std::path::Path;

use accord_tasks::layout::{COMPANIONS, companion, task_file};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{Status, TaskId};
use serde_json::{Value, json};

/// How many tasks have the same date.
const A_DAY: usize = 250;

/// A tree of which 85 in 100 tasks are done. The others are in every status; half of those that are
/// ready have no agent, and come first.
pub(crate) fn tree(folder: &Path, count: usize) {
    for number in 0..count {
        let (status, agent) = match number % 100 {
            0..85 => (Status::Done, Some("dev")),
            85..87 => (Status::Ready, None),
            87..90 => (Status::Ready, Some("dev")),
            90..93 => (Status::Backlog, Some("dev")),
            93..95 => (Status::InProgress, Some("dev")),
            95..97 => (Status::Blocked, Some("dev")),
            97..99 => (Status::Review, Some("dev")),
            _ => (Status::Cancelled, None),
        };
        task(folder, number, status, agent);
    }
}

/// Tasks of a seeded tree that are ready and have an agent.
pub(crate) fn ready() -> impl Iterator<Item = TaskId> {
    (0..).step_by(100).map(|hundred| id_of(hundred + 87))
}

fn id_of(number: usize) -> TaskId {
    let (day, serial) = (number / A_DAY, number % A_DAY + 1);
    let (year, month) = (2020 + day / 336, day / 28 % 12 + 1);
    let text = format!("TASK-{year}-{month:02}-{:02}-{serial:03}", day % 28 + 1);
    TaskId::parse(&text).expect("an id")
}

/// A task, by its number.
pub(crate) fn task(folder: &Path, number: usize, status: Status, agent: Option<&str>) {
    let id = id_of(number);
    let now = accord_system::now();
    let until = now.add_seconds(86_400);
    // What is in the backlog waits for the next task, which is ready or in progress.
    let needed: Vec<String> = match status {
        Status::Backlog => vec![id_of(number - 4).to_string()],
        _ => Vec::new(),
    };
    let priority = if agent.is_none() { "critical" } else { "normal" };
    let routing = match agent {
        Some(agent) => json!({"agent": agent, "tags": []}),
        None => json!({"tags": []}),
    };
    let members = json!({
        "schemaVersion": 1,
        "id": id.to_string(),
        "project": "shop",
        "title": format!("Task number {number}"),
        "status": status.as_str(),
        "priority": priority,
        "routing": routing,
        "createdAt": now.to_string(),
        "updatedAt": now.to_string(),
        "lastTransitionAt": now.to_string(),
        "createdBy": "human:reviewer",
        "dependsOn": needed,
        "metadata": {},
    });
    let Value::Object(mut members) = members else { return };
    if status == Status::InProgress {
        let lease = json!({
            "agent": "dev",
            "acquiredAt": now.to_string(),
            "expiresAt": until.to_string(),
            "renewCount": 0,
        });
        members.insert("lease".into(), lease);
    }
    let body = "## Instructions\n\nDo what the title says.\n\n## Guidance\n\nKeep it small.";
    let file = TaskFile::write(members, body).expect("a task");
    for name in COMPANIONS {
        let path = folder.join(companion(status, id)).join(name);
        fs::create_dir_all(path).expect("a folder");
    }
    fs::write(folder.join(task_file(status, id)), file.text()).expect("a file");
}
