//! The OpenAPI document is what the server does.

mod answers;
mod curl;
mod deposits;
mod form;
mod members;
mod parameters;

use serde_json::Value;

use crate::support::Asker;

/// The routes whose answer is a stream: it has no end to wait for.
const FOLLOWING: [&str; 3] = ["events", "follow_inbox", "watch_events"];

/// The document, or the one for a project.
async fn document(asker: &Asker, query: &str) -> Value {
    asker.get(&format!("/openapi.json{query}")).await.expect(200)
}

/// Every operation, as path, method and description.
fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
    })
}

/// The schema that a reference leads to, or the schema itself.
fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    match schema["$ref"].as_str() {
        None => schema,
        Some(place) => document.pointer(place.trim_start_matches('#')).expect(place),
    }
}
