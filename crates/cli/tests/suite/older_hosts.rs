//! The command reads the answers of older hosts: documents are made from a snapshot of the wire
//! contract, and read as the command reads answers.

use accord_api::{Json, Received};
use accord_contract::Failure;
use accord_live_core::operations as live;
use accord_tasks_core::operations as tasks;
use serde_json::{Map, Value, json};

/// Reads the text of an answer.
type Read = fn(String) -> Result<(), Failure>;

macro_rules! answers {
    ($($name:literal in $envelope:ty,)+) => {
        /// The answers that the command reads, by their names in the wire contract.
        const ANSWERS: &[(&str, Read)] = &[$(($name, |text| {
            let received = Received { media_type: Some("application/json".to_owned()), text };
            received.read::<Json<$envelope>>().map(drop)
        })),+];
    };
}

answers! {
    "AofMessageAnswer" in tasks::AofMessageEnvelope,
    "LiveAckAnswer" in live::answer::LiveAckEnvelope,
    "LiveAsksAnswer" in live::questions::LiveAsksEnvelope,
    "LiveAnswersAnswer" in live::questions::LiveAnswersEnvelope,
    "LiveEventsAnswer" in live::watch::LiveEventsEnvelope,
    "LiveSessionAnswer" in live::questions::LiveSessionEnvelope,
    "LiveSessionsAnswer" in live::questions::LiveSessionsEnvelope,
    "TaskAdoptAnswer" in tasks::TaskAdoptEnvelope,
    "TaskAdoptWriterAnswer" in tasks::TaskAdoptWriterEnvelope,
    "TaskAnswer" in tasks::TaskEnvelope,
    "TaskBoardAnswer" in tasks::TaskBoardEnvelope,
    "TaskBriefingAnswer" in tasks::TaskBriefingEnvelope,
    "TaskClaimAnswer" in tasks::TaskClaimEnvelope,
    "TaskClaimNextAnswer" in tasks::TaskClaimNextEnvelope,
    "TaskCreateManyAnswer" in tasks::TaskCreateManyEnvelope,
    "TaskEndRunAnswer" in tasks::TaskEndRunEnvelope,
    "TaskEventsAnswer" in tasks::TaskEventsEnvelope,
    "TaskHeartbeatAnswer" in tasks::TaskHeartbeatEnvelope,
    "TaskInitAnswer" in tasks::TaskInitEnvelope,
    "TaskLintAnswer" in tasks::TaskLintEnvelope,
    "TaskListAnswer" in tasks::TaskListEnvelope,
    "TaskMergeAnswer" in tasks::TaskMergeEnvelope,
    "TaskOutputsAnswer" in tasks::TaskOutputsEnvelope,
    "TaskPollAnswer" in tasks::TaskPollEnvelope,
    "TaskSessionEndAnswer" in tasks::TaskSessionEndEnvelope,
    "TaskShowAnswer" in tasks::TaskShowEnvelope,
    "TaskStagedAnswer" in tasks::TaskStagedEnvelope,
}

fn messages(snapshot: &str) -> Map<String, Value> {
    let path = format!("{}/../../contracts/accord/{snapshot}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(path).expect("the snapshot is there");
    let snapshot: Value = serde_json::from_slice(&text).expect("a snapshot");
    snapshot["messages"].as_object().expect("messages").clone()
}

/// A document of a message, with its required members alone or with all of them.
fn document(fields: &Map<String, Value>, place: &str, is_whole: bool) -> Value {
    let field = &fields[place];
    let below = |name: &str| match place {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    };
    if let Some(names) = field["enum"].as_array() {
        return names[0].clone();
    }
    match field["type"].as_str().expect("a type") {
        "object" => {
            let prefix = below("");
            let members = fields.keys().filter_map(|path| path.strip_prefix(prefix.as_str()));
            let members = members.filter(|name| !name.is_empty() && !name.contains('.'));
            let members =
                members.filter(|name| is_whole || fields[&below(name)]["presence"] == "required");
            let member = |name: &str| (name.to_owned(), document(fields, &below(name), is_whole));
            Value::Object(members.map(member).collect())
        }
        "array" => json!([document(fields, &below("*"), is_whole)]),
        "integer" | "number" => field.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "any" => Value::Null,
        _ if field["semantics"] == "time:iso-8601" => json!("2026-01-01T00:00:00.000Z"),
        // A text that is also the id of a task.
        _ => json!("TASK-2026-01-01-001"),
    }
}

/// What is wrong if the command reads the answers of a snapshot.
fn problems(messages: &Map<String, Value>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, read) in ANSWERS {
        // A host of that version does not have the operation.
        let Some(fields) = messages.get(*name).and_then(Value::as_object) else { continue };
        for is_whole in [false, true] {
            let answer = json!({
                "ok": true,
                "correlationId": "c1",
                "protocol": {"protocol_version": "1.1", "capabilities": []},
                "result": document(fields, "", is_whole),
            });
            if let Err(failure) = read(answer.to_string()) {
                problems.push(format!("{name}: {}", failure.message));
            }
        }
    }
    problems
}

#[test]
fn the_command_reads_what_released_hosts_answer() {
    assert_eq!(problems(&messages("released.json")), [""; 0]);
}

#[test]
fn the_command_reads_what_this_host_answers() {
    let current = messages("current.json");
    assert_eq!(problems(&current), [""; 0]);
    let is_of_operations = |name: &&String| {
        ["Task", "Aof", "Live"].iter().any(|word| name.starts_with(word))
            && name.ends_with("Answer")
    };
    let answers: Vec<&String> = current.keys().filter(is_of_operations).collect();
    let known = |name: &&&String| !ANSWERS.iter().any(|(own, _)| own == **name);
    assert_eq!(answers.iter().find(known), None, "every answer of operations is checked here");
}

#[test]
fn a_member_that_older_hosts_do_not_send_is_noticed() {
    let mut older = messages("current.json");
    let fields = older["TaskShowAnswer"].as_object_mut().expect("members");
    fields.remove("task.created_by").expect("the member");
    let found = problems(&older);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("TaskShowAnswer") && found[0].contains("/result/task/created_by"));
    // One that a later host adds is ignored.
    let mut later = messages("current.json");
    let added = later["TaskShowAnswer"]["outputs_hidden"].clone();
    later["TaskShowAnswer"]["task.added"] = added;
    assert_eq!(problems(&later), [""; 0]);
}
