//! Messages of AOF/1 over HTTP.

use serde_json::{Value, json};

use super::{MESSAGES, TASKS, claim, create, message, report, status, verb};
use crate::support::{Asker, World};

async fn send_text(asker: &Asker, text: &str) -> crate::support::Answer {
    asker.ask("POST", MESSAGES, &[("content-type", "text/plain")], text).await
}

async fn events_after(asker: &Asker, number: u64) -> Vec<Value> {
    let answer = asker.get(&format!("{TASKS}/events?after={number}")).await.expect(200);
    answer["result"]["events"].as_array().unwrap().clone()
}

async fn last_event(asker: &Asker) -> u64 {
    let answer = asker.get(&format!("{TASKS}/events?limit=1")).await.expect(200);
    answer["result"]["last_event"].as_u64().unwrap()
}

#[tokio::test]
async fn a_message_is_recognised_in_every_form() {
    let world = World::new();
    let owner = world.owner();
    let task = create(&owner, json!({})).await;
    claim(&owner, &task, "builder").await;
    let payload = json!({"taskId": task, "agentId": "builder", "progress": "Half"});
    let update = message("status.update", &task, "builder", payload);
    let forms = [
        update.clone(),
        json!({"payload": update}),
        json!({"message": update.to_string()}),
        json!({"content": format!("AOF/1 {update}")}),
        json!(update.to_string()),
    ];
    for form in forms {
        let answer = owner.post(MESSAGES, &form).await.expect(200);
        assert_eq!(answer["result"]["task_id"], task.as_str(), "{form}");
    }
    for text in [format!("AOF/1 {update}"), update.to_string()] {
        let answer = send_text(&owner, &text).await.expect(200);
        assert_eq!(answer["result"]["type"], "status.update", "{text}");
    }
    let shown = owner.get(&format!("{TASKS}/{task}")).await.expect(200);
    let body = shown["result"]["task"]["body"].as_str().unwrap();
    assert_eq!(body.matches("Progress: Half").count(), 7);
    assert_eq!(body.matches("## Work Log").count(), 1);
}

#[tokio::test]
async fn chat_is_no_error_and_leaves_no_event() {
    let world = World::new();
    let owner = world.owner();
    create(&owner, json!({})).await;
    let before = last_event(&owner).await;
    for chat in [json!({"hello": 1}), json!([1, 2]), json!("Done with the tests."), json!(7)] {
        let answer = owner.post(MESSAGES, &chat).await.expect(200);
        assert_eq!(answer["result"]["reason"], "not_protocol", "{chat}");
        assert_eq!(answer["result"]["applied"], false);
    }
    send_text(&owner, "I am nearly done.").await.expect(200);
    assert_eq!(last_event(&owner).await, before);
}

#[tokio::test]
async fn a_refused_message_has_the_reason_as_its_code_and_leaves_an_event() {
    let world = World::new();
    let owner = world.owner();
    let task = create(&owner, json!({})).await;
    claim(&owner, &task, "builder").await;
    let known = |kind: &str, payload: Value| message(kind, &task, "builder", payload);
    let mut nowhere = known("completion.report", report("done"));
    nowhere["taskId"] = "TASK-2001-01-01-001".into();
    let mut old = known("completion.report", report("done"));
    old["sentAt"] = "2001-01-01T00:00:00Z".into();
    let mut stale = known("completion.report", report("done"));
    stale["runId"] = "run_of_before".into();
    let mut elsewhere = known("completion.report", report("done"));
    elsewhere["projectId"] = "another-project".into();
    let stranger = message("completion.report", &task, "stranger", report("done"));
    let cases = [
        (nowhere, 404, "task_not_found"),
        (old, 409, "stale_run"),
        (stale, 409, "stale_run"),
        (elsewhere, 422, "invalid_project_id"),
        (stranger, 403, "unauthorized_agent"),
        (known("completion.report", json!({"outcome": "done"})), 422, "invalid_envelope"),
        (known("something.else", json!({})), 422, "unknown_type"),
    ];
    for (sent, code, reason) in cases {
        let before = last_event(&owner).await;
        let answer = owner.post(MESSAGES, &sent).await;
        answer.refused(code, reason);
        let events = events_after(&owner, before).await;
        let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
        let is_recorded = kinds
            .iter()
            .any(|kind| ["protocol.message.rejected", "protocol.message.unknown"].contains(kind));
        assert!(is_recorded, "{reason}: {kinds:?}");
    }
    for text in ["AOF/1 {nope", "{nope"] {
        let before = last_event(&owner).await;
        send_text(&owner, text).await.refused(400, "invalid_json");
        assert_eq!(events_after(&owner, before).await[0]["payload"]["reason"], "invalid_json");
    }
    assert_eq!(status(&owner, &task).await, "in-progress", "nothing else was written");
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused() {
    let world = World::new();
    let owner = world.owner();
    create(&owner, json!({})).await;
    let before = last_event(&owner).await;
    let text = format!("AOF/1 {{\"protocol\":\"aof\",\"x\":\"{}\"}}", "x".repeat(10 << 20));
    send_text(&owner, &text).await.refused(413, "payload_too_large");
    let events = events_after(&owner, before).await;
    assert_eq!(events[0]["payload"]["reason"], "payload_too_large");
    send_text(&owner, &"x".repeat(12 << 20)).await.refused(413, "payload_too_large");
}

#[tokio::test]
async fn an_agent_cannot_end_a_review() {
    let world = World::new();
    let owner = world.owner();
    let task = create(&owner, json!({"agent": "builder"})).await;
    claim(&owner, &task, "builder").await;
    let done = message("completion.report", &task, "builder", report("done"));
    owner.post(MESSAGES, &done).await.expect(200);
    let payload = json!({"taskId": task, "agentId": "builder", "status": "done", "notes": "Fine"});
    let update = message("status.update", &task, "builder", payload);
    let answer = owner.post(MESSAGES, &update).await.expect(200)["result"].clone();
    assert_eq!((&answer["applied"], &answer["reason"]), (&json!(false), &json!("review_is_human")));
    assert_eq!(status(&owner, &task).await, "review");
    verb(&owner, &task, "approve", "human:lead", json!({})).await.expect(200);
}
