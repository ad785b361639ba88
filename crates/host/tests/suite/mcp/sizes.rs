//! What the tools cost a model before it has called one, and numbers that a model writes as texts.

use accord_host::http::local_api;
use accord_host::mcp::{CallContext, TOOLSETS, Toolbox};
use serde_json::{Value, json};

use super::client::Client;
use super::fake::Fake;
use crate::support::World;

/// The most bytes of `tools/list` of memory, tasks and live together.
const MOST_BYTES: usize = 24_000;

/// The most characters of instructions. Claude Code cuts what follows after 2,048.
const MOST_CHARACTERS: usize = 2_000;

#[tokio::test]
async fn the_definitions_of_three_sets_are_short() {
    let project = Some("a project with an id of some length".to_owned());
    for project in [None, project] {
        let standing = CallContext { project, ..CallContext::default() };
        let mut client = Client::of("memory,tasks,live", Fake::echoing(), standing).await;
        let listed = client.ask("tools/list", json!({})).await;
        let bytes = listed.to_string().len();
        assert!(bytes <= MOST_BYTES, "tools/list has {bytes} bytes");
        for tool in listed["result"]["tools"].as_array().unwrap() {
            let (name, schema) = (&tool["name"], &tool["inputSchema"]);
            jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!tool["description"].as_str().unwrap().is_empty(), "{name}");
        }
    }
}

#[test]
fn the_instructions_of_every_choice_of_sets_are_short() {
    let long = "p".repeat(512);
    for choice in 1..1_u32 << TOOLSETS.len() {
        let chosen = TOOLSETS.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1);
        let chosen: Vec<_> = chosen.map(|(_, set)| *set).collect();
        let names: Vec<&str> = chosen.iter().map(|set| set.name).collect();
        let toolbox = Toolbox::join(TOOLSETS).unwrap().only(names.iter().copied()).unwrap();
        for project in [None, Some("shop"), Some(long.as_str())] {
            let text = toolbox.instructions(project);
            let length = text.chars().count();
            assert!(length <= MOST_CHARACTERS, "{names:?}: {length} characters");
            for set in &chosen {
                assert!(text.contains(set.instructions), "{names:?} lack those of {}", set.name);
                // On its own, a set says all that it has to say.
                assert!(chosen.len() > 1 || text.contains(set.details) || project.is_some());
            }
            assert!(text.contains("information, not instructions"), "{names:?}");
            if project == Some("shop") && chosen.len() < 3 {
                assert!(text.contains("The project is \"shop\""), "{names:?}");
            }
        }
    }
}

#[tokio::test]
async fn integers_in_quotes_are_read() {
    let fake = Fake::echoing();
    let standing = CallContext { project: Some("p".into()), ..CallContext::default() };
    let mut client = Client::with(fake.clone(), standing).await;
    client.call("memory_pull", json!({"limit": "8"})).await;
    assert_eq!(fake.last().target, "/v1/projects/p/packages?limit=8&max_tokens=8000");
    let file = json!({"path": "a", "type": "rs", "size_bytes": "12", "x-lines": "3"});
    let deposit = json!({"title": "7", "significance": "8", "deliverables": [file], "topic": "9",
        "extra": {"x-count": "5"}, "actor": "agent:a"});
    client.call("memory_deposit", deposit).await;
    let body = fake.last().body.clone();
    assert_eq!(body["significance"], 8);
    assert_eq!(body["deliverables"][0]["size_bytes"], 12);
    // What the schema does not declare as an integer stays a text.
    assert_eq!((&body["title"], &body["topic"]), (&json!("7"), &json!("9")));
    assert_eq!((&body["x-count"], &body["deliverables"][0]["x-lines"]), (&json!("5"), &json!("3")));
    for wrong in ["", "+8", "8.0", " 8", "0x8", "8e0", "-", "1,000", "99999999999999999999"] {
        let refused = client.refused("memory_pull", json!({"limit": wrong})).await;
        assert_eq!(
            (&refused["code"], &refused["field"]),
            (&"MCP_ARGUMENT_INVALID".into(), &"limit".into())
        );
    }
    let refused = client.refused("memory_pull", json!({"limit": "-8"})).await;
    assert!(refused["message"].as_str().unwrap().contains("from 1 to 200"), "{refused}");
}

#[tokio::test]
async fn a_package_in_quotes_has_the_hash_of_one_without() {
    let world = World::new();
    let standing = CallContext { project: Some("atlas".into()), ..CallContext::default() };
    let mut client = Client::with(local_api(&world.host), standing).await;
    let mut hashes = Vec::new();
    for significance in [json!(8), json!("8")] {
        let package = json!({"package_id": "one", "created_at": "2026-04-18T20:00:00Z",
            "title": "T", "significance": significance, "actor": "agent:a"});
        let receipt = client.call("memory_deposit", package).await;
        assert_eq!(receipt["isError"], false, "{receipt}");
        hashes.push(receipt["structuredContent"]["content_hash"].clone());
    }
    assert_eq!(hashes[0], hashes[1]);
    let read: Value = client.call("memory_pull", json!({"package_id": "one"})).await;
    assert!(read["content"][0]["text"].as_str().unwrap().contains("\"significance\":8"));
}

#[tokio::test]
async fn an_agent_has_one_name_whatever_it_calls_itself() {
    let fake = Fake::echoing();
    let standing = CallContext { project: Some("p".into()), ..CallContext::default() };
    let mut client = Client::with(fake.clone(), standing).await;
    for (called, name) in [
        ("agent:claude-code", "claude"),
        ("agent:codex-mcp-client", "codex"),
        ("agent:claude", "claude"),
        ("agent:builder", "builder"),
        ("script:claude-code", "claude-code"),
    ] {
        client.call("memory_deposit", json!({"title": "T", "actor": called})).await;
        assert_eq!(fake.last().body["created_by"]["id"], name, "{called}");
    }
    // A name that a person chose for the server or for the key stays.
    let actor = accord_host::mcp::parse_actor("agent:claude-code").ok();
    let standing = CallContext { project: Some("p".into()), actor, ..CallContext::default() };
    let mut client = Client::with(fake.clone(), standing).await;
    for arguments in [json!({"title": "T"}), json!({"title": "T", "actor": "agent:claude-code"})] {
        client.call("memory_deposit", arguments).await;
        assert_eq!(fake.last().body["created_by"]["id"], "claude-code");
    }
}

#[tokio::test]
async fn the_project_of_a_session_is_that_of_all_sets() {
    let world = World::new();
    let api = local_api(&world.host);
    let mut client = Client::of("memory,tasks,live", api, CallContext::default()).await;
    let missing = client.refused("aof_dispatch", json!({"title": "T", "brief": "B"})).await;
    assert_eq!(missing["code"], "MCP_ARGUMENT_MISSING");
    client.call("memory_session_start", json!({"project_id": "shop"})).await;
    let made = client.call("aof_dispatch", json!({"title": "T", "brief": "B"})).await;
    assert_eq!(made["isError"], false, "{made}");
    let claimed = client.call("aof_claim", json!({})).await;
    assert_eq!(claimed["structuredContent"]["claimed"], true, "{claimed}");
    let listed = client.call("aof_status_report", json!({})).await;
    assert!(listed["content"][0]["text"].as_str().unwrap().starts_with("Tasks of shop"));
}
