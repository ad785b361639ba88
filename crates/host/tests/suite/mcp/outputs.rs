//! Output schemas: on tools whose every success has structured content, and on no others.

use accord_host::http::local_api;
use accord_host::mcp::CallContext;
use serde_json::{Value, json};

use super::client::Client;
use crate::support::World;

/// Checks an answer of a tool against what it declares.
fn check(tools: &Value, name: &str, result: &Value) {
    assert_eq!(result["isError"], false, "{name} {result}");
    let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).expect("a tool");
    let Some(schema) = tool.get("outputSchema") else {
        assert!(result.get("structuredContent").is_none(), "{name} declares none: {result}");
        return;
    };
    let given = &result["structuredContent"];
    assert_eq!(schema["type"], "object");
    for required in schema["anyOf"][0]["required"].as_array().unwrap() {
        assert!(given.get(required.as_str().unwrap()).is_some(), "{name} {required} {given}");
    }
    for (member, schema) in schema["properties"].as_object().unwrap() {
        let Some(value) = given.get(member) else {
            continue;
        };
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let allowed = &schema["type"];
        let fits =
            allowed == kind || allowed.as_array().is_some_and(|any| any.contains(&json!(kind)));
        assert!(fits, "{name} {member} {given}");
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
            check(&tools, &name, &result);
            if name.ends_with("_deposit") {
                package = result["structuredContent"]["package_id"].clone();
            }
            seen.push(name);
        }
        for tool in tools.as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let writes = tool["annotations"]["readOnlyHint"] == false;
            assert_eq!(tool.get("outputSchema").is_some(), writes, "{name}");
            if writes {
                assert!(seen.iter().any(|seen| seen == name), "{name} was not tried");
                // Clients check errors, too.
                let refused = client.call(name, json!({"zebra": 1})).await;
                assert_eq!(refused["isError"], true);
                assert!(refused["structuredContent"]["error"].is_object(), "{refused}");
                let schema = &tool["outputSchema"];
                assert_eq!(schema["anyOf"][1], json!({"required": ["error"]}));
                assert_eq!(schema["properties"]["error"], json!({"type": "object"}));
            }
        }
    }
}
