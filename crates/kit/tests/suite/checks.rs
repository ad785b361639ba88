//! Every check of an expectation, on answers that it holds for and on answers that it does not.

use serde_json::{Value, json};

use crate::server::Answer;
use crate::support::changed;
use crate::web::{exchange, judge_one, serve, verdict_on};

/// Asserts what a check says about answers.
fn holds(check: Value, bodies: &[Value]) {
    for body in bodies {
        let result = verdict_on(body.clone(), json!({"status": [200], "checks": [check]}));
        assert_eq!(result.verdict.as_str(), "pass", "{check} on {body}: {:?}", result.message);
    }
}

fn breaks(check: Value, bodies: &[Value]) {
    for body in bodies {
        let result = verdict_on(body.clone(), json!({"status": [200], "checks": [check]}));
        assert_eq!(result.verdict.as_str(), "fail", "{check} on {body}");
        assert!(result.differences[0].pointer.starts_with("/body"), "{result:?}");
    }
}

#[test]
fn moments() {
    let check = json!({"check": "rfc3339_utc", "at": "/l/*/t"});
    holds(
        check.clone(),
        &[json!({"l": [{"t": "2026-04-18T20:00:00Z"}, {"t": "2026-04-18T20:00:00.123+00:00"}]})],
    );
    breaks(
        check,
        &[
            json!({"l": [{"t": "2026-04-18T20:00:00Z"}, {"t": "2026-04-18"}]}),
            json!({"l": [{"t": null}]}),
            json!({"l": [{"t": 5}]}),
            json!({"l": [{}]}),
            json!({"l": []}),
        ],
    );
    let or_null = json!({"check": "rfc3339_utc", "at": "/t", "or_null": true});
    holds(or_null.clone(), &[json!({"t": null}), json!({"t": "2026-04-18T20:00:00Z"})]);
    breaks(or_null, &[json!({"t": "soon"})]);

    let same = json!({"check": "instant", "at": "/t", "value": "2026-04-18T20:00:00Z"});
    holds(
        same.clone(),
        &[json!({"t": "2026-04-18T20:00:00.000Z"}), json!({"t": "2026-04-18T22:00:00+02:00"})],
    );
    breaks(same, &[json!({"t": "2026-04-18T20:00:00.001Z"}), json!({"t": "x"}), json!({})]);
}

#[test]
fn forms_of_texts() {
    let hex = json!({"check": "prefix_hex", "at": "/id", "prefix": "pkg_", "digits": 4});
    holds(hex.clone(), &[json!({"id": "pkg_0a9f"})]);
    breaks(
        hex,
        &[
            json!({"id": "pkg_0A9F"}),
            json!({"id": "pkg_0a9"}),
            json!({"id": "pkg_0a9f1"}),
            json!({"id": "0a9f"}),
            json!({"id": 1}),
        ],
    );
    let words = json!({"check": "hyphenated_words", "at": "/c"});
    holds(words.clone(), &[json!({"c": "coral-heron"})]);
    breaks(
        words,
        &[
            json!({"c": "coral"}),
            json!({"c": "Coral-heron"}),
            json!({"c": "coral-heron-2"}),
            json!({"c": "-a"}),
        ],
    );
    let contains = json!({"check": "contains_text", "text": "needle"});
    holds(contains.clone(), &[json!({"a": ["a needle"]})]);
    breaks(contains, &[json!({"a": "hay"})]);
    let lacks = json!({"check": "lacks_texts", "values": ["one", "two"]});
    holds(lacks.clone(), &[json!({"a": "three"})]);
    breaks(lacks, &[json!({"a": "two"})]);
}

#[test]
fn values_in_places() {
    let kind = json!({"check": "type", "at": "/n", "value": "integer"});
    holds(kind.clone(), &[json!({"n": 3}), json!({"n": 3.0})]);
    breaks(kind, &[json!({"n": 3.5}), json!({"n": "3"}), json!({"n": null}), json!({})]);
    holds(
        json!({"check": "type", "at": "/n", "value": "string", "or_null": true}),
        &[json!({"n": null}), json!({"n": ""})],
    );

    let one = json!({"check": "one_of", "at": "/l/*", "values": ["a", 1]});
    holds(one.clone(), &[json!({"l": ["a", 1.0]})]);
    breaks(one, &[json!({"l": ["a", "b"]})]);

    let every =
        json!({"check": "every", "at": "/l/*", "value": {"a": {"assert": "nonempty_string"}}});
    holds(every.clone(), &[json!({"l": [{"a": "x", "b": 1}, {"a": "y"}]})]);
    breaks(every, &[json!({"l": [{"a": "x"}, {"a": ""}]}), json!({"l": []})]);

    let none = json!({"check": "none", "at": "/l/*", "value": "b"});
    holds(none.clone(), &[json!({"l": ["a"]}), json!({"l": []}), json!({})]);
    breaks(none, &[json!({"l": ["a", "b"]})]);

    let count = json!({"check": "count", "at": "/l/*", "least": 1, "most": 2});
    holds(count.clone(), &[json!({"l": [1]}), json!({"l": [1, 2]})]);
    breaks(count, &[json!({"l": []}), json!({"l": [1, 2, 3]}), json!({})]);

    let number = json!({"check": "has_number", "value": 3});
    holds(number.clone(), &[json!(3), json!({"a": [{"b": 3.0}]})]);
    breaks(number, &[json!({"a": "3"}), json!(4)]);

    let only = json!({"check": "only_members", "at": "", "names": ["a", "b"], "prefix": "x-"});
    holds(only.clone(), &[json!({"a": 1, "b": null}), json!({"b": 1, "a": 1, "x-c": 1})]);
    breaks(only, &[json!({"a": 1}), json!({"a": 1, "b": 1, "c": 1}), json!([])]);
}

#[test]
fn lists_and_their_order() {
    let distinct = json!({"check": "distinct", "at": "/l/*/id"});
    holds(distinct.clone(), &[json!({"l": [{"id": 1}, {"id": 2}]})]);
    breaks(distinct, &[json!({"l": [{"id": {"a": 1, "b": 2}}, {"id": {"b": 2, "a": 1}}]})]);

    let row = json!({"check": "consecutive", "at": "/l/*"});
    holds(row.clone(), &[json!({"l": ["7", 8, "9"]}), json!({"l": []})]);
    breaks(row, &[json!({"l": [1, 3]}), json!({"l": [2, 1]}), json!({"l": ["a", "b"]})]);

    let sorted =
        json!({"check": "sorted", "at": "/l", "by": "/t", "order": "descending", "as": "instant"});
    let at = |times: &[&str]| {
        let list: Vec<Value> = times.iter().map(|time| json!({"t": time})).collect();
        json!({"l": list})
    };
    holds(
        sorted.clone(),
        &[
            at(&["2026-04-18T20:00:00.5Z", "2026-04-18T20:00:00Z", "2026-04-18T20:00:00.0Z"]),
            at(&[]),
        ],
    );
    breaks(
        sorted,
        &[
            at(&["2026-04-18T20:00:00Z", "2026-04-18T20:00:00.5Z"]),
            at(&["soon"]),
            json!({"l": [{}]}),
            json!({"l": 1}),
        ],
    );
    let numbers =
        json!({"check": "sorted", "at": "/l", "by": "", "order": "ascending", "as": "number"});
    holds(numbers.clone(), &[json!({"l": [1, 1.5, 10]})]);
    breaks(numbers, &[json!({"l": [10, 9]})]);
    let texts =
        json!({"check": "sorted", "at": "/l", "by": "", "order": "ascending", "as": "text"});
    holds(texts, &[json!({"l": ["10", "9"]})]);
}

#[test]
fn intervals() {
    let spans = |spans: &[(u8, Option<u8>)]| {
        let time = |day: u8| format!("2026-04-{day:02}T00:00:00Z");
        let item = |(from, to): &(u8, Option<u8>)| json!({"from": time(*from), "to": to.map(time)});
        json!({"l": spans.iter().map(item).collect::<Vec<_>>()})
    };
    let joined = json!({"check": "joined_intervals", "at": "/l", "start": "from", "end": "to"});
    holds(
        joined.clone(),
        &[
            spans(&[(1, Some(2)), (2, Some(5)), (5, None)]),
            spans(&[(5, None), (2, Some(5)), (1, Some(2))]),
            spans(&[(1, Some(1)), (1, Some(1)), (1, None)]),
        ],
    );
    let gap = spans(&[(1, Some(2)), (3, None)]);
    let ended = spans(&[(1, Some(2)), (2, Some(3))]);
    breaks(joined.clone(), &[gap.clone(), ended.clone()]);
    let gaps = changed(joined.clone(), json!({"gaps": true}));
    holds(gaps.clone(), &[gap, ended]);
    for check in [joined, gaps] {
        breaks(
            check,
            &[
                spans(&[(1, None), (2, None)]),
                spans(&[(1, Some(3)), (2, None)]),
                spans(&[(3, Some(2)), (3, None)]),
                spans(&[]),
                json!({"l": [{"from": "soon", "to": null}]}),
            ],
        );
    }
}

/// A case that writes a document and judges how the server reads it back.
fn written_and_read(check: Value) -> Value {
    let case = exchange(
        "area/case",
        "B",
        json!([
            {"request": {"route": "write", "remember": "sent",
                "json": {"id": "${id}", "n": [1.5, null], "deep": {"a": 1, "b": null}}},
             "expect": [{"status": [201]}]},
            {"request": {"route": "read", "path": {"thing": "x"}},
                "expect": [{"status": [200], "checks": [check]}]},
        ]),
    );
    changed(case, json!({"let": {"id": {"make": "text", "text": "x", "times": 2}}}))
}

fn verdict_on_reading(check: Value, body: Value) -> String {
    let server = serve(move |request| {
        (request.target == "/things/x").then(|| Answer::json(200, body.clone()))
    });
    judge_one(&server, written_and_read(check)).verdict.as_str().to_owned()
}

#[test]
fn documents_that_were_sent() {
    let same = json!({"check": "same_document", "at": "", "name": "sent", "without": ["hash"]});
    let whole = json!({"id": "xx", "n": [1.5, null], "deep": {"b": null, "a": 1}});
    let more = changed(whole.clone(), json!({"more": 1}));
    let hashed = changed(whole.clone(), json!({"hash": 1}));
    let changed_deep = changed(whole.clone(), json!({"deep": {"a": 1}}));
    assert_eq!(verdict_on_reading(same.clone(), whole), "pass");
    assert_eq!(verdict_on_reading(same.clone(), hashed), "pass");
    assert_eq!(verdict_on_reading(same.clone(), more.clone()), "fail");
    assert_eq!(verdict_on_reading(same.clone(), changed_deep.clone()), "fail");
    let loose = changed(same, json!({"more": true}));
    assert_eq!(verdict_on_reading(loose.clone(), more), "pass");
    assert_eq!(verdict_on_reading(loose, changed_deep), "fail");
}

#[test]
fn digests_of_documents() {
    // Of {"deep":{"a":1},"id":"xx","n":[1.5,null]}, by sha256sum.
    let digest = "57c48bb3985157a922585739b525f341d983c4e3131515230d5894600118a197";
    let of_sent = json!({"check": "sha256_of_canonical", "name": "sent", "profile": "agentic"});
    assert_eq!(
        verdict_on_reading(of_sent.clone(), json!({"any": format!("sha256:{digest}")})),
        "pass"
    );
    assert_eq!(verdict_on_reading(of_sent, json!({"any": digest.replace('a', "b")})), "fail");

    let of_body = json!({"check": "sha256_of_canonical", "at": "/l/*", "digest": "hash",
        "without": ["hash"], "profile": "agentic"});
    let item = json!({"id": "xx", "n": [1.5, null], "deep": {"b": null, "a": 1},
        "hash": format!("sha256:{digest}")});
    holds(of_body.clone(), &[json!({"l": [item]})]);
    let wrong = changed(item.clone(), json!({"id": "yy"}));
    let without = changed(item.clone(), json!({"hash": null}));
    breaks(of_body, &[json!({"l": [item, wrong]}), json!({"l": [without]})]);
}

#[test]
fn items_of_a_list_that_was_seen() {
    let again = |second: Value| {
        let server = serve(move |request| match request.target.as_str() {
            "/things/x" => Some(Answer::json(200, json!({"l": [{"a": 1, "b": 2}, 3, 3]}))),
            "/things/y" => Some(Answer::json(200, json!({"l": second}))),
            _ => None,
        });
        let case = exchange(
            "area/case",
            "A",
            json!([
                {"request": {"route": "read", "path": {"thing": "x"}},
                    "expect": [{"status": [200]}], "capture": {"l": "/l"}},
                {"request": {"route": "read", "path": {"thing": "y"}}, "expect": [{"status": [200],
                    "checks": [{"check": "same_items", "at": "/l", "name": "l"}]}]},
            ]),
        );
        judge_one(&server, case).verdict.as_str().to_owned()
    };
    assert_eq!(again(json!([3, {"b": 2, "a": 1}, 3])), "pass");
    assert_eq!(again(json!([3, {"b": 2, "a": 1}])), "fail");
    assert_eq!(again(json!([3, {"b": 2, "a": 1}, {"b": 2, "a": 1}])), "fail");
    assert_eq!(again(json!("l")), "fail");
}

#[test]
fn headers_are_looked_at_too() {
    let server = serve(|request| {
        (request.target == "/things/x").then(|| {
            Answer::json(200, json!({})).header("X-Hash", "sha256:abc").header("x-hash", "second")
        })
    });
    let expect = |headers: Value| {
        json!({"status": [200], "headers": headers,
        "checks": [{"check": "contains_text", "text": "abc"}]})
    };
    let result =
        judge_one(&server, crate::web::reads(expect(json!({"x-hash": "sha256:abc, second"}))));
    assert_eq!(result.verdict.as_str(), "pass", "{result:?}");
    let result =
        judge_one(&server, crate::web::reads(expect(json!({"x-hash": {"assert": "absent"}}))));
    assert_eq!(result.differences[0].pointer, "/headers/x-hash");
}

#[test]
fn a_server_on_this_machine_needs_no_tls() {
    holds(json!({"check": "protected_transport"}), &[json!({})]);
}
