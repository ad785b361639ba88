//! What loading accepts of cases over HTTP, and what it says about each mistake.

use std::path::Path;

use accord_contract::Wire as _;
use accord_kit::Corpus;
use accord_kit::corpus::CorpusError;
use serde_json::{Value, json};

use crate::support::{changed, put};
use crate::web::{exchange, routes, web, write_corpus};

fn faults(folder: &Path) -> Vec<String> {
    match Corpus::from_dir(folder) {
        Err(CorpusError::Faulty(faults)) => faults.iter().map(ToString::to_string).collect(),
        Err(other) => panic!("{other}"),
        Ok(_) => Vec::new(),
    }
}

fn sound() -> Value {
    exchange("area/a", "A", json!([sound_step()]))
}

fn sound_step() -> Value {
    json!({"request": {"route": "read", "path": {"thing": "x"}}, "expect": [{"status": [200]}]})
}

/// The one fault of a corpus with this case.
fn fault_of(case: Value) -> String {
    let folder = write_corpus(&[]);
    put(folder.path(), "web/area/a.json", &case.to_string());
    let faults = faults(folder.path());
    assert_eq!(faults.len(), 1, "{case}: {faults:?}");
    faults[0].strip_prefix("web/area/a.json: ").unwrap_or(&faults[0]).to_owned()
}

/// The one fault of a case whose only step has these members.
fn fault_in_step(changes: Value) -> String {
    fault_of(exchange("area/a", "B", json!([changed(sound_step(), changes)])))
}

fn fault_in_request(request: Value) -> String {
    fault_in_step(json!({"request": request}))
}

fn fault_in_check(check: Value) -> String {
    fault_in_step(json!({"expect": [{"status": [200], "checks": [check]}]}))
}

#[test]
fn a_sound_case_is_read_and_written_again() {
    let case = changed(
        sound(),
        json!({"let": {"id": {"make": "unique", "prefix": "p"}}, "claim": "id", "oracle": "node"}),
    );
    let protocol = web(std::slice::from_ref(&case));
    assert_eq!(protocol.cases()[0].encode(), case);
    assert_eq!(protocol.cases()[0].operation(), "read");
    assert_eq!(protocol.levels_up_to("B").into_iter().collect::<Vec<_>>(), ["A", "B"]);
    assert_eq!(protocol.levels_up_to("?").into_iter().collect::<Vec<_>>(), ["?"]);
}

#[test]
fn a_mistake_in_a_case_is_named() {
    for (changes, expected) in [
        (json!({"colour": 1}), "/colour: expected no member of this name, found a number"),
        (json!({"input": {}}), "/input: expected no member of this name, found an object"),
        (json!({"level": "D"}), "/level: no level \"D\" is in routes.json"),
        (json!({"oracle": "owl"}), "/oracle: no oracle \"owl\" is in clauses.json"),
        (json!({"claim": "level"}), "/claim: nothing gives the variable `level` a value"),
        (
            json!({"let": {"a": {"make": "wish"}}}),
            "/let/a/make: expected one of \"unique\", \"hex\", \"time\", \"text\", \"scope\", \
             found \"wish\"",
        ),
        (json!({"let": {"a": {"make": "time"}}}), "/let/a/seconds: is missing; `time` needs it"),
        (
            json!({"let": {"a": {"make": "unique", "times": 2}}}),
            "/let/a/times: `unique` has no such member",
        ),
        (
            json!({"let": {"a": {"make": "hex", "digits": 65}}}),
            "/let/a/digits: must be from 1 to 64",
        ),
        (
            json!({"let": {"A": {"make": "unique"}}}),
            "/let: names are lowercase letters, digits and `_`, and begin with a letter",
        ),
        (json!({"steps": []}), "/steps: judges nothing: every step only prepares"),
        (
            json!({"steps": [{"prepare": true, "request": {"route": "extra"}}]}),
            "/steps: judges nothing: every step only prepares",
        ),
        (
            json!({"steps": [{"request": {"route": "write", "json": {}},
                "expect": [{"status": [201]}]}]}),
            "/level: is below that of the route \"write\"",
        ),
    ] {
        assert_eq!(fault_of(changed(sound(), changes)), expected);
    }
}

#[test]
fn a_mistake_in_a_step_is_named() {
    for (changes, expected) in [
        (json!({"colour": 1}), "/steps/0/colour: expected no member of this name, found a number"),
        (json!({"expect": []}), "/steps/0/expect: expects nothing"),
        (
            json!({"repeat": 2, "parallel": 2}),
            "/steps/0/repeat: cannot be combined with `parallel`",
        ),
        (json!({"parallel": 300}), "/steps/0: sends no request, or more than 256"),
        (json!({"each": []}), "/steps/0: sends no request, or more than 256"),
        (
            json!({"each": [{"a": 1}, {"b": 1}]}),
            "/steps/0/each/1: has other variables than the first set",
        ),
        (
            json!({"parallel": 2, "capture": {"a": ""}}),
            "/steps/0/capture: answers of parallel requests cannot be distinguished",
        ),
        (
            json!({"tally": [{"status": [200], "least": 1}]}),
            "/steps/0/tally: counts answers, and there is one",
        ),
        (
            json!({"parallel": 2, "tally": [{"status": [200]}]}),
            "/steps/0/tally/0: needs `least` or `most`",
        ),
        (
            json!({"capture": {"a": "id"}}),
            "/steps/0/capture/a: must be a JSON pointer, `@text`, `@status` or `@header:name`",
        ),
        (
            json!({"expect": [{"status": [99]}]}),
            "/steps/0/expect/0/status: must list statuses from 100 to 599",
        ),
        (
            json!({"expect": [{"status": [200], "code": "odd"}]}),
            "/steps/0/expect/0/code: no code \"odd\" is in routes.json",
        ),
        (
            json!({"expect": [{"status": [400], "code": "conflict"}]}),
            "/steps/0/expect/0/code: goes with the status 409",
        ),
        (
            json!({"expect": [{"status": [200], "verdict": "skip"}]}),
            "/steps/0/expect/0: `verdict` and `why` go together",
        ),
        (
            json!({"expect": [{"status": [200], "body": {"a": {"assert": "like"}}}]}),
            "/steps/0/expect/0/body/a: unknown assertion `like`; known are absent, contains, \
             equals, id_prefix, nonempty_string, present, unordered_array",
        ),
        (
            json!({"expect": [{"status": [200], "headers": {"ETag": "x"}}]}),
            "/steps/0/expect/0/headers: names of headers are in lower case",
        ),
        (
            json!({"expect": [{"status": [200], "body": {"a": "${b}"}}]}),
            "/steps/0/expect/0/body/a: nothing gives the variable `b` a value",
        ),
        (
            json!({"expect": [{"status": [200],
                "body": {"h": format!("sha256:{}", "ab".repeat(32))}}]}),
            "/steps/0/expect/0/body/h: is a digest; `oracle` must name who computed it",
        ),
    ] {
        assert_eq!(fault_in_step(changes), expected);
    }
    let mut without = sound_step();
    without.as_object_mut().unwrap().remove("expect");
    assert_eq!(
        fault_of(exchange("area/a", "A", json!([without]))),
        "/steps/0/expect: is missing; only a step that prepares can do without it"
    );
}

#[test]
fn a_mistake_in_a_request_is_named() {
    for (request, expected) in [
        (json!({"route": "fly"}), "/steps/0/request/route: no route \"fly\" is in routes.json"),
        (
            json!({"route": "read"}),
            "/steps/0/request/path: nothing gives the variable `thing` a value",
        ),
        (
            json!({"route": "extra", "path": {"thing": "x"}}),
            "/steps/0/request/path/thing: the route's path has no such parameter",
        ),
        (
            json!({"route": "extra", "query": {"colour": "x"}}),
            "/steps/0/request/query/colour: the route has no such parameter",
        ),
        (
            json!({"route": "extra", "query": {"q": "${a}"}}),
            "/steps/0/request/query/q: nothing gives the variable `a` a value",
        ),
        (
            json!({"route": "extra", "headers": {"authorization": "x"}}),
            "/steps/0/request/headers/authorization: must be a header's name in lower case, and \
             none that `credential` or `content_type` sets",
        ),
        (
            json!({"route": "extra", "credential": "admin"}),
            "/steps/0/request/credential: expected one of \"main\", \"none\", \"wrong\", \
             \"second\", found \"admin\"",
        ),
        (json!({"route": "extra", "json": {}}), "/steps/0/request: a GET has no body"),
        (
            json!({"route": "write", "json": {}, "text": ""}),
            "/steps/0/request: has more than one of `template`, `json` and `text`",
        ),
        (
            json!({"route": "write", "remember": "a"}),
            "/steps/0/request: describes a body and has none",
        ),
        (
            json!({"route": "write", "json": {}, "set": {"/a": 1}}),
            "/steps/0/request: changes a template and names none",
        ),
        (
            json!({"route": "write", "template": "house"}),
            "/steps/0/request/template: no template \"house\" is in routes.json",
        ),
        (
            json!({"route": "write", "template": "thing"}),
            "/steps/0/request/id: nothing gives the variable `id` a value",
        ),
        (
            json!({"route": "write", "template": "thing", "set": {"/id": "x", "n": 1}}),
            "/steps/0/request: \"n\" is not the JSON pointer of a member",
        ),
        (
            json!({"route": "write", "text": "${a}"}),
            "/steps/0/request/text: nothing gives the variable `a` a value",
        ),
    ] {
        assert_eq!(fault_in_request(request), expected);
    }
    // A member that is taken out of a template needs no value, nor does one that is replaced.
    for request in [
        json!({"route": "write", "template": "thing", "remove": ["/id"]}),
        json!({"route": "write", "template": "thing", "set": {"/id": "x"}}),
    ] {
        web(&[exchange(
            "area/a",
            "B",
            json!([{"request": request, "expect": [{"status": [201]}]}]),
        )]);
    }
}

#[test]
fn a_mistake_in_a_check_is_named() {
    for (check, expected) in [
        (json!({"check": "regex", "at": ""}), None),
        (
            json!({"check": "count", "at": "/l/*"}),
            Some("/steps/0/expect/0/checks/0: has nothing for `count` to check"),
        ),
        (
            json!({"check": "count", "least": 1}),
            Some("/steps/0/expect/0/checks/0/at: is missing; `count` needs it"),
        ),
        (
            json!({"check": "distinct", "at": "/l", "least": 1}),
            Some("/steps/0/expect/0/checks/0/least: `distinct` has no such member"),
        ),
        (
            json!({"check": "distinct", "at": "l"}),
            Some("/steps/0/expect/0/checks/0/at: must be a JSON pointer"),
        ),
        (
            json!({"check": "type", "at": "/l", "value": "uint"}),
            Some("/steps/0/expect/0/checks/0: has nothing for `type` to check"),
        ),
        (
            json!({"check": "has_number", "value": "1"}),
            Some("/steps/0/expect/0/checks/0: has nothing for `has_number` to check"),
        ),
        (
            json!({"check": "sha256_of_canonical", "at": "", "profile": "mine"}),
            Some("/steps/0/expect/0/checks/0: has nothing for `sha256_of_canonical` to check"),
        ),
        (
            json!({"check": "sha256_of_canonical", "profile": "agentic"}),
            Some("/steps/0/expect/0/checks/0: has nothing for `sha256_of_canonical` to check"),
        ),
        (
            json!({"check": "same_items", "at": "", "name": "before"}),
            Some("/steps/0/expect/0/checks/0/name: nothing gives the variable `before` a value"),
        ),
    ] {
        let fault = fault_in_check(check);
        match expected {
            Some(expected) => assert_eq!(fault, expected),
            None => assert!(
                fault.starts_with("/steps/0/expect/0/checks/0/check: expected one of "),
                "{fault}"
            ),
        }
    }
}

#[test]
fn a_mistake_in_the_routes_is_named() {
    let fault = |change: fn(&mut Value)| {
        let folder = write_corpus(&[]);
        let mut list = routes();
        change(&mut list);
        put(folder.path(), "web/routes.json", &list.to_string());
        faults(folder.path())
    };
    assert_eq!(
        fault(|list| list["routes"]["read"]["level"] = json!("Z")),
        ["web/routes.json: /routes/read/level: no level \"Z\" is in the list"]
    );
    assert_eq!(
        fault(|list| list["routes"]["extra"]["path"] = json!("/a/{b")),
        ["web/routes.json: /routes/extra/path: must begin with `/` and close every brace"]
    );
    assert_eq!(
        fault(|list| list["codes"]["fine"] = json!(200)),
        ["web/routes.json: /codes/fine: must be the status of a failure"]
    );
    assert_eq!(
        fault(|list| list["scope"]["retire"] = json!({"route": "bury"})),
        ["web/routes.json: /scope/retire/route: no route \"bury\" is in routes.json"]
    );
    assert_eq!(
        fault(|list| list["scope"]["open"][0]["request"]["json"] = json!({"a": "${b}"})),
        ["web/routes.json: /scope/open/0/request/a: nothing gives the variable `b` a value"]
    );
    assert_eq!(
        fault(|list| list["scope"]["prefix"] = json!("Check ")),
        ["web/routes.json: /scope/prefix: names are lowercase letters, digits, `-`, `_` and \
             `.`, and begin with a letter or digit"]
    );
}

#[test]
fn a_case_over_http_needs_routes() {
    let folder = crate::support::write_corpus(&[]);
    let case = changed(
        sound(),
        json!({"id": "demo/area/a", "protocol": "demo", "clauses": ["DEMO-1"], "level": "core"}),
    );
    put(folder.path(), "demo/area/a.json", &case.to_string());
    assert_eq!(
        faults(folder.path()),
        ["demo/area/a.json: /steps: a case over HTTP needs a file routes.json beside the areas"]
    );
}

#[test]
fn filters_know_routes() {
    let protocol = web(&[sound()]);
    let matches = |filter: &str| {
        let filter: accord_kit::Filter = filter.parse().unwrap();
        filter.matches(&protocol.cases()[0])
    };
    assert!(matches("op(read)") && matches("op(re*)"));
    assert!(!matches("op(write)"));
}
