//! Every parameter is what the document says: its limits are accepted, and what is outside them is
//! refused, at the parameter.

use serde_json::{Value, json};

use super::{document, operations};
use crate::support::{Answer, Asker, World, encoded, package};

/// What else a request needs, so that the parameter counts: route, parameter, query.
const CONTEXT: [(&str, &str, &str); 6] = [
    ("orient", "focus", "format=briefing"),
    ("orient", "max_tokens", "format=briefing"),
    ("pull", "query", "mode=relevant"),
    ("pull", "search", "mode=relevant&query=x"),
    ("pull", "package_id", "mode=specific"),
    ("invalidate_fact", "session_id", "actor=agent:planner"),
];

/// Parameters whose refusal names no field, because the protocol has a code for them.
const WITH_CODE: [(&str, &str); 3] = [
    ("cursor", "invalid_cursor"),
    ("after", "invalid_cursor"),
    ("last-event-id", "invalid_cursor"),
];

#[tokio::test]
async fn limits_are_accepted_and_what_is_outside_is_refused() {
    let world = World::new();
    let owner = world.owner();
    owner.deposit(&package("pkg_1")).await;
    let tasks = "/accord/v1/projects/atlas/tasks?actor=human:lead";
    owner.post(tasks, &serde_json::json!({"title": "Cut the tiles"})).await.expect(201);
    let document = document(&owner, "").await;
    let (mut within, mut outside) = (0, 0);
    for (path, method, operation) in operations(&document) {
        let route = operation["operationId"].as_str().unwrap();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            let request = Request { operation, path, method, parameter };
            let (good, bad) = values(&parameter["schema"]);
            // Only a list can make a cursor. A stream of events has no end to wait for. A backup
            // writes where the request says.
            let skipped =
                name == "cursor" || super::FOLLOWING.contains(&route) || route == "backup";
            for value in good.iter().filter(|_| !skipped) {
                let answer = request.send(&owner, value).await;
                assert!(!is_about(&answer, name), "{route} {name}={value:.80}: {answer:?}");
                within += 1;
            }
            // Pages for people and the routes of ggui have bodies of their own, without a place for
            // the name of a parameter.
            let has_own_body = ["/api/", "/code/", "/ggui/", "/live/", "/ws"]
                .iter()
                .any(|start| path.starts_with(start));
            for value in bad.iter().filter(|value| !has_own_body && request.can_have(value)) {
                let answer = request.send(&owner, value).await;
                assert_eq!(answer.status, 400, "{route} {name}={value:.80}: {answer:?}");
                assert!(is_about(&answer, name), "{route} {name}={value:.80}: {answer:?}");
                outside += 1;
            }
        }
    }
    assert!(within > 130 && outside > 200, "{within} within, {outside} outside");
}

struct Request<'d> {
    operation: &'d Value,
    path: &'d str,
    method: &'d str,
    parameter: &'d Value,
}

impl Request<'_> {
    /// Whether a request can have this value there: a path has no empty segment.
    fn can_have(&self, value: &str) -> bool {
        !(self.parameter["in"] == "path" && value.is_empty())
    }

    async fn send(&self, asker: &Asker, value: &str) -> Answer {
        let name = self.parameter["name"].as_str().unwrap();
        let route = self.operation["operationId"].as_str().unwrap();
        let mut path = self.path.to_owned();
        if self.parameter["in"] == "path" {
            path = path.replace(&format!("{{{name}}}"), &encoded(value));
        }
        for (place, id) in [("project_id", "atlas"), ("package_id", "pkg_1")] {
            path = path.replace(&format!("{{{place}}}"), id);
        }
        // Any other id: whether it exists is not asked here.
        while let (Some(from), Some(to)) = (path.find('{'), path.find('}')) {
            let digest = format!("sha256:{}", "0".repeat(64));
            path.replace_range(from..=to, &digest);
        }
        let mut query = Vec::new();
        if self.parameter["in"] == "query" {
            query.push(format!("{name}={}", encoded(value)));
            let context = CONTEXT.iter().find(|(of, with, _)| (*of, *with) == (route, name));
            query.extend(context.map(|(_, _, more)| (*more).to_owned()));
        }
        for other in self.operation["parameters"].as_array().into_iter().flatten() {
            if other["in"] == "query" && other["required"] == true && other["name"] != name {
                query.push(format!("{}=x", other["name"].as_str().unwrap()));
            }
        }
        let url = if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
        let header = [(name, value)];
        let headers = if self.parameter["in"] == "header" { &header[..] } else { &[] };
        let body = if self.operation["requestBody"].is_object() { "{}" } else { "" };
        asker.ask(&self.method.to_uppercase(), &url, headers, body).await
    }
}

/// Whether an answer is a refusal because of a parameter.
fn is_about(answer: &Answer, name: &str) -> bool {
    let body: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let code = WITH_CODE.iter().find(|(with, _)| *with == name);
    body["error"]["field"] == name || code.is_some_and(|(_, code)| body["error"]["code"] == *code)
}

/// Values at the limits of a schema, and values just outside.
fn values(schema: &Value) -> (Vec<String>, Vec<String>) {
    if let Some(names) = schema["enum"].as_array() {
        let names = names.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
        return (names, vec!["no_such_word".into(), String::new()]);
    }
    match schema["type"].as_str().unwrap() {
        "boolean" => {
            let good = ["true", "false"].map(str::to_owned).to_vec();
            (good, ["yes", "", "2", "True"].map(str::to_owned).to_vec())
        }
        "integer" => {
            let (least, most) = (schema["minimum"].as_i64().unwrap(), schema["maximum"].as_i64());
            let mut good = vec![least.to_string()];
            good.extend(most.map(|most| most.to_string()));
            let mut bad = vec![(least - 1).to_string(), "x".into(), "1.5".into()];
            bad.extend(most.map(|most| (most + 1).to_string()));
            (good, bad)
        }
        "string" => texts(schema),
        other => panic!("no parameter has the type {other}"),
    }
}

fn texts(schema: &Value) -> (Vec<String>, Vec<String>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let pattern = schema["pattern"].as_str().unwrap_or(".*");
    let matches = |text: &str| {
        let schema = json!({"type": "string", "pattern": pattern});
        jsonschema::validator_for(&schema).unwrap().is_valid(&json!(text))
    };
    good.extend(
        (schema["examples"].as_array().into_iter().flatten())
            .map(|example| example.as_str().unwrap().to_owned()),
    );
    if let Some(least) = schema["minLength"].as_u64() {
        good.push("x".repeat(least as usize));
        bad.push("x".repeat(least as usize - 1));
    }
    // A limit of megabytes would be a limit of the request line instead.
    if let Some(most) = schema["maxLength"].as_u64().filter(|most| *most <= 8 * 1024) {
        good.push("x".repeat(most as usize));
        bad.push("x".repeat(most as usize + 1));
    }
    good.retain(|text| matches(text));
    // Headers take no control characters, and a text without a pattern takes them all.
    bad.extend(["\0", "no such form", " "].iter().filter(|text| !matches(text)).map(|&t| t.into()));
    (good, bad)
}
