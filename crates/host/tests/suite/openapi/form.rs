//! What tools need: types everywhere, and no schema that says nothing.

use serde_json::Value;

use super::{document, operations};
use crate::support::World;

/// Headers whose values have no form: anything else than the form means the same as none. And the
/// names of files: anything else than a name of a file is a file that does not exist.
const FREE: [&str; 5] = ["if-match", "if-none-match", "range", "version", "name"];

#[tokio::test]
async fn every_parameter_has_a_type_or_a_form() {
    let world = World::new();
    let document = document(&world.owner(), "").await;
    let mut seen = 0;
    for (_, _, operation) in operations(&document) {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            seen += 1;
            let name = parameter["name"].as_str().unwrap();
            let schema = parameter["schema"].as_object().unwrap();
            let is_bare = schema.get("type") == Some(&"string".into())
                && !["enum", "const", "minLength", "maxLength", "pattern", "format"]
                    .iter()
                    .any(|keyword| schema.contains_key(*keyword));
            assert!(!is_bare || FREE.contains(&name), "{}: {name}", operation["operationId"]);
            // These three are described by media types and security, and OpenAPI ignores them here.
            assert!(!["accept", "content-type", "authorization"].contains(&name));
        }
    }
    assert!(seen > 80, "{seen}");
}

#[tokio::test]
async fn no_schema_says_nothing() {
    let world = World::new();
    for query in ["", "?project_id=atlas"] {
        says_something(&document(&world.owner(), query).await);
    }
}

fn says_something(document: &Value) {
    assert!(!document.to_string().contains(":null"), "a member that is null");
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        check(name, schema);
    }
    for (path, method, operation) in operations(document) {
        let responses = operation["responses"].as_object().unwrap().values();
        for body in responses.chain([&operation["requestBody"]]) {
            for (media_type, content) in body["content"].as_object().into_iter().flatten() {
                check(&format!("{method} {path} {media_type}"), &content["schema"]);
            }
        }
    }
}

/// Checks that every schema is an object with a type, a choice, a reference or a description.
fn check(at: &str, schema: &Value) {
    let members = schema.as_object().unwrap_or_else(|| panic!("{at}: {schema}"));
    let says = ["type", "$ref", "anyOf", "description"];
    assert!(says.iter().any(|keyword| members.contains_key(*keyword)), "{at}: {schema}");
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        check(&format!("{at}.{name}"), property);
    }
    for option in schema["anyOf"].as_array().into_iter().flatten() {
        check(at, option);
    }
    if let Some(items) = members.get("items") {
        check(&format!("{at}[]"), items);
    }
    match members.get("additionalProperties") {
        None => assert!(!members.contains_key("properties"), "{at} does not say what else it has"),
        Some(Value::Bool(false)) => {}
        Some(others) => check(&format!("{at}.*"), others),
    }
}

#[tokio::test]
async fn the_root_leads_to_the_page() {
    let world = World::new();
    let answer = world.owner().get("/").await;
    assert_eq!((answer.status, answer.header("location")), (303, "/docs"));
}
