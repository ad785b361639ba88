//! Budgets of tokens: what is served keeps within them, whatever the host gives.

use accord_base::tokens;
use accord_contract::{Code, Failure};
use serde_json::{Value, json};

use super::client::{Client, text};
use super::fake::{Fake, refusing};

/// A package whose text would not survive being read and written again.
fn package(number: usize, bytes: usize) -> String {
    let body = "word ".repeat(bytes / 5);
    format!(r#"{{"package_id":"pkg_{number}","x-n":1.10,"content_md":"{body}\u00e9","x-e":1E2}}"#)
}

/// A digest, of which the tool shortens the lists.
fn digest(snippets: usize, bytes: usize) -> String {
    let snippets: Vec<String> = (0..snippets).map(|number| package(number, bytes)).collect();
    let facts: Vec<String> = (0..30)
        .map(|n| {
            json!({"fact_id": format!("f{n}"), "subject": "s", "value": "v ".repeat(25)})
                .to_string()
        })
        .collect();
    let questions: Vec<String> = (0..20).map(|n| format!("\"question {n}?\"")).collect();
    format!(
        "{{\"project\":{{\"project_id\":\"p\",\"name\":\"P\",\"description\":\"{}\"}},\
         \"snippets\":[{}],\"active_facts\":[{}],\"open_questions\":[{}],\"projects\":[],\
         \"window_days\":14,\"generated_at\":\"2026-04-18T20:00:00.000Z\",\
         \"x-left_out\":[{{\"member\":\"active_facts\",\"reason\":\"limit\"}}]}}",
        "words ".repeat(300),
        snippets.join(","),
        facts.join(","),
        questions.join(","),
    )
}

/// The mark of a superseded package is not what is left out first.
#[tokio::test]
async fn what_a_query_finds_is_marked_within_every_budget() {
    let packages: Vec<String> = (0..20).map(|number| package(number, 400)).collect();
    let packages = packages.join(",");
    let marks = r#"{"pkg_0":["pkg_1"]}"#;
    let served = format!(
        r#"{{"packages":[{packages}],"next_cursor":null,"scores":[],"x-superseded":{marks}}}"#
    );
    let mut client = Client::begin(Fake::new(move |_| Ok((200, served.clone())))).await;
    for budget in [300, 1_000, 8_000, 100_000] {
        let arguments = json!({"project_id": "p", "query": "word", "max_tokens": budget});
        let result = client.call("memory_pull", arguments).await;
        let document = result["content"][0]["text"].as_str().unwrap();
        assert!(tokens(document) <= budget);
        let document: Value = serde_json::from_str(document).unwrap();
        assert_eq!(document["x-superseded"], json!({"pkg_0": ["pkg_1"]}), "{budget}");
        let note = result["content"][1]["text"].as_str().unwrap();
        assert_eq!(note, "pkg_0 is superseded by pkg_1.");
    }
}

#[tokio::test]
async fn a_digest_keeps_within_every_budget() {
    for (snippets, bytes) in [(0, 0), (1, 100), (20, 1_400), (3, 100_000)] {
        let whole = digest(snippets, bytes);
        let served = whole.clone();
        let mut client = Client::begin(Fake::new(move |_| Ok((200, served.clone())))).await;
        let mut longest = 0;
        for budget in [100, 150, 200, 300, 500, 1_000, 2_000, 3_000, 8_000, 30_000, 1_000_000] {
            let arguments = json!({"project_id": "p", "max_tokens": budget});
            let result = client.call("memory_digest", arguments).await;
            if result["isError"] == true {
                let error = &result["structuredContent"]["error"];
                assert_eq!(error["code"], "MCP_BUDGET_TOO_SMALL", "{error}");
                // What it says is needed is enough.
                let needed = error["tokens"].as_u64().unwrap();
                assert!(needed > budget);
                let arguments = json!({"project_id": "p", "max_tokens": needed});
                let result = client.call("memory_digest", arguments).await;
                assert_eq!(result["isError"], false, "{needed}: {result}");
                continue;
            }
            let text = text(&result);
            assert!(tokens(text) as u64 <= budget, "{} > {budget}", tokens(text));
            let read: Value = serde_json::from_str(text).unwrap();
            for number in 0..snippets {
                let there = text.contains(&format!("\"package_id\":\"pkg_{number}\""));
                assert_eq!(there, text.contains(&package(number, bytes)));
            }
            if text.len() < whole.len() {
                let left_out = read["x-left_out"].as_array().unwrap();
                let counted = |member: &str| {
                    let entries = left_out.iter().filter(|entry| entry["member"] == member);
                    entries.filter_map(|entry| entry["count"].as_u64()).sum::<u64>() as usize
                };
                for (member, all) in
                    [("snippets", snippets), ("active_facts", 30), ("open_questions", 20)]
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
async fn what_a_query_finds_and_does_not_fit_makes_room_for_another_and_is_named() {
    let packages = [package(0, 40_000), package(1, 100), package(2, 100)];
    let list = format!(r#"{{"packages":[{}],"next_cursor":null,"x-more":1}}"#, packages.join(","));
    let mut client = Client::begin(Fake::new(move |_| Ok((200, list.clone())))).await;
    let arguments = json!({"project_id": "p", "query": "words"});
    let result = client.call("memory_pull", arguments).await;
    let read: Value = serde_json::from_str(text(&result)).unwrap();
    assert_eq!(read["packages"].as_array().unwrap().len(), 2);
    let left_out =
        json!([{"member": "packages", "reason": "budget", "count": 1, "ids": ["pkg_0"]}]);
    assert_eq!(read["x-left_out"], left_out);
    let arguments = json!({"project_id": "p", "query": "words", "max_tokens": 40_000});
    let result = client.call("memory_pull", arguments).await;
    let read: Value = serde_json::from_str(text(&result)).unwrap();
    assert_eq!(read["packages"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_host_that_ignores_the_budget_of_a_page_is_not_served() {
    let list = format!(r#"{{"packages":[{}],"next_cursor":"c"}}"#, package(0, 40_000));
    let mut client = Client::begin(Fake::new(move |_| Ok((200, list.clone())))).await;
    let error = client.refused("memory_pull", json!({"project_id": "p"})).await;
    assert_eq!(error["code"], "MCP_BUDGET_TOO_SMALL");
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

/// A host before the budgets of lists and the briefing.
#[tokio::test]
async fn an_older_host_is_asked_again_without_what_it_does_not_know() {
    let fake = Fake::new(|asked| {
        let is_orient = asked.target.contains("/orient");
        let known: &[&str] = if is_orient { &["max_tokens", "limit"] } else { &["limit"] };
        let query = asked.target.split_once('?').map_or("", |(_, query)| query);
        let mut names = query.split('&').filter_map(|pair| Some(pair.split_once('=')?.0));
        match names.find(|name| !known.contains(name)) {
            None => Ok((200, json!({"packages": [], "facts": []}).to_string())),
            Some(name) => {
                let message = format!("this route has no query parameter {name:?}; it has limit");
                let failure = Failure::new(Code::AgenticInvalidSchema, message);
                refusing(&failure.at(format!("/{name}")))
            }
        }
    });
    let mut client = Client::begin(fake.clone()).await;
    for (tool, arguments, target, unknown) in [
        ("memory_pull", json!({}), "/v1/projects/p/packages", "max_tokens"),
        ("memory_facts", json!({"limit": 9}), "/v1/projects/p/facts?limit=9", "max_tokens"),
        (
            "memory_orient",
            json!({"focus": "taxes"}),
            "/v1/projects/p/orient?max_tokens=2000",
            "format, focus",
        ),
    ] {
        let mut arguments = arguments;
        arguments["project_id"] = "p".into();
        let result = client.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        assert_eq!(fake.last().target, target);
        let note = result["content"][1]["text"].as_str().unwrap();
        assert!(note.contains(&format!("does not know {unknown}:")), "{note}");
    }
    // Another parameter changes the meaning of the call.
    let arguments = json!({"project_id": "p", "subject": "s"});
    let error = client.refused("memory_facts", arguments).await;
    assert_eq!(error["field"], "subject", "{error}");
}
