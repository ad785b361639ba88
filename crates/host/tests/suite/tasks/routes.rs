//! A task from its creation to its end, over the routes.

use futures_util::future::join_all;
use serde_json::json;

use super::{MESSAGES, TASKS, claim, create, message, report, status, verb};
use crate::support::World;

#[tokio::test]
async fn a_task_goes_from_its_creation_to_a_review_and_back() {
    let world = World::new();
    let owner = world.owner();
    owner.get(TASKS).await.refused(404, "no_task_tree");
    let task = create(&owner, json!({"instructions": "At zoom 12.", "priority": "high"})).await;
    let listed = owner.get(TASKS).await.expect(200);
    assert_eq!(listed["ok"], true);
    assert_eq!(listed["result"]["tasks"][0]["id"], task.as_str());
    let claimed = claim(&owner, &task, "builder").await;
    assert_eq!(claimed["task"]["lease"]["agent"], "builder");
    let run = claimed["run_id"].as_str().unwrap();
    let again = owner.post(&format!("{TASKS}/{task}/claim"), &json!({"agent": "other"})).await;
    again.refused(409, "task_not_ready");
    let beat = json!({"agent": "builder", "run_id": run});
    let beat = owner.post(&format!("{TASKS}/{task}/heartbeat"), &beat).await.expect(200);
    assert_eq!(beat["result"]["run_id"], run);
    let stale = json!({"agent": "builder", "run_id": "run_other"});
    let stale = owner.post(&format!("{TASKS}/{task}/heartbeat"), &stale).await;
    stale.refused(409, "stale_run");

    let sent = message("completion.report", &task, "builder", report("done"));
    let done = owner.post(MESSAGES, &sent).await.expect(200);
    assert_eq!(done["result"]["applied"], true);
    assert_eq!(status(&owner, &task).await, "review");
    let back = verb(&owner, &task, "send-back", "human:lead", json!({"reason": "Zoom 13"})).await;
    assert_eq!(back.expect(200)["result"]["task"]["status"], "ready");
    claim(&owner, &task, "builder").await;
    owner.post(MESSAGES, &sent).await.expect(200);
    let shown = owner.get(&format!("{TASKS}/{task}")).await.expect(200);
    let evidence = shown["result"]["evidence"].as_str().unwrap();
    let wrong = json!({"expect": "0123456789abcdef0123456789abcdef"});
    verb(&owner, &task, "approve", "human:lead", wrong).await.refused(409, "evidence_changed");
    let approved = json!({"expect": evidence, "note": "Good"});
    let approved = verb(&owner, &task, "approve", "human:lead", approved).await.expect(200);
    let approval = &approved["result"]["task"]["approval"];
    assert_eq!((&approval["by"], &approval["door"]), (&json!("human:lead"), &json!("http")));
    assert_eq!(status(&owner, &task).await, "done");
    let lint = owner.get(&format!("{TASKS}/lint")).await.expect(200);
    assert_eq!(lint["result"]["clean"], true, "{lint}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_saw_the_same_task_one_decides() {
    let world = World::new();
    let owner = world.owner();
    let task = create(&owner, json!({})).await;
    claim(&owner, &task, "builder").await;
    let sent = message("completion.report", &task, "builder", report("done"));
    owner.post(MESSAGES, &sent).await.expect(200);
    let path = format!("{TASKS}/{task}");
    let shown = owner.get(&path).await;
    let tag = shown.header("etag").to_owned();
    let evidence = shown.expect(200)["result"]["evidence"].as_str().unwrap().to_owned();
    assert_eq!(tag, format!("\"{evidence}\""));

    let header = [("if-match", tag.as_str())];
    let approve = (format!("{path}/approve?actor=human:ada"), "{}");
    let back = (format!("{path}/send-back?actor=human:ada"), r#"{"reason": "Zoom 13"}"#);
    for wrong in [format!("W/{tag}"), format!("{tag}, {tag}"), "\"12\"".to_owned()] {
        let asked = owner.ask("POST", &approve.0, &[("if-match", &wrong)], approve.1).await;
        asked.refused(422, "WIRE_FIELD_VALUE");
    }
    let other = r#"{"expect": "0123456789abcdef0123456789abcdef"}"#;
    let other = owner.ask("POST", &approve.0, &header, other).await;
    other.refused(422, "WIRE_FIELD_VALUE");
    let ways = [&approve, &back];
    let asked = (0..20).map(|n| owner.ask("POST", &ways[n % 2].0, &header, ways[n % 2].1));
    let answers = join_all(asked).await;
    let (won, lost): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!(won.len(), 1);
    let outcome = if status(&owner, &task).await == "done" { "approved" } else { "sent_back" };
    for answer in lost {
        let refused = answer.refused(412, "decision_stale");
        assert_eq!(refused["actor"], "human:ada", "{refused}");
        assert_eq!(refused["outcome"], outcome, "{refused}");
        assert!(refused["at"].is_string(), "{refused}");
    }
    let late = json!({"expect": evidence});
    verb(&owner, &task, "cancel", "human:bob", late).await.refused(412, "decision_stale");
    // What the person saw is the task as it is: the code of its status stays.
    let now = owner.get(&path).await.expect(200)["result"]["evidence"].clone();
    let now = verb(&owner, &task, "approve", "human:bob", json!({"expect": now})).await;
    now.refused(409, "invalid_task_transition");
}

#[tokio::test]
async fn every_verb_moves_its_task() {
    let world = World::new();
    let owner = world.owner();
    let (one, two) = (create(&owner, json!({})).await, create(&owner, json!({})).await);
    let third = create(&owner, json!({"ready": false})).await;
    let lead = "human:lead";
    verb(&owner, &one, "block", lead, json!({"reason": "No disk"})).await.expect(200);
    assert_eq!(status(&owner, &one).await, "blocked");
    verb(&owner, &one, "unblock", lead, json!({})).await.expect(200);
    assert_eq!(status(&owner, &one).await, "ready");
    let edited =
        owner.patch(&format!("{TASKS}/{one}?actor={lead}"), &json!({"title": "New"})).await;
    assert_eq!(edited.expect(200)["result"]["task"]["title"], "New");
    claim(&owner, &one, "builder").await;
    verb(&owner, &one, "release", "builder", json!({})).await.expect(200);
    assert_eq!(status(&owner, &one).await, "ready");

    let waits = format!("{TASKS}/{third}/dependencies");
    let wait = json!({"blocker": two});
    owner.post(&format!("{waits}?actor={lead}"), &wait).await.expect(200);
    let circle = json!({"blocker": third});
    let circle = owner.post(&format!("{TASKS}/{two}/dependencies?actor={lead}"), &circle).await;
    circle.refused(409, "dependency_cycle");
    verb(&owner, &third, "promote", lead, json!({})).await.refused(409, "dependency_unmet");
    let path = format!("{waits}/{two}?actor={lead}");
    owner.delete(&path).await.expect(200);
    verb(&owner, &third, "promote", lead, json!({})).await.expect(200);
    assert_eq!(status(&owner, &third).await, "ready");

    verb(&owner, &two, "close", lead, json!({"note": "By hand"})).await.expect(200);
    assert_eq!(status(&owner, &two).await, "done");
    verb(&owner, &third, "cancel", lead, json!({"reason": "Not needed"})).await.expect(200);
    assert_eq!(status(&owner, &third).await, "cancelled");
    let refused = verb(&owner, &third, "cancel", lead, json!({})).await;
    refused.refused(409, "task_finished");
    let refused = verb(&owner, &one, "resurrect", lead, json!({})).await;
    refused.refused(409, "invalid_task_transition");

    // The last task in progress has a result that session-end finds nothing to do about.
    claim(&owner, &one, "builder").await;
    let ended = owner.post(&format!("{TASKS}/session-end?actor={lead}"), &json!({})).await;
    assert_eq!(ended.expect(200)["result"]["waiting"], json!([one]));
    let polled = owner.post(&format!("{TASKS}/poll"), &json!({})).await.expect(200);
    assert_eq!(polled["result"]["counts"]["in-progress"], 1);
}

#[tokio::test]
async fn two_callers_never_get_the_same_task() {
    let world = World::new();
    let owner = world.owner();
    let mut made = Vec::new();
    for _ in 0..8 {
        made.push(create(&owner, json!({})).await);
    }
    let claims = (0..8).map(|number| {
        let owner = owner.clone();
        tokio::spawn(async move {
            let asked = json!({"agent": format!("agent-{number}")});
            let answer = owner.post(&format!("{TASKS}/claim-next"), &asked).await.expect(200);
            answer["result"]["claimed"]["task"]["id"].as_str().unwrap().to_owned()
        })
    });
    let mut got = Vec::new();
    for claim in claims.collect::<Vec<_>>() {
        got.push(claim.await.unwrap());
    }
    got.sort();
    made.sort();
    assert_eq!(got, made);
    let asked = json!({"agent": "late"});
    let none = owner.post(&format!("{TASKS}/claim-next"), &asked).await.expect(200);
    assert_eq!(none["result"]["reason"], "no_ready_task");
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_named() {
    let world = World::new();
    let owner = world.owner();
    let nobody = owner.post(TASKS, &json!({"title": "x"})).await;
    let error = nobody.refused(422, "WIRE_FIELD_MISSING");
    assert!(error["message"].as_str().unwrap().contains("who acts"), "{error}");
    let unknown =
        owner.post(&format!("{TASKS}?actor=a"), &json!({"title": "x", "titel": "x"})).await;
    assert_eq!(unknown.refused(422, "WIRE_FIELD_UNKNOWN")["field"], "titel");
    let task = create(&owner, json!({})).await;
    owner.get(&format!("{TASKS}/TASK-2001-01-01-001")).await.refused(404, "task_not_found");
    create(&owner, json!({})).await;
    // Both ids begin with the day.
    let prefix = &task[..15];
    owner.get(&format!("{TASKS}/{prefix}")).await.refused(409, "ambiguous_task_id");
    owner.get(&format!("{TASKS}?status=nonsense")).await.refused(400, "invalid_schema");
    owner.get(&format!("{TASKS}?cursor=nonsense")).await.refused(400, "invalid_cursor");
    owner.get(&format!("{TASKS}?colour=red")).await.refused(400, "invalid_schema");
}

#[tokio::test]
async fn an_archived_project_refuses_changes_and_still_shows_its_tasks() {
    let world = World::new();
    let owner = world.owner();
    owner.post("/v1/projects", &json!({"project_id": "atlas"})).await.expect(201);
    let task = create(&owner, json!({})).await;
    owner.post("/v1/projects/atlas/archive", &json!({})).await.expect(200);
    let refused = owner.post(&format!("{TASKS}/{task}/claim"), &json!({"agent": "a"})).await;
    refused.refused(403, "project_archived");
    owner.get(TASKS).await.expect(200);
}
