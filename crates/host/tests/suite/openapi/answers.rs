//! Real answers have a status, a media type and a body that the document describes.

use std::collections::{BTreeMap, BTreeSet};

use accord_host::http::EXAMPLES;
use serde_json::{Value, json};

use super::{curl, document, operations};
use crate::support::{Answer, World, package_with};

#[tokio::test]
async fn the_document_describes_what_is_answered() {
    let world = World::new();
    let owner = world.owner();
    let document = document(&owner, "").await;
    let backups = tempfile::tempdir().unwrap();
    let mut known = BTreeMap::new();
    let mut tried = BTreeSet::new();
    for example in EXAMPLES {
        let mut sent = curl::read(example.command, &known);
        sent.body = sent.body.replace("/backups", backups.path().to_str().unwrap());
        tried.insert(example.route);
        // A stream has no end to wait for.
        if super::FOLLOWING.contains(&example.route) {
            continue;
        }
        let headers: Vec<_> =
            sent.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = owner.ask(&sent.method, &sent.path, &headers, &sent.body).await;
        assert_eq!(answer.status, example.status, "{}: {}", example.route, answer.text);
        is_described(&document, example.route, &answer);
        if let Some(file) = sent.output {
            known.insert(file, answer.text.clone());
        }
        learn(example.route, &answer, &mut known);

        // The same route, asked wrongly.
        let path = format!("{}{}no_such_parameter=1", sent.path, mark(&sent.path));
        let refused = owner.ask(&sent.method, &path, &headers, &sent.body).await;
        assert_eq!(refused.status, 400, "{path}: {}", refused.text);
        is_described(&document, example.route, &refused);
    }
    for (_, _, operation) in operations(&document) {
        let name = operation["operationId"].as_str().unwrap();
        assert!(tried.contains(name), "{name} has no example");
    }
}

/// What the answers of other forms are: a package instead of a list, lines instead of a document.
#[tokio::test]
async fn the_other_forms_of_answers_are_described_too() {
    let world = World::new();
    let owner = world.owner();
    let document = document(&owner, "").await;
    owner.deposit(&crate::support::package("pkg_1")).await;
    let packages = "/v1/projects/atlas/packages";
    let one = owner.get(&format!("{packages}?mode=specific&package_id=pkg_1")).await;
    is_described(&document, "pull", &one);
    let tag = one.header("etag").to_owned();
    let path = format!("{packages}?mode=specific&package_id=pkg_1");
    let same = owner.ask("GET", &path, &[("if-none-match", &tag)], "").await;
    assert_eq!(same.status, 304);
    is_described(&document, "pull", &same);
    let found = owner.get(&format!("{packages}?mode=relevant&query=zzz+pkg")).await;
    is_described(&document, "pull", &found);

    for format in ["bundle", "briefing-json"] {
        let orientation = owner.get(&format!("/v1/projects/atlas/orient?format={format}")).await;
        assert_eq!(orientation.status, 200, "{}", orientation.text);
        is_described(&document, "orient", &orientation);
    }
    // Markdown has a route of its own in the document.
    let briefing = owner.get("/v1/projects/atlas/briefing?max_tokens=500").await;
    is_described(&document, "briefing", &briefing);
    let same = owner.get("/v1/projects/atlas/orient?format=briefing&max_tokens=500").await;
    assert_eq!(briefing.header("content-type"), same.header("content-type"));
    assert!(briefing.text.starts_with("# ") && same.text.starts_with("# "), "{}", same.text);

    let lines = [("accept", "application/x-ndjson")];
    let verified = owner.ask("POST", "/accord/v1/verify", &lines, "{}").await;
    assert_eq!(verified.header("content-type"), "application/x-ndjson");
    is_described(&document, "verify", &verified);
    let exported = owner.get("/v1/projects/atlas/export").await.text;
    let imported = owner.ask("POST", "/v1/projects/atlas/import", &lines, &exported).await;
    is_described(&document, "import", &imported);

    let blob = "/v1/blobs/sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let put = owner.ask("PUT", blob, &[("content-type", "text/x-greeting")], "hello").await;
    is_described(&document, "put_blob", &put);
    for range in ["bytes=0-1", "bytes=9-"] {
        let part = owner.ask("GET", blob, &[("range", range)], "").await;
        is_described(&document, "get_blob", &part);
    }
}

/// A generated client reads an answer as one media type, sends every default, and fails at others.
#[tokio::test]
async fn a_generated_client_reads_every_answer_that_it_can_ask_for() {
    let world = World::new();
    let owner = world.owner();
    owner.deposit(&package_with("pkg_1", json!({"warnings": ["mine"]}))).await;
    let document = document(&owner, "").await;
    for (_, _, operation) in operations(&document) {
        let name = operation["operationId"].as_str().unwrap();
        let content = &operation["responses"]["200"]["content"];
        let types: Vec<_> =
            content.as_object().into_iter().flat_map(|types| types.keys()).collect();
        let both = types.iter().any(|one| *one == "application/json")
            && types.iter().any(|one| one.starts_with("text/"));
        assert!(!both, "{name}: {types:?}");
    }
    let found = operations(&document).find(|(.., operation)| operation["operationId"] == "orient");
    let (.., orient) = found.unwrap();
    let parameters = orient["parameters"].as_array().unwrap();
    let defaults = parameters.iter().filter_map(|one| {
        let (name, default) = (one["name"].as_str()?, one["schema"].get("default")?);
        (name != "format").then(|| format!("&{name}={default}"))
    });
    let defaults: String = defaults.collect();
    let format = parameters.iter().find(|one| one["name"] == "format").unwrap();
    assert_eq!(format["schema"]["enum"], json!(["bundle", "briefing-json"]));
    for format in format["schema"]["enum"].as_array().unwrap() {
        let format = format.as_str().unwrap();
        let path = format!("/v1/projects/atlas/orient?format={format}{defaults}");
        let answer = owner.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        // With a package that has warnings of its own.
        is_described(&document, "orient", &answer);
    }
}

/// Checks the status, the media type and the body of an answer.
fn is_described(document: &Value, route: &str, answer: &Answer) {
    let operation =
        operations(document).find(|(_, _, operation)| operation["operationId"] == route);
    let (_, _, operation) = operation.expect(route);
    let response = &operation["responses"][answer.status.to_string()];
    assert!(response.is_object(), "{route}: {} is not documented", answer.status);
    let sent = answer.header("content-type");
    if answer.text.is_empty() {
        assert_eq!(response.get("content"), None, "{route}: {}", answer.status);
        return;
    }
    let essence = sent.split(';').next().unwrap();
    let content = response["content"].as_object();
    let content = content.unwrap_or_else(|| panic!("{route}: {} has a body", answer.status));
    let found = content.get(essence).or_else(|| content.get("*/*"));
    let found = found.unwrap_or_else(|| panic!("{route}: {} as {sent}", answer.status));
    if essence != "application/json" {
        return;
    }
    let mut schema = found["schema"].clone();
    schema["components"] = json!({"schemas": document["components"]["schemas"]});
    let validator = jsonschema::validator_for(&schema).unwrap();
    let body = serde_json::from_str(&answer.text).unwrap();
    let problems: Vec<_> =
        validator.iter_errors(&body).map(|error| error.to_string()).take(3).collect();
    assert!(problems.is_empty(), "{route}: {problems:?} in {}", answer.text);
}

fn learn(route: &str, answer: &Answer, known: &mut BTreeMap<String, String>) {
    if let (true, Some(first)) = (route == "create_task", known.get("TASK_ID").cloned()) {
        known.entry("FIRST_TASK_ID".to_owned()).or_insert(first);
    }
    let reported: &[(&str, &str)] = match route {
        "start_session" => &[("SESSION_ID", "/session_id")],
        "create_key" => &[("ACCORD_KEY", "/secret"), ("KEY_ID", "/key/key_id")],
        "create_task" => &[("TASK_ID", "/result/task/id")],
        "ggui_handshake" => &[("HANDSHAKE_ID", "/result/handshakeId")],
        "ggui_render" => {
            &[("LIVE_SESSION_ID", "/result/sessionId"), ("BLUEPRINT_ID", "/result/blueprintId")]
        }
        _ => &[],
    };
    for (name, place) in reported {
        let document: Value = serde_json::from_str(&answer.text).unwrap();
        let value = document.pointer(place).and_then(Value::as_str).unwrap();
        known.insert((*name).to_owned(), value.to_owned());
    }
}

fn mark(path: &str) -> char {
    if path.contains('?') { '&' } else { '?' }
}
