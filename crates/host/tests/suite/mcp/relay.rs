//! The tools of Relay: its names and arguments, on the routes of Accord.

use accord_host::http::local_api;
use accord_host::mcp::CallContext;
use serde_json::{Value, json};

use super::client::{Client, text};
use super::fake::Fake;
use crate::support::World;

/// Relay's tools with their arguments, those that are required first.
const RELAY: &[(&str, &[&str], &[&str])] = &[
    ("relay_session_start", &[], &["project_id", "agent_description"]),
    ("relay_pull_context", &[], &["package_id", "mode", "query"]),
    (
        "relay_deposit",
        &["title"],
        &[
            "description",
            "project_id",
            "decisions",
            "open_questions",
            "handoff_note",
            "status",
            "review_type",
            "auto",
            "topic",
            "artifact_type",
        ],
    ),
    ("relay_status", &[], &["project_id"]),
    ("relay_assert_fact", &["subject", "relation", "object"], &["source_package_id", "project_id"]),
    ("relay_invalidate_fact", &["subject", "relation"], &["object", "project_id"]),
    (
        "relay_query_facts",
        &[],
        &["subject", "relation", "object", "as_of", "include_ended", "limit", "project_id"],
    ),
    (
        "relay_session_orient",
        &[],
        &["project_id", "format", "key_packages", "open_questions", "window_days"],
    ),
    ("relay_orchestrate", &[], &["project_id", "focus", "snippets", "include_archived"]),
];

async fn client(fake: std::sync::Arc<Fake>) -> Client {
    let standing = CallContext { project: Some("p".into()), ..CallContext::default() };
    Client::of("relay", fake, standing).await
}

#[tokio::test]
async fn the_nine_tools_have_relays_names_and_arguments() {
    let mut client = client(Fake::echoing()).await;
    let tools = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let tools = tools.as_array().unwrap();
    assert_eq!(tools.len(), RELAY.len());
    for (tool, (name, required, optional)) in tools.iter().zip(RELAY) {
        assert_eq!(tool["name"], *name);
        let schema = &tool["inputSchema"];
        let properties = schema["properties"].as_object().unwrap();
        for argument in required.iter().chain(*optional) {
            assert!(properties.contains_key(*argument), "{name} {argument}");
        }
        let needed = schema["required"].as_array().cloned().unwrap_or_default();
        assert_eq!(needed, required.iter().map(|name| json!(name)).collect::<Vec<_>>(), "{name}");
        // What it speaks of is there.
        let description = tool["description"].as_str().unwrap();
        for word in description.split(|c: char| !c.is_alphanumeric() && c != '_') {
            let known = RELAY.iter().any(|(name, ..)| *name == word);
            assert!(!word.starts_with("relay_") || known, "{name}: {word}");
            assert!(!word.starts_with("memory_"), "{name}: {word}");
        }
    }
    assert!(!client.welcome["instructions"].as_str().unwrap().contains("memory_"));
}

#[tokio::test]
async fn every_tool_asks_the_route_of_its_memory_tool() {
    let fake = Fake::new(|_| Ok((200, json!({"packages": []}).to_string())));
    let mut client = client(fake.clone()).await;
    for (tool, arguments, method, target) in [
        ("relay_pull_context", json!({}), "GET", "/v1/projects/p/packages?limit=5"),
        ("relay_pull_context", json!({"mode": "next"}), "GET", "/v1/projects/p/packages?limit=20"),
        (
            "relay_pull_context",
            json!({"mode": "relevant", "query": "a b"}),
            "GET",
            "/v1/projects/p/packages?mode=relevant&query=a%20b",
        ),
        ("relay_pull_context", json!({"package_id": "k"}), "GET", "/v1/packages/k"),
        ("relay_status", json!({}), "GET", "/v1/projects/p/packages?limit=10"),
        (
            "relay_assert_fact",
            json!({"subject": "s", "relation": "r", "object": "o"}),
            "POST",
            "/v1/projects/p/facts?if_changed=true",
        ),
        (
            "relay_invalidate_fact",
            json!({"subject": "s", "relation": "r", "object": "o"}),
            "DELETE",
            "/v1/projects/p/facts?subject=s&predicate=r&value=o&actor=agent%3Atest-client",
        ),
        (
            "relay_query_facts",
            json!({"relation": "r", "include_ended": true, "limit": 7}),
            "GET",
            "/v1/projects/p/facts?predicate=r&history=true&limit=7",
        ),
        (
            "relay_session_orient",
            json!({"window_days": 3}),
            "GET",
            "/v1/projects/p/orient?format=briefing&window_days=3",
        ),
        (
            "relay_session_orient",
            json!({"format": "json", "key_packages": 3}),
            "GET",
            "/v1/projects/p/orient?limit=3",
        ),
        ("relay_orchestrate", json!({"focus": "f"}), "GET", "/v1/orchestrate?focus=f&snippets=25"),
        (
            "relay_orchestrate",
            json!({"project_id": "q", "snippets": 2}),
            "GET",
            "/v1/orchestrate?project=q&snippets=2",
        ),
    ] {
        let result = client.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool} {result}");
        let asked = fake.last();
        assert_eq!((asked.method.as_str(), asked.target.as_str()), (method, target), "{tool}");
    }
    for (arguments, field) in
        [(json!({"mode": "specific"}), "package_id"), (json!({"mode": "relevant"}), "query")]
    {
        let error = client.refused("relay_pull_context", arguments).await;
        assert_eq!(error["field"], field, "{error}");
    }
}

#[tokio::test]
async fn a_deposit_is_stored_in_the_words_of_the_protocol() {
    let fake = Fake::echoing();
    let mut client = client(fake.clone()).await;
    client.call("relay_session_start", json!({"agent_description": "A tester"})).await;
    assert_eq!(fake.last().body["x-agent_description"], "A tester");
    for (arguments, members) in [
        (
            json!({"decisions": ["D"], "open_questions": ["Q"], "handoff_note": "H"}),
            json!({
                "decisions_made": ["D"], "open_questions": ["Q"], "handoff_note": "H",
                "status": "complete", "review_type": "none", "package_type": "standard",
            }),
        ),
        (
            json!({"status": "pending_review", "artifact_type": "decision"}),
            json!({
                "status": "awaiting_review", "x-status": "pending_review", "review_type": "human",
                "package_type": "decision",
            }),
        ),
        (
            json!({"status": "blocked", "auto": true, "topic": "cli"}),
            json!({
                "status": "draft", "x-status": "blocked", "package_type": "auto_deposit",
                "topic": "cli",
            }),
        ),
        (json!({"artifact_type": "auto-deposit"}), json!({"package_type": "auto_deposit"})),
        (
            json!({"artifact_type": "diagram", "review_type": "agent"}),
            json!({
                "package_type": "standard", "x-artifact_type": "diagram", "review_type": "agent",
            }),
        ),
    ] {
        let mut arguments = arguments;
        arguments["title"] = "T".into();
        client.call("relay_deposit", arguments).await;
        let body = fake.last().body;
        assert_eq!(body["created_by"]["session_id"], "sess_1");
        for (name, value) in members.as_object().unwrap() {
            assert_eq!(&body[name], value, "{name} {body}");
        }
    }
}

#[tokio::test]
async fn an_agent_of_relay_works_on_a_real_host() {
    let world = World::new();
    let mut client = Client::of("relay", local_api(&world.host), CallContext::default()).await;
    let start = json!({"project_id": "atlas", "agent_description": "A tester"});
    let session = client.call("relay_session_start", start).await["structuredContent"].clone();
    let arguments = json!({
        "title": "Passkeys work", "status": "pending_review", "open_questions": ["Who rotates?"],
        "handoff_note": "Rotate first"
    });
    let receipt = client.call("relay_deposit", arguments).await["structuredContent"].clone();
    let id = receipt["package_id"].as_str().unwrap();
    for object in ["a", "b"] {
        let fact = json!({"subject": "s", "relation": "r", "object": object});
        client.call("relay_assert_fact", fact).await;
    }
    let read = |result: Value| serde_json::from_str::<Value>(text(&result)).unwrap();
    let status = read(client.call("relay_status", json!({})).await);
    let expected = json!({
        "session": session["session_id"], "total_recent_packages": 1, "pending_review": 1,
        "open_questions": 1,
        "packages": [{
            "id": id, "title": "Passkeys work", "status": "awaiting_review",
            "handoff_note": "Rotate first"
        }]
    });
    assert_eq!(status, expected);
    let pulled = read(client.call("relay_pull_context", json!({"package_id": id})).await);
    assert_eq!(pulled["x-status"], "pending_review");
    let found = client.call("relay_pull_context", json!({"query": "passkeys"})).await;
    assert!(text(&found).contains(id));
    let missing = client.call("relay_pull_context", json!({"package_id": "pkg_none"})).await;
    assert_eq!(missing["content"][0]["text"], "null");
    let ended = json!({"include_ended": true, "object": "a"});
    let facts = read(client.call("relay_query_facts", ended).await);
    assert_eq!(facts["facts"].as_array().unwrap().len(), 1, "{facts}");
    let facts = read(client.call("relay_query_facts", json!({"object": "a"})).await);
    assert_eq!(facts["facts"], json!([]));
    // The limit counts what is found, not what is searched.
    let newer = json!({"subject": "other", "relation": "r", "object": "c"});
    client.call("relay_assert_fact", newer).await;
    let facts = read(client.call("relay_query_facts", json!({"object": "b", "limit": 1})).await);
    assert_eq!(facts["facts"][0]["value"], "b", "{facts}");
    for format in [json!({}), json!({"format": "markdown"})] {
        let result = client.call("relay_session_orient", format).await;
        let briefing = text(&result);
        assert!(briefing.starts_with("# Briefing: atlas\n"), "{briefing}");
        // The package waits for its review; the fact has its last value.
        let short = &id["pkg_".len()..][..8];
        for part in ["Passkeys work", short, "Who rotates?", "s r = b", "agent:test-client"] {
            assert!(briefing.contains(part), "no {part} in {briefing}");
        }
    }
    let bundle = json!({"format": "json", "open_questions": 0});
    let bundle = read(client.call("relay_session_orient", bundle).await);
    assert_eq!(bundle["open_questions"], json!([]));
    let digest = client.call("relay_orchestrate", json!({"focus": "passkeys"})).await;
    assert!(text(&digest).contains("Passkeys work"), "{digest}");
}
