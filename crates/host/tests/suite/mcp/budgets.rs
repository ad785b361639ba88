//! Budgets of tokens: what is served keeps within them, whatever the host gives.

use serde_json::{Value, json};

use super::client::{Client, text};
use super::fake::Fake;

/// A package whose text would not survive being read and written again.
fn package(number: usize, bytes: usize) -> String {
    let body = "x".repeat(bytes);
    format!(r#"{{"package_id":"pkg_{number}","x-n":1.10,"content_md":"{body}\u00e9","x-e":1E2}}"#)
}

fn bundle(packages: usize, bytes: usize) -> String {
    let packages: Vec<String> = (0..packages).map(|number| package(number, bytes)).collect();
    let facts: Vec<String> = (0..30)
        .map(|n| {
            json!({"fact_id": format!("f{n}"), "subject": "s", "value": "v".repeat(50)}).to_string()
        })
        .collect();
    let questions: Vec<String> = (0..20).map(|n| format!("\"question {n}?\"")).collect();
    format!(
        "{{\"project\":{{\"project_id\":\"p\",\"name\":\"P\",\"description\":\"{}\"}},\
         \"recent_packages\":[{}],\"active_facts\":[{}],\"open_questions\":[{}],\
         \"window_days\":14,\"generated_at\":\"2026-04-18T20:00:00.000Z\",\
         \"x-open_question_sources\":[[\"pkg_1\"]],\
         \"x-left_out\":[{{\"member\":\"recent_packages\",\"reason\":\"limit\"}}]}}",
        "d".repeat(2_000),
        packages.join(","),
        facts.join(","),
        questions.join(","),
    )
}

#[tokio::test]
async fn an_orientation_keeps_within_every_budget() {
    for (packages, bytes) in [(0, 0), (1, 100), (20, 1_400), (3, 100_000)] {
        let whole = bundle(packages, bytes);
        let served = whole.clone();
        let mut client = Client::begin(Fake::new(move |_| Ok((200, served.clone())))).await;
        let mut longest = 0;
        for budget in
            [1, 60, 100, 150, 200, 300, 500, 1_000, 2_000, 3_000, 8_000, 30_000, 1_000_000]
        {
            let arguments = json!({"project_id": "p", "max_tokens": budget});
            let result = client.call("memory_orient", arguments).await;
            if result["isError"] == true {
                let error = &result["structuredContent"]["error"];
                assert_eq!(error["code"], "MCP_BUDGET_TOO_SMALL", "{error}");
                // What it says is needed is enough.
                let needed = error["tokens"].as_u64().unwrap();
                assert!(needed > budget);
                let arguments = json!({"project_id": "p", "max_tokens": needed});
                let result = client.call("memory_orient", arguments).await;
                assert_eq!(result["isError"], false, "{needed}: {result}");
                continue;
            }
            let text = text(&result);
            assert!(text.len().div_ceil(4) as u64 <= budget, "{} > {budget}", text.len());
            let read: Value = serde_json::from_str(text).unwrap();
            for package in 0..packages {
                let there = text.contains(&format!("\"package_id\":\"pkg_{package}\""));
                assert_eq!(there, text.contains(&super::budgets::package(package, bytes)));
            }
            if text.len() < whole.len() {
                let left_out = read["x-left_out"].as_array().unwrap();
                let counted = |member: &str| {
                    let entries = left_out.iter().filter(|entry| entry["member"] == member);
                    entries.filter_map(|entry| entry["count"].as_u64()).sum::<u64>() as usize
                };
                for (member, all) in
                    [("recent_packages", packages), ("active_facts", 30), ("open_questions", 20)]
                {
                    let there = read[member].as_array().unwrap().len();
                    assert_eq!(there + counted(member), all, "{member} within {budget}");
                }
            }
            longest = text.len();
        }
        assert_eq!(longest, whole.len(), "a budget that is large enough changes nothing");
    }
}

#[tokio::test]
async fn a_package_that_does_not_fit_makes_room_for_another_and_is_named() {
    let packages = [package(0, 40_000), package(1, 100), package(2, 100)];
    let list = format!(r#"{{"packages":[{}],"next_cursor":"c","x-more":1}}"#, packages.join(","));
    let mut client = Client::begin(Fake::new(move |_| Ok((200, list.clone())))).await;
    let result = client.call("memory_pull", json!({"project_id": "p"})).await;
    let read: Value = serde_json::from_str(text(&result)).unwrap();
    assert_eq!(read["packages"].as_array().unwrap().len(), 2);
    let left_out =
        json!([{"member": "packages", "reason": "budget", "count": 1, "ids": ["pkg_0"]}]);
    assert_eq!(read["x-left_out"], left_out);
    // A cursor would pass over what was left out.
    assert!(read.get("next_cursor").is_none());
    let result = client.call("memory_pull", json!({"project_id": "p", "max_tokens": 20_000})).await;
    let read: Value = serde_json::from_str(text(&result)).unwrap();
    assert_eq!(
        (read["packages"].as_array().unwrap().len(), &read["next_cursor"]),
        (3, &json!("c"))
    );
}

#[tokio::test]
async fn one_package_is_there_as_it_is_or_not_at_all() {
    let whole = package(0, 40_000);
    // Space between tokens is left out; each token stays as it is.
    let served = whole.replacen("{\"package_id\":", "{\n  \"package_id\" : ", 1);
    let mut client = Client::begin(Fake::new(move |_| Ok((200, served.clone())))).await;
    let error = client.refused("memory_pull", json!({"package_id": "pkg_0"})).await;
    assert_eq!(error["code"], "MCP_BUDGET_TOO_SMALL");
    let arguments = json!({"package_id": "pkg_0", "max_tokens": error["tokens"]});
    let result = client.call("memory_pull", arguments).await;
    assert_eq!(text(&result), whole);
    // Nothing is there twice.
    assert!(result.get("structuredContent").is_none());
}
