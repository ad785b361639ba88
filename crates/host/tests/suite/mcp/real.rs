//! The tools and the endpoints of a real host.

use accord_base::{Caller, KeyScope, Verb, tokens};
use accord_host::Api;
use accord_host::http::{api_as, local_api};
use axum::body::Body;
use hyper::Request;
use serde_json::{Value, json};

use super::client::{Client, initialize, text};
use crate::support::{World, actor_key, package_with};

#[tokio::test]
async fn a_day_of_work() {
    let world = World::new();
    let mut client = Client::begin(local_api(&world.host)).await;
    let arguments = json!({"project_id": "atlas", "actor": "agent:ada"});
    let session = client.call("memory_session_start", arguments).await["structuredContent"].clone();
    assert_eq!(session["actor_id"], "ada");

    let fact = json!({"subject": "service:billing", "predicate": "version", "value": "2"});
    let asserted = client.call("memory_fact_assert", fact.clone()).await;
    assert_eq!(asserted["structuredContent"]["created"], true);
    let again = client.call("memory_fact_assert", fact).await;
    assert_eq!(again["structuredContent"]["created"], false);

    let arguments =
        json!({"title": "Passkeys work", "open_questions": ["Who rotates?"], "extra": {"x-n": 1}});
    let receipt = client.call("memory_deposit", arguments).await["structuredContent"].clone();
    let id = receipt["package_id"].as_str().unwrap();
    let pulled = client.call("memory_pull", json!({"package_id": id})).await;
    let pulled: Value = serde_json::from_str(text(&pulled)).unwrap();
    assert_eq!(pulled["content_hash"], receipt["content_hash"]);
    let by = json!({"id": "ada", "type": "agent", "session_id": session["session_id"]});
    assert_eq!((&pulled["created_by"], &pulled["x-n"]), (&by, &json!(1)));
    let found = client.call("memory_pull", json!({"query": "passkey"})).await;
    assert!(text(&found).contains(id));

    let briefed = client.call("memory_orient", json!({})).await;
    let briefed = text(&briefed);
    assert!(briefed.starts_with("# Briefing: atlas\n"), "{briefed}");
    let short = &id["pkg_".len()..][..8];
    for part in ["Who rotates?", "service:billing version = 2", "Passkeys work", short, "agent:ada"]
    {
        assert!(briefed.contains(part), "no {part} in {briefed}");
    }
    let oriented = client.call("memory_orient", json!({"format": "bundle"})).await;
    let oriented: Value = serde_json::from_str(text(&oriented)).unwrap();
    assert_eq!(oriented["open_questions"], json!(["Who rotates?"]));
    assert_eq!(oriented["active_facts"][0]["value"], "2");
    assert_eq!(oriented["recent_packages"][0]["package_id"], id);

    let arguments = json!({"title": "A plan", "status": "awaiting_review"});
    let plan =
        client.call("memory_deposit", arguments).await["structuredContent"]["package_id"].clone();
    let waiting = client.call("memory_pull", json!({"status": "awaiting_review"})).await;
    assert!(text(&waiting).contains(plan.as_str().unwrap()));
    for (action, status) in [
        ("request_changes", "revision_requested"),
        ("resubmit", "awaiting_review"),
        ("approve", "complete"),
    ] {
        let arguments = json!({"package_id": plan, "action": action, "note": action});
        let moved = client.call("memory_review", arguments).await;
        assert_eq!(moved["structuredContent"]["status"], status, "{moved}");
    }
    let revisions = client.call("memory_revisions", json!({"package_id": plan})).await;
    assert!(text(&revisions).contains("\"note\":\"request_changes\""));
    let error =
        client.refused("memory_flag", json!({"package_id": plan, "review_type": "human"})).await;
    assert_eq!(error["code"], "invalid_transition");

    let ended = client.call("memory_session_end", json!({})).await["structuredContent"].clone();
    assert_eq!(ended["package_count"], 2);
    let digest =
        client.call("memory_digest", json!({"all_projects": true, "focus": "passkeys"})).await;
    assert!(text(&digest).contains("Passkeys work"));
}

#[tokio::test]
async fn a_call_that_creates_a_project_says_so() {
    let world = World::new();
    let mut client = Client::begin(local_api(&world.host)).await;
    let fact = |project: &str| {
        json!({
            "project_id": project, "subject": "s", "predicate": "p", "value": "v",
            "actor": "agent:builder"
        })
    };
    for (tool, arguments) in [
        ("memory_session_start", json!({"project_id": "one", "actor": "agent:builder"})),
        ("memory_deposit", json!({"project_id": "two", "title": "T"})),
        ("memory_fact_assert", fact("a/ü")),
    ] {
        let project = arguments["project_id"].as_str().unwrap().to_owned();
        let result = client.call(tool, arguments.clone()).await;
        assert_eq!(result["isError"], false, "{result}");
        let note = result["content"][1]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
        assert!(note.starts_with(&format!("The project {project:?} is new")), "{note}");
        // The text of the receipt is as it always is. The structured content has the note, too.
        let mut receipt = result["structuredContent"].clone();
        assert_eq!(receipt.as_object_mut().unwrap().remove("x-note"), Some(note.into()));
        assert_eq!(result["content"][0]["text"], receipt.to_string());
        let again = client.call(tool, arguments).await;
        assert_eq!(again["content"].as_array().unwrap().len(), 1, "{again}");
    }
}

#[tokio::test]
async fn an_orientation_of_a_real_project_keeps_within_every_budget() {
    let world = World::new();
    let owner = world.owner();
    for number in 0..25 {
        let members = json!({
            "created_at": accord_contract::time::Timestamp::emit(now()).as_str(),
            "content_md": "é".repeat(700),
            "open_questions": [format!("What about {number}?")]
        });
        owner.deposit(&package_with(&format!("p{number}"), members)).await;
        let fact =
            json!({"subject": format!("s{number}"), "predicate": "is", "value": "x".repeat(100)});
        owner.post("/v1/projects/atlas/facts", &fact).await.expect(201);
    }
    let mut client = Client::begin(local_api(&world.host)).await;
    let mut seen = Vec::new();
    for budget in [300, 500, 1_000, 1_999, 2_000, 2_001, 4_000, 8_000, 20_000, 100_000] {
        let arguments = json!({"project_id": "atlas", "max_tokens": budget});
        let result = client.call("memory_orient", arguments.clone()).await;
        assert!(tokens(text(&result)) <= budget, "{result}");
        let mut arguments = arguments;
        arguments["format"] = "bundle".into();
        let result = client.call("memory_orient", arguments).await;
        if result["isError"] == true {
            assert_eq!(result["structuredContent"]["error"]["code"], "invalid_schema");
            assert!(budget < 2_000, "{budget} is enough for a bundle");
            continue;
        }
        let text = text(&result);
        assert!(tokens(text) <= budget, "{} tokens within {budget}", tokens(text));
        let bundle: Value = serde_json::from_str(text).unwrap();
        seen.push(bundle["recent_packages"].as_array().unwrap().len());
    }
    assert!(seen.is_sorted() && seen.ends_with(&[20]), "{seen:?}");
}

#[tokio::test]
async fn the_doors_of_a_host_know_who_asks() {
    let world = World::new();
    let scope = KeyScope::new(vec![Verb::Read], None).bound_to(actor_key("ada"), false);
    let reader = api_as(&world.host, Caller::key("reader", &scope));
    let other = api_as(&world.host, Caller::key("other", &scope));
    let (status, session, welcome) = say(&*reader, None, "initialize", initialize()).await;
    assert_eq!((status, &welcome["result"]["serverInfo"]["name"]), (200, &json!("accord")));
    let session = session.unwrap();

    let deposit =
        json!({"name": "memory_deposit", "arguments": {"title": "T", "project_id": "atlas"}});
    let (_, _, answer) = say(&*reader, Some(&session), "tools/call", deposit.clone()).await;
    let error = &answer["result"]["structuredContent"]["error"];
    assert_eq!(error["code"], "unauthorized", "{answer}");
    // The session of one key is not there for another, nor for the owner of the folder.
    for stranger in [other, local_api(&world.host)] {
        let (status, _, refusal) =
            say(&*stranger, Some(&session), "tools/call", deposit.clone()).await;
        assert_eq!((status, &refusal["error"]["code"]), (404, &json!("MCP_SESSION_UNKNOWN")));
        assert_eq!(refusal["ok"], false);
    }
    // A refusal that is a message of MCP stays one.
    let mut modern = message(None, "server/discover", json!({}));
    modern.headers_mut().insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
    let response = reader.call(modern).await.unwrap();
    assert_eq!(response.status(), 400);
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["jsonrpc"], "2.0");
    world.host.streams().close();
}

async fn say(
    api: &dyn Api,
    session: Option<&str>,
    method: &str,
    params: Value,
) -> (u16, Option<String>, Value) {
    let response = api.call(message(session, method, params)).await.unwrap();
    let session = response.headers().get("mcp-session-id");
    let session = session.map(|id| id.to_str().unwrap().to_owned());
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let body = String::from_utf8(body.into()).unwrap();
    let mut events = body.lines().filter_map(|line| line.strip_prefix("data:"));
    let event = events.find_map(|line| serde_json::from_str(line).ok());
    let message = event.or(serde_json::from_str(&body).ok());
    (status, session, message.unwrap_or(Value::Null))
}

fn message(session: Option<&str>, method: &str, params: Value) -> Request<Body> {
    let mut request = Request::builder()
        .method("POST")
        .uri("/mcp/memory")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    request.body(message.to_string().into()).unwrap()
}

fn now() -> accord_contract::time::Time {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    accord_contract::time::Time::from_unix_millis(i64::try_from(since.as_millis()).unwrap())
}

#[tokio::test]
async fn a_model_reads_what_a_reviewer_wrote_beside_the_package() {
    let world = World::new();
    let owner = world.owner();
    let members = json!({"status": "awaiting_review", "review_type": "human"});
    owner.deposit(&package_with("plan", members)).await;
    let review = json!({"outcome": "revision_requested", "note": "Name the tables",
        "actor": {"id": "lead", "type": "human"}});
    owner.post("/v1/packages/plan/review", &review).await.expect(200);
    let mut client = Client::begin(local_api(&world.host)).await;
    let pulled = client.call("memory_pull", json!({"package_id": "plan"})).await;
    let whole = pulled["content"].to_string();
    let expected = "(then revision_requested): Name the tables";
    assert!(whole.contains("Review by human:lead at") && whole.contains(expected), "{whole}");
    let package = pulled["content"][0]["text"].as_str().unwrap();
    assert!(!package.contains("Name the tables"), "not in the package: {pulled}");
    let list = client.call("memory_pull", json!({"project_id": "atlas"})).await;
    let list: Value = serde_json::from_str(text(&list)).unwrap();
    assert_eq!(list["x-reviews"]["plan"]["note"], "Name the tables", "{list}");
}
