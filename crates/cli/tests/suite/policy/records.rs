//! What the records of a decision say about the terminal.

use serde_json::Value;

use super::commands::with_review;
use crate::run_approvals::{approved, waiting};
use crate::task_place::Tasks;
use crate::terminal::at_terminal;

/// The file of a task that is done.
fn file(tasks: &Tasks, id: &str) -> String {
    let path = tasks.root().join(format!("tasks/done/{id}.md"));
    std::fs::read_to_string(path).expect("the file of the task")
}

/// The approval of a task in the events of the tree.
fn event(tasks: &Tasks, id: &str) -> Value {
    let folder = std::fs::read_dir(tasks.root().join("events")).expect("events");
    let texts = folder.map(|entry| {
        let path = entry.expect("an entry").path();
        std::fs::read_to_string(path).expect("text")
    });
    let texts: Vec<String> = texts.collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    let events = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut of_task = events.filter(|event| event["taskId"] == id);
    let approval = of_task.rfind(|event| event["payload"]["door"] == "cli");
    approval.unwrap_or_else(|| panic!("no decision about {id} in {texts:?}"))
}

#[test]
fn an_approval_without_a_terminal_is_recorded_as_such() {
    let tasks = Tasks::new();
    let bare = with_review("Bare", &tasks);
    tasks.yes(&format!("approve {bare} --yes"));
    assert!(file(&tasks, &bare).contains("presence: no terminal"), "{}", file(&tasks, &bare));
    let recorded = event(&tasks, &bare);
    assert_eq!(recorded["payload"]["presence"], "no terminal", "{recorded}");

    let seen = with_review("Seen", &tasks);
    let said = at_terminal(tasks.command(&format!("approve {seen}")), "y\n");
    assert_eq!(said.code, 0, "{}", said.shown);
    assert!(!file(&tasks, &seen).contains("presence"), "{}", file(&tasks, &seen));
    let recorded = event(&tasks, &seen);
    assert_eq!(recorded["payload"].get("presence"), None, "{recorded}");
}

#[test]
fn an_approval_of_a_loop_without_a_terminal_is_recorded_as_such() {
    let place = waiting(|_| {});
    place.run("loop --auto-approve --actor human:lead");
    let record = approved(&place).expect("an approval");
    assert_eq!(
        (record["door"].as_str(), record["actor"].as_str()),
        (Some("loop"), Some("human:lead"))
    );
    assert_eq!(record["presence"], "no terminal", "{record}");
}
