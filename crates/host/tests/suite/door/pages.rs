//! What the server tells about itself.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Door;

#[tokio::test]
async fn the_description_is_whole() {
    let door = Door::open(&[]).await;
    let answer = door.get("/openapi.json").await;
    assert_eq!(answer.status, 200);
    let document = answer.json();
    assert_eq!(document["openapi"], "3.1.0");
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut ids = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} twice");
            let answers = operation["responses"].as_object().unwrap();
            // 101 is the answer to an upgrade.
            let is_done = |status: &String| status.starts_with('2') || status == "101";
            assert!(answers.keys().any(is_done), "{method} {path}");
            assert!(answers.contains_key("401"), "{method} {path}");
        }
    }
    for route in
        ["health", "keys", "create_key", "revoke_key", "status", "backup", "trim", "deposit"]
    {
        assert!(ids.contains(route), "{route}");
    }
    let mut references = BTreeSet::new();
    collect(&document, &mut references);
    for reference in references {
        let name = reference.strip_prefix("#/components/schemas/");
        let name = name.unwrap_or_else(|| panic!("{reference} leads nowhere"));
        assert!(schemas.contains_key(name), "{reference} leads nowhere");
    }
    door.close().await;
}

fn collect(value: &Value, references: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if let (true, Some(place)) = (name == "$ref", member.as_str()) {
                    references.insert(place.to_owned());
                }
                collect(member, references);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, references)),
        _ => {}
    }
}

#[tokio::test]
async fn the_page_needs_nothing_from_elsewhere() {
    let door = Door::open(&[]).await;
    let page = door.get("/docs").await;
    assert_eq!(page.status, 200);
    assert!(page.head.contains("content-type: text/html; charset=utf-8"));
    assert!(page.head.contains("content-security-policy: default-src 'none'; style-src 'sha256-"));
    for foreign in ["<script", "src=", "href=\"http", "url(", "@import", "style=\""] {
        assert!(!page.body.contains(foreign), "{foreign}");
    }
    // Every link leads somewhere on the page.
    for link in page.body.split("href=\"#").skip(1) {
        let name = link.split('"').next().unwrap();
        assert!(page.body.contains(&format!("id=\"{name}\"")), "{name}");
    }
    let document = door.get("/openapi.json").await.json();
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(page.body.contains(&format!("<span>{path}</span>")), "{path}");
    }
    door.close().await;
}

#[tokio::test]
async fn metrics_count() {
    let door = Door::open(&[]).await;
    door.get("/healthz").await;
    door.get("/nowhere").await;
    let odd = door.ask("BREW", "/healthz", &[], "").await;
    odd.refused(405, "HTTP_METHOD_NOT_ALLOWED");
    let text = door.get("/metrics").await.body;
    for line in [
        "accord_http_requests_total{route=\"health\",method=\"GET\",status=\"200\"} 1",
        "accord_http_requests_total{route=\"none\",method=\"GET\",status=\"404\"} 1",
        "method=\"other\",status=\"405\"} 1",
        "accord_http_refusals_total{code=\"HTTP_ROUTE_UNKNOWN\"} 1",
        "accord_http_request_seconds_count{route=\"health\"}",
        "accord_build_info{version=\"",
        "accord_store_commits_total ",
        "accord_store_jobs_waiting 0",
        "accord_connections 1",
        "accord_event_streams 0",
        "accord_deposits_total 0",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
    door.close().await;
}
