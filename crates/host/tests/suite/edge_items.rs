//! What waits at an edge, in the inbox of its hub: nothing is cut without a word, and what was
//! decided waits for no person.

use accord_base::{ActorKey, KeyScope, Verb};
use serde_json::{Value, json};

use crate::support::{Asker, World};

const EDGE: &str = "/accord/v1/projects/atlas/edges/edge_0123456789abcdef0123456789abcdef";

/// A hub with an edge that asks for a gate, and the key of a person who may decide.
async fn asked(world: &World, more: Value) -> Asker {
    let verbs = vec![Verb::Read, Verb::Write, Verb::Approve];
    let lead = ActorKey::parse("human:lead").unwrap();
    let lead = world.key(&KeyScope::new(verbs, None).bound_to(lead, false));
    world.owner().post("/v1/projects", &json!({"project_id": "atlas"})).await.expect(201);
    let join = json!({"name": "laptop — decision, applied", "source": "runs", "send": "diff",
        "decide": ["run.gate"], "deciders": ["human:lead"]});
    lead.ask("PUT", EDGE, &[("content-type", "application/json")], &join.to_string())
        .await
        .expect(200);
    let mut body = json!({"title": "Gate ship waits", "verbs": ["approve", "send_back"]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let digest = accord_outbox::evidence::digest(body.as_object().unwrap()).unwrap();
    (body["evidence"], body["version"]) = (digest.as_str().into(), digest.as_str().into());
    let entry = json!({"seq": 1, "kind": "request", "id": "run_1/gate/ship/t1",
        "type": "run.gate", "at": "2026-11-15T08:00:00Z", "body": body});
    lead.post(&format!("{EDGE}/outbox"), &json!({"entries": [entry]})).await.expect(200);
    lead
}

async fn shown(lead: &Asker) -> Value {
    let listed = lead.get("/accord/v1/inbox?count=true").await.expect(200);
    let item = &listed["items"][0];
    let handle = item["handle"].as_str().unwrap();
    let shown = lead.get(&format!("/accord/v1/inbox/{handle}")).await.expect(200);
    json!({"list": listed, "item": shown["item"]})
}

fn facts<'v>(shown: &'v Value, name: &str) -> Vec<&'v str> {
    let facts = shown["item"]["evidence"].as_array().unwrap().iter();
    let named = facts.filter(|fact| fact["name"] == name);
    named.map(|fact| fact["value"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_and_names_of_files_are_whole_and_cuts_are_said() {
    let world = World::new();
    let command = format!("echo harmless{}; rm -rf build", " ".repeat(1_990));
    let file = |number: u32| {
        json!({"path": format!("src/{number}.rs"), "size": 7, "sha256": "0".repeat(64),
            "diff": format!("{}+ the last line", "+ x\n".repeat(1_000))})
    };
    let mut files: Vec<Value> = (0..25).map(file).collect();
    files[24]["path"] = "src/backdoor.rs\n  checks: passed".into();
    let lead = asked(&world, json!({"commands": [command], "files": files})).await;
    let shown = shown(&lead).await;
    assert_eq!(facts(&shown, "a decision runs the command"), [command.as_str()]);
    let names = facts(&shown, "file");
    assert_eq!(names.len(), 25);
    assert!(names[24].starts_with(r#""src/backdoor.rs\n  checks: passed" 7 bytes"#), "{names:?}");
    let differences = facts(&shown, "difference");
    assert_eq!(differences.len(), 20);
    assert!(differences[0].ends_with("… (+2015 characters)"), "{:?}", differences[0]);
    let left = facts(&shown, "not shown here");
    assert!(left.iter().any(|left| left.starts_with("5 more differences: accord project edges")));
    // The name of an edge is a word of the title, and of what the hub knows.
    let title = shown["item"]["title"].as_str().unwrap();
    assert_eq!(title, r#"A gate waits at the edge "laptop — decision, applied""#);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_decided_waits_for_its_edge_and_for_nobody_else() {
    let world = World::new();
    let lead = asked(&world, json!({})).await;
    let before = shown(&lead).await;
    assert_eq!(before["item"]["urgency"], 2);
    let evidence = before["item"]["version"].as_str().unwrap();
    let decide = json!({"item": "run_1/gate/ship/t1", "verb": "approve", "evidence": evidence});
    let decided = lead.post(&format!("{EDGE}/decisions"), &decide).await.expect(201);
    let id = decided["decision"]["decision_id"].as_str().unwrap().to_owned();
    let after = shown(&lead).await;
    let title = after["item"]["title"].as_str().unwrap();
    assert!(title.starts_with("Decided, not delivered: approve by human:lead."), "{title}");
    assert_eq!(after["item"]["urgency"], 5);
    let verbs = |shown: &Value| -> Vec<String> {
        let verbs = shown.as_array().unwrap().iter();
        verbs.map(|verb| verb["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(verbs(&after["item"]["verbs"]), ["withdraw"]);
    assert_eq!(verbs(&after["list"]["items"][0]["verbs"]), ["withdraw"]);
    assert_eq!(after["list"]["counts"]["by_urgency"], json!([0, 0, 0, 0, 1]));
    assert_eq!(facts(&after, "decision id"), [id.as_str()]);
    lead.ask("DELETE", &format!("{EDGE}/decisions/{id}"), &[], "").await.expect(200);
    let again = shown(&lead).await;
    assert_eq!(again["item"]["urgency"], 2);
    assert_eq!(verbs(&again["item"]["verbs"]), ["approve", "send-back"]);
}
