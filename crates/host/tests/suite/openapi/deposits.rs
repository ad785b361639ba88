//! A tool that knows nothing but the document generates deposits that are accepted.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use super::{document, operations, resolved};
use crate::support::World;

const CASES: usize = 300;

#[tokio::test]
async fn most_deposits_that_are_generated_from_the_document_are_accepted() {
    let world = World::new();
    let owner = world.owner();
    let document = document(&owner, "?project_id=atlas").await;
    let mut runner = TestRunner::deterministic();
    for route in ["deposit", "assert_fact"] {
        let (path, _, operation) = operations(&document)
            .find(|(_, _, operation)| operation["operationId"] == route)
            .expect(route);
        let path = address(path, operation);
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let bodies = of(&document, schema, 0);
        let (mut accepted, mut refused) = (0, Vec::new());
        for _ in 0..CASES {
            let body = bodies.new_tree(&mut runner).unwrap().current();
            let answer = owner.post(&path, &body).await;
            assert!(operation["responses"][answer.status.to_string()].is_object(), "{answer:?}");
            match answer.status {
                200 | 201 => accepted += 1,
                _ => refused.push(answer.text),
            }
        }
        assert!(accepted * 10 >= CASES * 9, "{route}: {accepted} of {CASES}; {:?}", refused[0]);
    }
}

/// The address of a request: with the parameters that are required, which are constants.
fn address(path: &str, operation: &Value) -> String {
    let (mut path, mut query) = (path.to_owned(), String::new());
    for parameter in operation["parameters"].as_array().unwrap() {
        let name = parameter["name"].as_str().unwrap();
        let value = &parameter["schema"]["const"];
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match (parameter["in"].as_str(), &parameter["required"]) {
            (Some("path"), _) => path = path.replace(&format!("{{{name}}}"), &value),
            (Some("query"), Value::Bool(true)) => query = format!("?{name}={value}"),
            _ => {}
        }
    }
    path + &query
}

/// Values that a schema allows.
fn of(document: &Value, schema: &Value, depth: usize) -> BoxedStrategy<Value> {
    let schema = resolved(document, schema).clone();
    if let Some(value) = schema.get("const") {
        return Just(value.clone()).boxed();
    }
    if let Some(values) = schema["enum"].as_array() {
        return proptest::sample::select(values.clone()).boxed();
    }
    if let Some(options) = schema["anyOf"].as_array() {
        let options = options.iter().map(|option| of(document, option, depth));
        return proptest::strategy::Union::new(options).boxed();
    }
    match schema["type"].as_str() {
        Some("null") => Just(Value::Null).boxed(),
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        Some("integer") => {
            let least = schema["minimum"].as_i64().unwrap_or(-1_000_000);
            let most = schema["maximum"].as_i64().unwrap_or(1_000_000);
            (least..=most).prop_map(Value::from).boxed()
        }
        Some("number") => {
            let least = schema["minimum"].as_f64().unwrap_or(-1e9);
            let most = schema["maximum"].as_f64().unwrap_or(1e9);
            (least..=most).prop_map(|number| json!(number)).boxed()
        }
        Some("string") => text(&schema),
        Some("array") => {
            let items = of(document, &schema["items"], depth + 1);
            proptest::collection::vec(items, 0..4).prop_map(Value::from).boxed()
        }
        Some("object") => object(document, &schema, depth),
        _ => anything(),
    }
}

fn text(schema: &Value) -> BoxedStrategy<Value> {
    if schema["format"] == "date-time" {
        let parts = (1970..2100, 1..=12, 1..=28, 0..24, 0..60, 0..60);
        let written = parts.prop_map(|(year, month, day, hour, minute, second)| {
            format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z").into()
        });
        return written.boxed();
    }
    let pattern = schema["pattern"].as_str().unwrap_or(r"^[\s\S]*$");
    let inner = pattern.trim_start_matches('^').trim_end_matches('$');
    let least = schema["minLength"].as_u64().unwrap_or(0);
    let most = schema["maxLength"].as_u64().unwrap_or(u64::MAX);
    let texts = string_regex(inner).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    let fits = move |text: &String| (least..=most).contains(&(text.chars().count() as u64));
    texts.prop_filter("the length", fits).prop_map(Value::from).boxed()
}

fn object(document: &Value, schema: &Value, depth: usize) -> BoxedStrategy<Value> {
    let required: Vec<_> = schema["required"].as_array().cloned().unwrap_or_default();
    let mut members: Vec<BoxedStrategy<Option<(String, Value)>>> = Vec::new();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        if member["readOnly"] == true {
            continue;
        }
        let named = name.clone();
        let value = of(document, member, depth + 1).prop_map(move |value| (named.clone(), value));
        members.push(if required.contains(&name.as_str().into()) {
            value.prop_map(Some).boxed()
        } else {
            proptest::option::of(value).boxed()
        });
    }
    let is_open = schema["additionalProperties"].is_object() && depth < 3;
    let others = proptest::collection::vec(("x-[a-z]{1,8}", anything()), 0..3);
    (members, others)
        .prop_map(move |(members, others)| {
            let mut object: Map<String, Value> = members.into_iter().flatten().collect();
            if is_open {
                for (name, value) in others {
                    object.entry(name).or_insert(value);
                }
            }
            Value::Object(object)
        })
        .boxed()
}

fn anything() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        proptest::collection::vec(any::<i16>(), 0..3).prop_map(|list| json!(list)),
        "[a-z]{1,5}".prop_map(|name| json!({ name: 1.5 })),
    ]
    .boxed()
}
