//! The tools of tasks.

use accord_base::{ActorKey, tokens};
use accord_host::http::local_api;
use accord_host::mcp::CallContext;
use serde_json::{Value, json};

use super::{TASKS, status, verb};
use crate::mcp::client::{Client, text};
use crate::support::{World, actor_key};

async fn client(world: &World, agent: &str) -> Client {
    let actor: Option<ActorKey> = Some(actor_key(agent));
    let standing = CallContext { project: Some("atlas".into()), actor, ..CallContext::default() };
    Client::of("tasks", local_api(&world.host), standing).await
}

fn structured(result: &Value) -> &Value {
    assert_eq!(result["isError"], false, "{result}");
    &result["structuredContent"]
}

#[tokio::test]
async fn an_agent_carries_five_tasks_with_the_tools_alone() {
    let world = World::new();
    let owner = world.owner();
    let mut agent = client(&world, "builder").await;
    let none = agent.refused("aof_claim", json!({})).await;
    assert_eq!(none["code"], "no_task_tree", "{none}");
    assert!(none["what_to_do"].as_str().unwrap().contains("aof_dispatch"), "{none}");
    // Five tasks, each after the one before it, the last of them urgent.
    let mut made: Vec<String> = Vec::new();
    for number in 0..5 {
        let depends: Vec<&String> = made.iter().rev().take(1).collect();
        let arguments = json!({
            "title": format!("Step {number}"), "brief": format!("Do step {number}."),
            "dependsOn": depends, "priority": "medium", "checklist": ["It works"],
        });
        let receipt = agent.call("aof_dispatch", arguments).await;
        let receipt = structured(&receipt);
        assert_eq!(receipt["status"], if number == 0 { "ready" } else { "backlog" });
        made.push(receipt["taskId"].as_str().unwrap().to_owned());
    }
    for (number, task) in made.iter().enumerate() {
        // What a scheduler does.
        owner.post(&format!("{TASKS}/poll"), &json!({})).await.expect(200);
        let claimed = agent.call("aof_claim", json!({"max_tokens": 1_000})).await;
        let briefing = claimed["content"][1]["text"].as_str().unwrap().to_owned();
        assert!(briefing.contains(&format!("Do step {number}.")), "{briefing}");
        assert!(briefing.contains("- [ ] It works"), "{briefing}");
        if number > 0 {
            let before = format!("Notes: Step {} is done.", number - 1);
            assert!(briefing.contains(&before), "{before} is not in {briefing}");
        }
        let whole = format!("{}{briefing}", claimed["content"][0]["text"].as_str().unwrap());
        assert!(tokens(&whole) <= 1_000, "{whole}");
        let receipt = structured(&claimed);
        assert_eq!(receipt["taskId"], task.as_str());
        let run = receipt["runId"].clone();
        let with_run = |mut arguments: Value| {
            arguments["taskId"] = task.as_str().into();
            arguments["runId"] = run.clone();
            arguments
        };
        let beat = agent.call("aof_heartbeat", with_run(json!({}))).await;
        assert_eq!(structured(&beat)["runId"], run);
        let said = agent.call("aof_task_update", with_run(json!({"workLog": "Half"}))).await;
        assert_eq!(structured(&said)["newStatus"], "in-progress");
        let summary = format!("Step {number} is done.");
        let done = with_run(json!({"summary": summary, "testsPassed": 2, "skipReview": true}));
        let done = agent.call("aof_task_complete", done).await;
        assert_eq!(structured(&done)["finalStatus"], "review", "a review is not the agent's");
        let none = agent.call("aof_claim", json!({})).await;
        assert_eq!(structured(&none)["claimed"], false, "the next one waits: {none}");
        // An agent cannot end the review, and gets the reason.
        let mine = json!({"taskId": task, "status": "done", "workLog": "All good"});
        let mine = agent.call("aof_task_update", mine).await;
        let mine = structured(&mine);
        assert_eq!(mine["success"], false, "{mine}");
        verb(&owner, task, "approve", "human:lead", json!({})).await.expect(200);
        assert_eq!(status(&owner, task).await, "done");
    }
    // A finished task says who did it.
    let all = owner.get(&format!("{TASKS}?all=true")).await.expect(200);
    for task in all["result"]["tasks"].as_array().unwrap() {
        assert_eq!((&task["status"], &task["done_by"]), (&json!("done"), &json!("builder")));
    }
    let listed = agent.call("aof_status_report", json!({"all": true})).await;
    assert_eq!(text(&listed).matches("(done by builder)").count(), 5, "{listed}");
    let nothing = agent.call("aof_claim", json!({})).await;
    let nothing = structured(&nothing);
    assert_eq!((&nothing["claimed"], &nothing["reason"]), (&json!(false), &json!("no_ready_task")));
    let lint = owner.get(&format!("{TASKS}/lint")).await.expect(200);
    assert_eq!(lint["result"]["clean"], true, "{lint}");
}

#[tokio::test]
async fn only_the_holder_of_a_task_reports_on_it() {
    let world = World::new();
    let (mut one, mut two) = (client(&world, "one").await, client(&world, "two").await);
    let made = one.call("aof_dispatch", json!({"title": "T", "brief": "B"})).await;
    let task = structured(&made)["taskId"].clone();
    let claimed = one.call("aof_claim", json!({"taskId": task})).await;
    assert_eq!(structured(&claimed)["claimed"], true);
    let calls = [
        ("aof_task_complete", json!({"taskId": task, "summary": "Mine"})),
        ("aof_task_update", json!({"taskId": task, "workLog": "Mine"})),
        ("aof_heartbeat", json!({"taskId": task})),
        ("aof_release", json!({"taskId": task})),
        ("aof_task_block", json!({"taskId": task, "reason": "Mine"})),
        ("aof_task_edit", json!({"taskId": task, "title": "Mine"})),
    ];
    for (tool, arguments) in calls {
        let error = two.refused(tool, arguments).await;
        assert_eq!(error["code"], "unauthorized_agent", "{tool}: {error}");
        assert!(error["what_to_do"].as_str().unwrap().contains("aof_claim"), "{error}");
    }
    let old = json!({"taskId": task, "runId": "run_of_before", "summary": "Late"});
    assert_eq!(one.refused("aof_task_complete", old).await["code"], "stale_run");
    let cancel = one.refused("aof_task_cancel", json!({"taskId": task})).await;
    assert_eq!(cancel["code"], "person_required");
    // Nor does the name of a person help an agent.
    let person = json!({"taskId": task, "actor": "human:lead", "reason": "Not needed"});
    assert_eq!(one.refused("aof_task_cancel", person).await["code"], "person_required");
}

#[tokio::test]
async fn every_tool_takes_the_part_of_an_id_that_no_other_has() {
    let world = World::new();
    let mut agent = client(&world, "builder").await;
    let mut made = Vec::new();
    for title in ["One", "Two"] {
        let receipt = agent.call("aof_dispatch", json!({"title": title, "brief": "B"})).await;
        made.push(structured(&receipt)["taskId"].as_str().unwrap().to_owned());
    }
    structured(&agent.call("aof_claim", json!({"taskId": "001"})).await);
    let said = agent.call("aof_task_update", json!({"taskId": "001", "workLog": "Half"})).await;
    assert_eq!(structured(&said)["taskId"], made[0].as_str());
    let body = json!({"taskId": "001", "body": "Do it again."});
    assert_eq!(structured(&agent.call("aof_task_update", body).await)["taskId"], made[0].as_str());
    let handoff = json!({
        "taskId": "002", "parentTaskId": "001", "fromAgent": "builder", "toAgent": "other",
        "dueBy": "2099-01-01T00:00:00Z",
    });
    let request =
        json!({"type": "handoff.request", "taskId": "002", "payload": handoff.to_string()});
    let said = agent.call("aof_message", request).await;
    assert_eq!(structured(&said)["taskId"], made[1].as_str());
    let done = json!({"taskId": &made[0]["TASK-".len()..], "summary": "Done"});
    let done = agent.call("aof_task_complete", done).await;
    assert_eq!(structured(&done)["finalStatus"], "review");
    for (part, code) in [("TASK-", "ambiguous_task_id"), ("777", "task_not_found")] {
        let said = json!({"taskId": part, "workLog": "Half"});
        assert_eq!(agent.refused("aof_task_update", said).await["code"], code);
    }
}

#[tokio::test]
async fn every_tool_does_what_it_says() {
    let world = World::new();
    let owner = world.owner();
    let mut agent = client(&world, "builder").await;
    let made =
        agent.call("aof_dispatch", json!({"title": "One", "brief": "B", "tags": ["x"]})).await;
    let one = structured(&made)["taskId"].clone();
    let made = agent.call("aof_dispatch", json!({"title": "Two", "brief": "B"})).await;
    let two = structured(&made)["taskId"].clone();
    let edit = json!({
        "taskId": one, "title": "First", "priority": "high",
        "routing": {"agent": "builder", "tags": ["y"]},
    });
    agent.call("aof_task_edit", edit).await;
    let shown = owner.get(&format!("{TASKS}/{}", one.as_str().unwrap())).await.expect(200);
    let shown = &shown["result"]["task"];
    assert_eq!((&shown["title"], &shown["agent"]), (&json!("First"), &json!("builder")));
    assert_eq!((&shown["priority"], &shown["tags"]), (&json!("high"), &json!(["y"])));
    let wait = json!({"taskId": one, "blockerId": two});
    structured(&agent.call("aof_task_dep_add", wait.clone()).await);
    let circle = json!({"taskId": two, "blockerId": one});
    assert_eq!(agent.refused("aof_task_dep_add", circle).await["code"], "dependency_cycle");
    structured(&agent.call("aof_task_dep_remove", wait).await);
    let blocked = agent.call("aof_task_block", json!({"taskId": two, "reason": "No disk"})).await;
    assert_eq!(structured(&blocked)["newStatus"], "blocked");
    let list = agent.call("aof_status_report", json!({"status": "blocked"})).await;
    assert!(text(&list).contains("blocked: No disk"), "{list}");
    let ready = agent.call("aof_task_unblock", json!({"taskId": two})).await;
    assert_eq!(structured(&ready)["newStatus"], "ready");
    let board = agent.call("aof_board", json!({"max_tokens": 400})).await;
    assert!(text(&board).contains(one.as_str().unwrap()), "{board}");
    assert!(tokens(text(&board)) <= 400);
    let json = agent.call("aof_board", json!({"format": "json"})).await;
    assert!(serde_json::from_str::<Value>(text(&json)).unwrap()["result"]["columns"].is_array());
    let read = agent.call("aof_task_briefing", json!({"taskId": one})).await;
    assert!(text(&read).contains("First"), "{read}");

    structured(&agent.call("aof_claim", json!({"taskId": one})).await);
    let body = json!({"taskId": one, "body": "## Instructions\n\nOther ones."});
    structured(&agent.call("aof_task_update", body).await);
    let both = json!({"taskId": one, "body": "x", "workLog": "y"});
    assert_eq!(agent.refused("aof_task_update", both).await["code"], "MCP_ARGUMENT_INVALID");
    let released = agent.call("aof_release", json!({"taskId": one, "reason": "Out of time"})).await;
    assert_eq!(structured(&released)["newStatus"], "ready");

    // A handoff: the holder of a task delegates a part of it.
    structured(&agent.call("aof_claim", json!({"taskId": one})).await);
    let payload = json!({
        "taskId": two, "parentTaskId": one, "fromAgent": "builder", "toAgent": "tester",
        "acceptanceCriteria": ["All pass"], "dueBy": "2099-01-01T00:00:00Z",
    });
    let sent = json!({
        "type": "handoff.request", "taskId": two, "toAgent": "tester",
        "payload": payload.to_string(),
    });
    let sent = agent.call("aof_message", sent).await;
    assert_eq!(structured(&sent)["success"], true, "{sent}");
    let mut tester = client(&world, "tester").await;
    let claimed = tester.call("aof_claim", json!({})).await;
    assert_eq!(structured(&claimed)["taskId"], two);
    let briefing = claimed["content"][1]["text"].as_str().unwrap();
    assert!(briefing.contains("## Handoff") && briefing.contains("All pass"), "{briefing}");
    // A client that shows its model the structured content alone has it, too.
    assert_eq!(structured(&claimed)["x-note"], briefing);
}

#[tokio::test]
async fn the_tools_are_declared_as_they_answer() {
    let world = World::new();
    let mut agent = client(&world, "builder").await;
    let tools = agent.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let names = [
        "aof_dispatch",
        "aof_task_update",
        "aof_task_complete",
        "aof_status_report",
        "aof_board",
        "aof_task_edit",
        "aof_task_cancel",
        "aof_task_dep_add",
        "aof_task_dep_remove",
        "aof_task_block",
        "aof_task_unblock",
        "aof_message",
        "aof_claim",
        "aof_heartbeat",
        "aof_release",
    ];
    for name in names {
        assert!(tools.as_array().unwrap().iter().any(|tool| tool["name"] == name), "no {name}");
    }
    for tool in tools.as_array().unwrap() {
        let refused = agent.refused(tool["name"].as_str().unwrap(), json!({"zebra": 1})).await;
        assert_eq!(refused["code"], "MCP_ARGUMENT_UNKNOWN");
    }
    assert!(agent.welcome["instructions"].as_str().unwrap().contains("aof_claim"));
}
