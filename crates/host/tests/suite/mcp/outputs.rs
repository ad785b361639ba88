//! Structured content: in every answer to a write, and in no other.

use accord_host::http::local_api;
use accord_host::mcp::CallContext;
use serde_json::{Value, json};

use super::client::Client;
use crate::support::World;

const PACKAGE: &[&str] = &["package_id", "project_id", "status", "content_hash", "created"];
const FACT: &[&str] = &[
    "fact_id",
    "project_id",
    "subject",
    "predicate",
    "value",
    "valid_from",
    "valid_to",
    "created",
];
const MOVED: &[&str] = &["package_id", "project_id", "status", "review_type", "content_hash"];
const STARTED: &[&str] =
    &["session_id", "project_id", "actor_id", "actor_type", "callsign", "started_at"];
const ENDED: &[&str] =
    &["session_id", "project_id", "callsign", "started_at", "ended_at", "package_count"];

/// The members of the receipt of a tool that writes.
fn receipt_of(name: &str) -> Option<&'static [&'static str]> {
    Some(match name.split_once('_').expect("a set").1 {
        "session_start" => STARTED,
        "session_end" => ENDED,
        "deposit" => PACKAGE,
        "fact_assert" | "assert_fact" => FACT,
        "fact_invalidate" | "invalidate_fact" => &["invalidated"],
        "flag" | "review" => MOVED,
        _ => return None,
    })
}

/// Checks what a tool answered.
fn check(name: &str, result: &Value) {
    assert_eq!(result["isError"], false, "{name} {result}");
    let given = &result["structuredContent"];
    match receipt_of(name) {
        None => assert!(given.is_null(), "{name} gives a document in its text: {result}"),
        Some(members) => {
            for member in members {
                assert!(given.get(member).is_some(), "{name} {member} {given}");
            }
            // The text has the same.
            let text = result["content"][0]["text"].as_str().unwrap();
            let mut same = given.clone();
            same.as_object_mut().unwrap().remove("x-note");
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), same);
        }
    }
}

#[tokio::test]
async fn every_answer_is_as_its_tool_declares() {
    let world = World::new();
    for set in ["memory", "relay"] {
        let api = local_api(&world.host);
        let mut client = Client::of(set, api, CallContext::default()).await;
        let tools = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
        let mut seen = Vec::new();
        let (assert, query, end) = match set {
            "memory" => ("memory_fact_assert", "memory_facts", "memory_fact_invalidate"),
            _ => ("relay_assert_fact", "relay_query_facts", "relay_invalidate_fact"),
        };
        let (predicate, value) =
            if set == "memory" { ("predicate", "value") } else { ("relation", "object") };
        let mut calls = vec![
            (format!("{set}_session_start"), json!({"project_id": "atlas", "actor": "agent:ada"})),
            (format!("{set}_deposit"), json!({"title": "T", "status": "draft"})),
            (assert.to_owned(), json!({"subject": "s", predicate: "p", value: "v"})),
            (assert.to_owned(), json!({"subject": "s", predicate: "p", value: "v"})),
            (query.to_owned(), json!({})),
            (end.to_owned(), json!({"subject": "s", predicate: "p"})),
        ];
        calls.extend(match set {
            "memory" => vec![
                ("memory_pull".to_owned(), json!({})),
                ("memory_digest".to_owned(), json!({})),
                ("memory_projects".to_owned(), json!({})),
                ("memory_sessions".to_owned(), json!({})),
                ("memory_flag".to_owned(), json!({"review_type": "agent"})),
                ("memory_review".to_owned(), json!({"action": "approve"})),
                ("memory_revisions".to_owned(), json!({})),
                ("memory_orient".to_owned(), json!({})),
                ("memory_session_end".to_owned(), json!({})),
            ],
            _ => vec![
                ("relay_pull_context".to_owned(), json!({})),
                ("relay_status".to_owned(), json!({})),
                ("relay_orchestrate".to_owned(), json!({})),
                ("relay_session_orient".to_owned(), json!({"format": "json"})),
            ],
        });
        let mut package = Value::Null;
        for (name, mut arguments) in calls {
            if ["memory_flag", "memory_review", "memory_revisions"].contains(&name.as_str()) {
                arguments["package_id"] = package.clone();
            }
            let result = client.call(&name, arguments).await;
            check(&name, &result);
            if name.ends_with("_deposit") {
                package = result["structuredContent"]["package_id"].clone();
            }
            seen.push(name);
        }
        for tool in tools.as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            // Clients show models no output schema, so it would only cost.
            assert!(tool.get("outputSchema").is_none(), "{name}");
            let writes = tool["annotations"]["readOnlyHint"] != true;
            assert_eq!(receipt_of(name).is_some(), writes, "{name}");
            if writes {
                assert!(seen.iter().any(|seen| seen == name), "{name} was not tried");
                let refused = client.call(name, json!({"zebra": 1})).await;
                assert_eq!(refused["isError"], true);
                assert!(refused["structuredContent"]["error"].is_object(), "{refused}");
            }
        }
    }
}
