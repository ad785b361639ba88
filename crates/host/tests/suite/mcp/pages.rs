//! Pages of the listing tools: every item exactly once, within every budget.

use std::collections::BTreeMap;

use accord_base::tokens;
use accord_host::http::local_api;
use serde_json::{Value, json};

use super::client::{Client, text};
use crate::support::{World, package_with};

/// Walks all pages of a tool. Returns how often each id was shown, and how many pages there were.
async fn walk(
    client: &mut Client,
    tool: &str,
    mut arguments: Value,
    (list, id): (&str, &str),
    total: usize,
) -> (BTreeMap<String, usize>, usize) {
    let (mut seen, mut shown, mut pages) = (BTreeMap::new(), 0, 0);
    loop {
        let result = client.call(tool, arguments.clone()).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let text = text(&result);
        let budget = arguments["max_tokens"].as_u64().unwrap_or(8_000) as usize;
        assert!(tokens(text) <= budget, "{tool}: {} of {budget}", tokens(text));
        let page: Value = serde_json::from_str(text).unwrap();
        let whole = page[list].as_array().unwrap().iter();
        let heads = page["x-too_large"].as_array().map(Vec::as_slice).unwrap_or_default();
        for head in heads {
            assert!(head["tokens"].as_u64().unwrap() as usize > budget / 2, "{head}");
        }
        for item in whole.chain(heads) {
            *seen.entry(item[id].as_str().unwrap().to_owned()).or_default() += 1;
            shown += 1;
        }
        pages += 1;
        // What remains is what was not shown yet.
        assert_eq!(page["x-remaining"], total - shown, "{tool}, page {pages}: {text}");
        let Some(cursor) = page["next_cursor"].as_str() else {
            return (seen, pages);
        };
        arguments["cursor"] = cursor.into();
        assert!(pages <= total, "{tool} does not end");
    }
}

#[tokio::test]
async fn all_pages_of_every_listing_tool_show_every_item_once() {
    let world = World::new();
    let owner = world.owner();
    for number in 0..300 {
        let fact = json!({"subject": format!("queue:{number:03}"), "predicate": "limit",
            "value": format!("{number} jobs, and {}", "some more ".repeat(number % 7))});
        owner.post("/v1/projects/atlas/facts", &fact).await.expect(201);
    }
    for number in 0..40 {
        // Every tenth alone exceeds the smaller budgets.
        let note = "what was done, and why; ".repeat(if number % 10 == 3 { 400 } else { number });
        let questions: Vec<_> = (0..3)
            .map(|n| format!("What about {number}.{n}, {}?", "and so on ".repeat(n)))
            .collect();
        let members = json!({"title": format!("Step {number}"), "handoff_note": note,
            "open_questions": questions});
        owner.deposit(&package_with(&format!("p{number:02}"), members)).await;
        let session = json!({"actor_id": format!("agent-{number}"), "actor_type": "agent"});
        owner.post("/v1/projects/atlas/sessions", &session).await.expect(201);
        let project = json!({"project_id": format!("side-{number:02}"),
            "description": "a description ".repeat(number)});
        owner.post("/v1/projects", &project).await.expect(201);
    }
    let mut client = Client::begin(local_api(&world.host)).await;
    let atlas = |max_tokens: u32, limit: u32| {
        let mut arguments = json!({"project_id": "atlas", "limit": limit});
        arguments["max_tokens"] = max_tokens.into();
        arguments
    };
    for (max_tokens, limit) in [(400, 5), (700, 200), (2_000, 40), (8_000, 200), (100_000, 7)] {
        for (tool, list, id, total) in [
            ("memory_facts", "facts", "fact_id", 300),
            ("memory_pull", "packages", "package_id", 40),
            ("memory_questions", "questions", "question", 120),
            ("memory_sessions", "sessions", "session_id", 40),
            ("memory_projects", "projects", "project_id", 41),
        ] {
            let mut arguments = atlas(max_tokens, limit);
            if tool == "memory_projects" {
                arguments.as_object_mut().unwrap().remove("project_id");
            }
            let (seen, pages) = walk(&mut client, tool, arguments, (list, id), total).await;
            assert_eq!(seen.len(), total, "{tool} within {max_tokens}");
            assert!(seen.values().all(|times| *times == 1), "{tool}: {seen:?}");
            assert!(pages > 1 || max_tokens > 2_000, "{tool} within {max_tokens}");
        }
    }
}

#[tokio::test]
async fn a_page_that_is_cut_says_how_many_facts_follow() {
    let world = World::new();
    let owner = world.owner();
    for number in 0..300 {
        let fact = json!({"subject": format!("s{number:03}"), "predicate": "is", "value": "up"});
        owner.post("/v1/projects/atlas/facts", &fact).await.expect(201);
    }
    let mut client = Client::begin(local_api(&world.host)).await;
    let result = client.call("memory_facts", json!({"project_id": "atlas"})).await;
    let page: Value = serde_json::from_str(text(&result)).unwrap();
    let shown = page["facts"].as_array().unwrap().len();
    assert!(shown < 100, "{shown} facts fit into the default budget");
    assert_eq!(page["x-remaining"], 300 - shown);
    assert!(page["next_cursor"].is_string());
}

#[tokio::test]
async fn an_item_that_fits_no_page_is_named_with_its_size() {
    let world = World::new();
    let owner = world.owner();
    let body = "a line of a long report\n".repeat(1_500);
    let members = json!({"title": "The long report", "content_md": body});
    owner.deposit(&package_with("long", members)).await;
    owner.deposit(&package_with("short", json!({}))).await;
    let mut client = Client::begin(local_api(&world.host)).await;
    let result = client.call("memory_pull", json!({"project_id": "atlas"})).await;
    let page: Value = serde_json::from_str(text(&result)).unwrap();
    assert_eq!(page["packages"].as_array().unwrap().len(), 1);
    let head = &page["x-too_large"][0];
    assert_eq!((&head["package_id"], &head["title"]), (&json!("long"), &json!("The long report")));
    let arguments = json!({"package_id": "long", "max_tokens": head["tokens"]});
    assert!(text(&client.call("memory_pull", arguments).await).contains("a long report"));
}
