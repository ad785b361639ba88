//! What is done although it is odd, with a word about it; and who is named for what was done.

use accord_base::{KeyScope, Verb};
use accord_host::http::local_api;
use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper::Request;
use serde_json::{Value, json};

use crate::mcp::client::{Client, text};
use crate::support::{Asker, World, package_with, soon};

async fn waiting(owner: &Asker, id: &str, reviewer: &str) {
    let members = json!({"status": "awaiting_review", "review_type": reviewer});
    owner.deposit(&package_with(id, members)).await;
}

#[tokio::test]
async fn a_review_that_was_asked_of_a_person_and_ended_by_another_is_done_with_a_warning() {
    let world = World::new();
    let owner = world.owner();
    let end = async |id: &str, actor: Value| {
        let body = json!({"outcome": "complete", "actor": actor});
        owner.post(&format!("/v1/packages/{id}/review"), &body).await.expect(200)
    };
    for (id, reviewer, kind, warned) in [
        ("one", "human", "agent", true),
        ("two", "human", "script", true),
        ("three", "human", "human", false),
        ("four", "agent", "agent", false),
    ] {
        waiting(&owner, id, reviewer).await;
        let moved = end(id, json!({"id": "ada", "type": kind})).await;
        assert_eq!(moved["status"], "complete");
        let code = &moved["warnings"][0]["code"];
        assert_eq!(code == "human_review_ended_by_machine", warned, "{moved}");
        let kept = owner.get(&format!("/v1/packages/{id}")).await.expect(200);
        assert_eq!(kept.get("warnings"), None, "a warning is no part of a package");
    }
    // The verb of the key is what keeps agents from it.
    waiting(&owner, "five", "human").await;
    let writer = world.key(&KeyScope::new(vec![Verb::Read, Verb::Write], None));
    let body = json!({"outcome": "complete"});
    writer.post("/v1/packages/five/review", &body).await.refused(403, "unauthorized");
}

#[tokio::test]
async fn a_deposit_of_a_session_that_is_not_there_is_taken_with_a_warning() {
    let world = World::new();
    let owner = world.owner();
    let by = |session: &str| {
        json!({
            "created_by": {"id": "ada", "type": "agent", "session_id": session}
        })
    };
    let deposited = owner.deposit(&package_with("one", by("nowhere"))).await;
    assert_eq!(deposited["warnings"][0]["code"], "unknown_session", "{deposited}");
    assert_eq!(deposited["warnings"][0]["field"], "created_by");
    let session = json!({"actor_id": "ada", "actor_type": "agent"});
    let session = owner.post("/v1/projects/atlas/sessions", &session).await.expect(201);
    let known = by(session["session_id"].as_str().unwrap());
    let deposited = owner.deposit(&package_with("two", known)).await;
    assert_eq!(deposited.get("warnings"), None, "{deposited}");
}

#[tokio::test]
async fn the_event_names_the_actor_that_ended_a_fact() {
    let world = World::new();
    let owner = world.owner();
    let facts = "/v1/projects/atlas/facts";
    let gone = format!("{facts}?subject=api&predicate=version");
    let assert = async || {
        let fact = json!({"subject": "api", "predicate": "version", "value": "2"});
        owner.post(facts, &fact).await.expect(201);
    };
    assert().await;
    owner.delete(&format!("{gone}&actor=planner")).await.refused(400, "invalid_schema");
    owner.delete(&format!("{gone}&session_id=s")).await.refused(400, "invalid_schema");
    let ada = world.key_of("ada");
    ada.delete(&format!("{gone}&actor=agent:bob")).await.refused(403, "unauthorized");
    let ended = owner.delete(&format!("{gone}&actor=agent:planner&session_id=s1")).await;
    assert_eq!(ended.expect(200)["invalidated"], 1);
    assert().await;
    ada.delete(&gone).await.expect(200);
    let request = Request::get("/v1/projects/atlas/events?after=0").body(Body::empty());
    let answer = local_api(&world.host).call(request.unwrap()).await.unwrap();
    let (mut body, mut heard) = (answer.into_body(), String::new());
    while heard.matches("event: fact.invalidated").count() < 2 || !heard.ends_with("\n\n") {
        let frame = soon("an event", body.frame()).await;
        let piece = frame.unwrap().unwrap().into_data().unwrap();
        heard.push_str(std::str::from_utf8(&piece).unwrap());
    }
    let data = heard.lines().filter_map(|line| line.strip_prefix("data: "));
    let data = data.map(|data| serde_json::from_str::<Value>(data).unwrap());
    let by: Vec<Value> =
        data.filter_map(|event| event["data"].get("invalidated_by").cloned()).collect();
    assert_eq!(
        by,
        [
            json!({"id": "planner", "type": "agent", "session_id": "s1"}),
            json!({"id": "ada", "type": "agent"}),
        ]
    );
}

#[tokio::test]
async fn moves_and_ends_over_mcp_name_the_session() {
    let world = World::new();
    let mut client = Client::begin(local_api(&world.host)).await;
    let begin = json!({"project_id": "atlas", "actor": "agent:ada"});
    let session =
        client.call("memory_session_start", begin).await["structuredContent"]["session_id"].clone();
    let draft = json!({"title": "A plan", "status": "draft"});
    let plan =
        client.call("memory_deposit", draft).await["structuredContent"]["package_id"].clone();
    let flag = json!({"package_id": plan, "review_type": "human"});
    client.call("memory_flag", flag).await;
    let approve = json!({"package_id": plan, "action": "approve"});
    let moved = client.call("memory_review", approve).await;
    let warned = &moved["structuredContent"]["warnings"][0]["code"];
    assert_eq!(warned, "human_review_ended_by_machine", "{moved}");
    let log = client.call("memory_revisions", json!({"package_id": plan})).await;
    let log: Value = serde_json::from_str(text(&log)).unwrap();
    let by = json!({"id": "ada", "type": "agent", "session_id": session});
    let revisions = log["revisions"].as_array().unwrap();
    assert_eq!(revisions.len(), 3);
    assert!(revisions.iter().all(|entry| entry["actor"] == by), "{log}");
}

#[tokio::test]
async fn an_unknown_tool_is_refused_with_the_known_ones() {
    let world = World::new();
    let mut client = Client::begin(local_api(&world.host)).await;
    let answer = client.ask("tools/call", json!({"name": "qqq", "arguments": {}})).await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("The tools are memory_session_start, memory_orient, "), "{message}");
}

#[tokio::test]
async fn the_own_warnings_of_a_document_are_served_as_they_were_sent() {
    let world = World::new();
    let owner = world.owner();
    let once = |text: &str| assert_eq!(text.matches("\"warnings\"").count(), 1, "{text}");
    for (id, own) in [("one", json!(["mine"])), ("two", json!({"a": 1})), ("three", json!(null))] {
        let members = json!({"warnings": own, "parent_package_id": "é nowhere", "status":
            "awaiting_review", "review_type": "human"});
        let deposit = owner.post("/v1/projects/atlas/packages", &package_with(id, members)).await;
        // The header is JSON in ASCII.
        let header = deposit.header("x-accord-warnings").to_owned();
        let warnings: Value = serde_json::from_str(&header).unwrap();
        assert_eq!(warnings[0]["code"], "unknown_package", "{header}");
        assert!(header.is_ascii() && warnings[0]["message"].as_str().unwrap().contains('é'));
        once(&deposit.text);
        assert_eq!(deposit.expect(201)["warnings"], own);
        let machine = json!({"outcome": "complete", "actor": {"id": "ada", "type": "agent"}});
        let review = owner.post(&format!("/v1/packages/{id}/review"), &machine).await;
        assert!(review.header("x-accord-warnings").contains("human_review_ended_by_machine"));
        once(&review.text);
        assert_eq!(review.expect(200)["warnings"], own);
        let read = owner.get(&format!("/v1/packages/{id}")).await;
        once(&read.text);
        assert_eq!(read.expect(200)["warnings"], own);
    }
    let fact = json!({"subject": "s", "predicate": "p", "value": "v", "warnings": ["mine"],
        "source_package_id": "nowhere"});
    let fact = owner.post("/v1/projects/atlas/facts", &fact).await;
    assert!(fact.header("x-accord-warnings").contains("unknown_package"));
    once(&fact.text);
    assert_eq!(fact.expect(201)["warnings"], json!(["mine"]));
}

#[tokio::test]
async fn a_receipt_has_the_warnings_of_accord_alone() {
    let world = World::new();
    let owner = world.owner();
    let members = json!({"warnings": ["mine"], "status": "awaiting_review",
        "review_type": "human"});
    owner.deposit(&package_with("one", members)).await;
    let mut agent = Client::begin(local_api(&world.host)).await;
    let asked = json!({"package_id": "one", "action": "request_changes", "actor": "agent:ada"});
    let receipt = agent.call("memory_review", asked).await["structuredContent"].clone();
    assert_eq!(receipt["warnings"][0]["code"], "human_review_ended_by_machine", "{receipt}");
    let asked = json!({"package_id": "one", "action": "resubmit", "actor": "agent:ada"});
    let receipt = agent.call("memory_review", asked).await["structuredContent"].clone();
    assert_eq!((&receipt["status"], receipt.get("warnings")), (&json!("awaiting_review"), None));
}

#[tokio::test]
async fn a_warning_that_does_not_fit_into_a_header_is_counted() {
    let world = World::new();
    let owner = world.owner();
    let nowhere: Vec<String> = (0..200).map(|number| format!("nowhere {number}")).collect();
    let members = json!({"warnings": 1, "x-supersedes": nowhere});
    let deposit = owner.post("/v1/projects/atlas/packages", &package_with("one", members)).await;
    let header = deposit.header("x-accord-warnings").to_owned();
    assert!(header.len() < 8_000, "{}", header.len());
    let warnings: Value = serde_json::from_str(&header).unwrap();
    let listed = warnings.as_array().unwrap();
    let (last, listed) = listed.split_last().unwrap();
    assert_eq!(last["code"], "more_warnings");
    let more = format!("{} more warnings", 200 - listed.len());
    assert!(last["message"].as_str().unwrap().starts_with(&more), "{last}");
}
