//! Every member of a request body is what the document says: its limits are accepted, and what is
//! outside them is refused, at the member.

use serde_json::{Value, json};

use super::{document, operations, resolved};
use crate::support::{World, package, package_with};

#[tokio::test]
async fn limits_of_members_are_accepted_and_what_is_outside_is_refused() {
    let world = World::new();
    let owner = world.owner();
    owner.deposit(&package_with("pkg_1", json!({"status": "draft"}))).await;
    let document = document(&owner, "").await;
    let (mut within, mut outside, mut number) = (0, 0, 0);
    for (path, method, operation) in operations(&document) {
        let route = operation["operationId"].as_str().unwrap();
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        // A backup writes where the request says, and a sweep deletes. A message that is not for
        // the protocol is no error, and others have the reasons of the protocol.
        let others = ["backup", "trim", "sweep", "aof_message"];
        // A page must be signed in first.
        if schema.is_null() || others.contains(&route) || route == "live_act" {
            continue;
        }
        let path = path.replace("{project_id}", "atlas").replace("{package_id}", "pkg_1");
        let path = path.replace("{session_id}", "no_such_session");
        let path = path.replace("{task_id}", "TASK-2026-01-01-001");
        let schema = resolved(&document, schema);
        // A body that may be any object has no members with limits.
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            if member["readOnly"] == true {
                continue;
            }
            let (good, bad) = values(&document, member);
            let cases = good.into_iter().map(|value| (true, value));
            for (is_good, value) in cases.chain(bad.into_iter().map(|value| (false, value))) {
                number += 1;
                let mut body = minimal(route, number);
                let shown = format!("{route} {name} = {:.60}", value.to_string());
                body[name] = value;
                let method = method.to_uppercase();
                let json = [("content-type", "application/json")];
                let answer = owner.ask(&method, &path, &json, &body.to_string()).await;
                let refusal: Value = serde_json::from_str(&answer.text).unwrap_or_default();
                // Accord's own routes name the place in the message.
                let place = refusal["error"]["pointer"].as_str().unwrap_or_default();
                let is_about = place.split('/').nth(1) == Some(name.as_str());
                assert!(answer.status < 500, "{shown}: {answer:?}");
                if is_good {
                    // A member can conflict with others; that is not about its own limits.
                    let limits = ["text_too_long", "too_many_items", "WIRE_FIELD_VALUE"];
                    let code = refusal["error"]["code"].as_str().unwrap_or_default();
                    assert!(!(is_about && limits.contains(&code)), "{shown}: {answer:.300?}");
                    within += usize::from(answer.status < 300);
                } else {
                    assert!([400, 422].contains(&answer.status), "{shown}: {:.300}", answer.text);
                    assert!(is_about, "{shown}: {:.300}", answer.text);
                    outside += 1;
                }
            }
        }
    }
    assert!(within > 60 && outside > 100, "{within} within, {outside} outside");
}

/// A request that is accepted. Ids differ, so that no request conflicts with another.
fn minimal(route: &str, number: usize) -> Value {
    match route {
        "take_over_decisions" => json!({"source": "run_1", "decisions": []}),
        "deposit" => package(&format!("pkg_new_{number}")),
        "assert_fact" => json!({"subject": "tiles", "predicate": "zoom", "value": "12"}),
        "create_project" => json!({"project_id": format!("project_{number}")}),
        "start_session" => json!({"actor_id": "ada", "actor_type": "agent"}),
        "set_notifications" => json!({"rules": []}),
        "mark_inbox_item" => json!({"mark": "claim"}),
        "flag" => json!({"review_type": "human"}),
        "adopt_task_writer" => json!({"writer": "aaaaaaaa"}),
        "review" => json!({"outcome": "complete"}),
        "create_task" => json!({"title": "Cut the tiles"}),
        "create_tasks" => json!({"tasks": [{"title": "Cut the tiles"}]}),
        "comment_on_task" => json!({"text": "No disk"}),
        "block_task" | "send_back_task" | "reopen_task" => json!({"reason": "No disk"}),
        "add_dependency" => json!({"blocker": "TASK-2026-01-01-002"}),
        "end_task_run" => json!({"run_id": "run-1", "exit": "success"}),
        "answer_live_session" => json!({"action": "go"}),
        "ask_person" => json!({"question": format!("Deploy {number}?")}),
        "ggui_handshake" => json!({"intent": "Ask", "blueprintDraft": {"contract": {}}}),
        "ggui_render" => json!({"handshakeId": "hs_1", "props": {}}),
        "ggui_render_blueprint" => json!({"blueprintId": "bp_1", "props": {}}),
        "ggui_update"
        | "ggui_amend"
        | "ggui_consume"
        | "ggui_get_session"
        | "ggui_get_render_source"
        | "ggui_runtime_pull"
        | "accord_runtime_page" => json!({"sessionId": "live_1"}),
        "ggui_emit" => json!({"sessionId": "live_1", "channel": "log", "payload": 1}),
        "ggui_runtime_submit_action" => json!({
            "kind": "dispatch", "payload": {"intent": "go"}, "sessionId": "live_1",
            "appId": "atlas", "actionId": "a1", "firedAt": "2026-11-15T10:00:00Z",
        }),
        "ggui_runtime_sync_context" => {
            json!({"sessionId": "live_1", "appId": "atlas", "snapshot": {}})
        }
        "ggui_runtime_refresh_ws_token" => json!({"envelope": "an.old-one"}),
        "ggui_runtime_telemetry" => json!({"events": []}),
        "ggui_runtime_declare_tool_catalog" => json!({"toolCatalog": {}}),
        "join_edge" => json!({"name": "atlas", "source": "runs", "send": "summary"}),
        "decide_edge_item" => {
            json!({"item": "r", "verb": "approve", "evidence": "0".repeat(32)})
        }
        "stage_run_result" => json!({"summary": "done"}),
        "send_outbox" => json!({"entries": []}),
        "add_person" => json!({"name": format!("lead-{number}")}),
        "person_link" => json!({"item": "none"}),
        "change_person" => json!({"email": null}),
        "create_key" => json!({"label": "reader", "verbs": ["read"]}),
        _ => json!({}),
    }
}

/// Values at the limits of a member, and values just outside.
fn values(document: &Value, schema: &Value) -> (Vec<Value>, Vec<Value>) {
    let schema = resolved(document, schema);
    if let Some(options) = schema["anyOf"].as_array() {
        let is_nullable = options.iter().any(|option| option["type"] == "null");
        let (mut good, bad) = values(document, &options[0]);
        if is_nullable {
            good.push(Value::Null);
        }
        return (good, bad);
    }
    if let Some(value) = schema.get("const") {
        return (vec![value.clone()], vec![json!("another"), json!(7), json!([])]);
    }
    if let Some(names) = schema["enum"].as_array() {
        return (names.clone(), vec![json!("no_such_word"), json!(7), json!("")]);
    }
    match schema["type"].as_str() {
        Some("boolean") => (vec![json!(true), json!(false)], vec![json!("true"), json!(1)]),
        Some("integer") => {
            let bound = |keyword: &str| schema[keyword].as_i64();
            let good = [bound("minimum"), bound("maximum")].into_iter().flatten();
            let below = bound("minimum").map(|least| json!(least - 1));
            let above = bound("maximum").and_then(|most| most.checked_add(1)).map(Value::from);
            let bad = below.into_iter().chain(above).chain([json!("1"), json!(1.5)]);
            (good.map(Value::from).collect(), bad.collect())
        }
        Some("number") => (vec![json!(0), json!(1)], vec![json!(-0.001), json!(1.001), json!("1")]),
        Some("string") => texts(schema),
        Some("array") => {
            let (good, bad) = values(document, &schema["items"]);
            let mut lists: Vec<Value> = good.into_iter().map(|item| json!([item])).collect();
            let mut wrong: Vec<Value> = bad.into_iter().map(|item| json!([item])).collect();
            if let Some(most) = schema["maxItems"].as_u64().map(|most| most as usize)
                && let Some(item) = lists.first().map(|list| list[0].clone())
            {
                wrong.push(json!(vec![item.clone(); most + 1]));
                lists.push(json!(vec![item; most]));
            }
            if schema["minItems"].as_u64().is_some() {
                wrong.push(json!([]));
            }
            wrong.push(json!("a text"));
            (lists, wrong)
        }
        Some("object") => (Vec::new(), vec![json!("a text"), json!([])]),
        _ => (Vec::new(), Vec::new()),
    }
}

fn texts(schema: &Value) -> (Vec<Value>, Vec<Value>) {
    let pattern = json!({
        "pattern": schema["pattern"].as_str().unwrap_or(""),
        "minLength": schema["minLength"].as_u64().unwrap_or(0),
    });
    let pattern = jsonschema::validator_for(&pattern).unwrap();
    let (mut good, mut bad) = (Vec::new(), vec![json!(7), json!([]), json!({})]);
    let mut sort = |text: String| match pattern.is_valid(&json!(text)) {
        true => good.push(json!(text)),
        false => bad.push(json!(text)),
    };
    for text in [
        "x-mine",
        "standard",
        "x",
        "2126-04-18T20:00:00Z",
        "2126-04-18T20:00:00.123456789+00:00",
        "2026-04-18T20:00:00+02:00",
        "2026-04-18T20:00:00",
        "2026-04-18t20:00:00z",
        "2026-04-18T20:00:00.1234567890Z",
        "2026-04-18",
        "a\0b",
        "\u{7}",
        " ",
    ] {
        sort(text.to_owned());
    }
    let most = schema["maxLength"].as_u64().map(|most| most as usize);
    most.into_iter().for_each(|most| sort("x".repeat(most)));
    if let Some(least) = schema["minLength"].as_u64() {
        bad.push(json!("x".repeat(least as usize - 1)));
    }
    if let Some(most) = most {
        bad.push(json!("x".repeat(most + 1)));
    }
    (good, bad)
}
