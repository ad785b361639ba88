//! A small protocol `web` that is judged over HTTP, and runs of its cases.

use std::time::Duration;

use accord_kit::driver::{Http, HttpOptions};
use accord_kit::report::CaseReport;
use accord_kit::{Corpus, Protocol, RunOptions, RunReport};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{Answer, Request, Server};
use crate::support::{patient, put, run};

pub(crate) fn clauses() -> Value {
    let clause = |id: &str, strength: &str| {
        json!({"id": id, "strength": strength,
        "text": format!("text of {id}"), "source": "chapter 1"})
    };
    json!({"protocol": "web", "version": "1.0", "oracles": ["node"],
        "clauses": [clause("WEB-1", "must"), clause("WEB-2", "should")]})
}

pub(crate) fn routes() -> Value {
    let route = |by: &str, level: Value, method: &str, path: &str| {
        let mut route = json!({"summary": "A route.", "defined_by": by, "method": method,
            "path": path, "query": ["q", "limit"]});
        if !level.is_null() {
            route["level"] = level;
        }
        route
    };
    let with = |mut route: Value, member: &str, value: &str| {
        route[member] = json!(value);
        route
    };
    json!({
        "levels": ["A", "B", "C"],
        "routes": {
            "read": route("protocol", json!("A"), "GET", "/things/{thing}"),
            "list": with(route("protocol", json!("A"), "GET", "/scopes/{scope_id}/things"), "list",
                "things"),
            "write": route("protocol", json!("B"), "POST", "/scopes/{scope_id}/things"),
            "judge": route("protocol", json!("C"), "POST", "/things/{thing}/judge"),
            "past": route("proposal", json!("C"), "GET", "/things/{thing}/past"),
            "extra": route("proposal", Value::Null, "GET", "/extra"),
            "claim": route("protocol", Value::Null, "GET", "/claim"),
            "lines": with(route("proposal", Value::Null, "GET", "/lines"), "answer", "lines"),
            "events": with(route("proposal", Value::Null, "GET", "/events"), "answer", "events"),
            "create": route("proposal", Value::Null, "POST", "/scopes"),
            "retire": route("proposal", Value::Null, "POST", "/scopes/{scope_id}/retire"),
            "remove": route("proposal", Value::Null, "DELETE", "/scopes/{scope_id}"),
        },
        "codes": {"thing_not_found": 404, "scope_not_found": 404, "conflict": 409,
            "not_yours": 403},
        "templates": {"thing": {"id": "${id}", "scope": "${scope_id}", "n": 1, "deep": {"a": 1}}},
        "scope": {
            "kind": "scope", "variable": "scope_id", "prefix": "check-",
            "create": {"route": "create", "json": {"id": "${scope_id}", "x-run": true}},
            "open": [
                {"prepare": true, "request": {"route": "write", "json": {"id": "first"}}},
                {"prepare": true, "request": {"route": "list"}},
            ],
            "retire": {"route": "retire"}, "retired": "retired", "remove": {"route": "remove"},
        },
    })
}

/// A sound case of a level; `id` is below `web/`.
pub(crate) fn exchange(id: &str, level: &str, steps: Value) -> Value {
    json!({
        "id": format!("web/{id}"), "protocol": "web", "level": level, "strength": "must",
        "clauses": ["WEB-1"], "title": "The server does what it must.", "steps": steps,
    })
}

/// A case of one step that reads a thing and expects this.
pub(crate) fn reads(expect: Value) -> Value {
    let step = json!({"request": {"route": "read", "path": {"thing": "x"}}, "expect": [expect]});
    exchange("area/case", "A", json!([step]))
}

pub(crate) fn write_corpus(cases: &[Value]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "web/clauses.json", &clauses().to_string());
    put(folder.path(), "web/routes.json", &routes().to_string());
    for case in cases {
        let path = format!("{}.json", case["id"].as_str().unwrap());
        put(folder.path(), &path, &case.to_string());
    }
    folder
}

pub(crate) fn web(cases: &[Value]) -> Protocol {
    let corpus = Corpus::from_dir(write_corpus(cases).path()).unwrap();
    corpus.protocol("web").unwrap().clone()
}

/// A server that answers everything that a run does beside its cases, and the rest as a test says.
pub(crate) fn serve(answer: impl Fn(&Request) -> Option<Answer> + Send + Sync + 'static) -> Server {
    Server::start(move |request| answer(request).unwrap_or_else(|| ordinary(request)))
}

/// What a sound server of level B answers.
pub(crate) fn ordinary(request: &Request) -> Answer {
    let path = request.target.split('?').next().unwrap_or_default();
    match (request.method.as_str(), path) {
        ("GET", "/") => Answer::text(404, "nothing here"),
        ("POST", "/scopes") => Answer::json(201, request.json()),
        ("POST", path) if path.ends_with("/retire") => Answer::json(200, json!({})),
        ("POST", path) if path.ends_with("/things") => Answer::json(201, request.json()),
        ("GET", path) if path.ends_with("/things") => Answer::json(200, json!([{"id": "first"}])),
        ("GET", "/things/none") => Answer::json(404, json!({"error": {"code": "thing_not_found"}})),
        ("GET", path) if path.starts_with("/things/") && path.matches('/').count() == 2 => {
            Answer::json(200, json!({"id": &path[8..]}))
        }
        _ => Answer::json(404, json!({"error": "no such route"})),
    }
}

/// Runs cases against a server.
pub(crate) fn judge(server: &Server, cases: &[Value]) -> RunReport {
    judge_with(server, cases, |_| {}, &patient())
}

pub(crate) fn judge_with(
    server: &Server,
    cases: &[Value],
    change: impl FnOnce(&mut HttpOptions),
    options: &RunOptions,
) -> RunReport {
    let mut server = HttpOptions::new(server.url());
    change(&mut server);
    run(&web(cases), &Http::new(server).unwrap(), options)
}

/// Runs one case against a server.
pub(crate) fn judge_one(server: &Server, case: Value) -> CaseReport {
    judge(server, &[case]).cases.remove(0)
}

/// What the kit says when a server answers a read with this document and the case expects that.
pub(crate) fn verdict_on(body: Value, expect: Value) -> CaseReport {
    let server = serve(move |request| {
        let read = request.target == "/things/x";
        read.then(|| Answer::json(200, body.clone()))
    });
    judge_one(&server, reads(expect))
}

/// Options for servers that hang.
pub(crate) fn hasty(options: &mut HttpOptions) {
    options.request_timeout = Duration::from_secs(3);
}
