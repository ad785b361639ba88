//! What goes over the wire, and what is made of what comes back.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use accord_contract::{Code, Failure};
use accord_kit::driver::{CannotBegin, Http, HttpOptions, ServerError};
use accord_kit::runner::RunError;
use serde_json::{Value, json};

use crate::server::{Answer, Server};
use crate::support::{Silent, changed, patient};
use crate::web::{exchange, hasty, judge, judge_one, judge_with, reads, serve, verdict_on, web};

#[test]
fn requests_are_composed_of_routes_templates_and_variables() {
    let server = serve(|_| None);
    let case = exchange(
        "area/case",
        "B",
        json!([
            {"request": {
                "route": "write", "template": "thing", "query": {"q": "a b&c=${id}"},
                "set": {"/n": "${seven}", "/deep/b": ["${id}", 2], "/x~1y": null},
                "remove": ["/deep/a"], "headers": {"x-kit": "for ${id}"},
            }, "each": [{"seven": 7}], "expect": [{"status": [201]}]},
            {"request": {"route": "read", "path": {"thing": "a/b %${id}"}},
                "expect": [{"status": [200]}]},
            {"request": {"route": "write", "text": "raw ${id}", "content_type": "text/plain"},
             "expect": [{"status": [201]}]},
        ]),
    );
    let case = changed(case, json!({"let": {"id": {"make": "text", "text": "é", "times": 1}}}));
    let report = judge_with(
        &server,
        &[case],
        |options| options.token = Some("secret".to_owned()),
        &patient(),
    );
    assert_eq!(report.cases[0].verdict.as_str(), "pass", "{:?}", report.cases[0]);

    let scope = report.run.adapter.scope.clone().unwrap();
    assert!(scope.starts_with("check-"), "{scope}");
    let seen = server.seen();
    let find = |line: String| {
        let found = seen.iter().find(|request| request.line() == line);
        found.unwrap_or_else(|| panic!("{line} is not in {:?}", server.lines()))
    };
    let written = find(format!("POST /scopes/{scope}/things?q=a%20b%26c%3D%C3%A9"));
    assert_eq!(
        written.json(),
        json!({"id": "é", "scope": scope, "n": 7, "deep": {"b": ["é", 2]}, "x/y": null})
    );
    assert_eq!(written.headers["x-kit"], "for é");
    assert_eq!(written.headers["authorization"], "Bearer secret");
    assert_eq!(written.headers["content-type"], "application/json");
    assert!(written.headers["user-agent"].starts_with("accord-check/"));
    find("GET /things/a%2Fb%20%25%C3%A9".to_owned());
    let raw = seen.iter().find(|request| request.body == "raw é").unwrap();
    assert_eq!(raw.headers["content-type"], "text/plain");
}

#[test]
fn a_key_goes_into_no_report() {
    let server = serve(|_| Some(Answer::text(500, "broken")));
    let report = judge_with(
        &server,
        &[reads(json!({"status": [200]}))],
        |options| options.token = Some("hush-hush".to_owned()),
        &patient(),
    );
    use accord_contract::Wire as _;
    assert!(!report.encode().to_string().contains("hush-hush"));
    assert_eq!(report.run.adapter.url.as_deref(), Some(server.url().as_str()));
}

#[test]
fn what_an_answer_brings_is_there_for_later_steps() {
    let server = serve(|request| {
        (request.target == "/things/x").then(|| {
            Answer::json(200, json!({"next": {"id": "y/z"}, "list": [1, {"a": null}]}))
                .header("etag", "\"tag\"")
        })
    });
    let case = exchange(
        "area/case",
        "B",
        json!([
            {"request": {"route": "read", "path": {"thing": "x"}}, "expect": [{"status": [200]}],
             "capture": {"next": "/next/id", "list": "/list", "tag": "@header:etag", "all": "@text",
                 "status": "@status"}},
            {"request": {"route": "read", "path": {"thing": "${next}"},
                "headers": {"if-match": "${tag}"}},
             "expect": [{"status": [200], "body": {"id": "y%2Fz"}}]},
            {"request": {"route": "write", "json": {"list": "${list}", "all": "${all}",
                "status": "${status}"}},
             "expect": [{"status": [201], "body": {"list": [1, {"a": null}], "status": 200}}]},
        ]),
    );
    let result = judge_one(&server, case);
    assert_eq!(result.verdict.as_str(), "pass", "{result:?}");
    let seen = server.seen();
    let second = seen.iter().find(|request| request.target == "/things/y%2Fz");
    assert_eq!(second.unwrap().headers["if-match"], "\"tag\"");

    let missing = exchange(
        "area/case",
        "A",
        json!([{"request": {"route": "read", "path": {"thing": "x"}}, "expect": [{"status": [200]}],
            "capture": {"a": "/nothing"}}]),
    );
    let result = judge_one(&server, missing);
    assert_eq!(result.verdict.as_str(), "fail");
    assert_eq!(result.differences[0].pointer, "/nothing");
}

#[test]
fn a_failure_says_which_step_and_what_came_back() {
    let server = serve(|_| None);
    let case = exchange(
        "area/case",
        "B",
        json!([
            {"prepare": true, "request": {"route": "write", "json": {}}},
            {"about": "the thing itself", "request": {"route": "read", "path": {"thing": "x"}},
             "expect": [{"status": [200], "body": {"id": "y"}}]},
        ]),
    );
    let result = judge_one(&server, case);
    assert_eq!(result.verdict.as_str(), "fail");
    assert_eq!(
        result.step.as_deref(),
        Some("step 2 of 2 (the thing itself): GET /things/x answered 200")
    );
    assert_eq!(result.message.as_deref(), Some("/body/id: expected \"y\", found \"x\""));
    let actual = result.actual.unwrap();
    assert_eq!(actual["answer"]["body"], json!({"id": "x"}));
    assert_eq!(actual["request"]["target"], "/things/x");

    let unprepared = exchange(
        "area/case",
        "B",
        json!([
            {"prepare": true, "request": {"route": "read", "path": {"thing": "none"}}},
            {"request": {"route": "write", "json": {}}, "expect": [{"status": [201]}]},
        ]),
    );
    let result = judge_one(&server, unprepared);
    assert_eq!(result.verdict.as_str(), "fail");
    let message = result.message.unwrap();
    assert!(message.starts_with("the setup of the case failed: "), "{message}");
}

#[test]
fn the_first_expectation_that_holds_counts() {
    let alternatives = json!([
        {"request": {"route": "read", "path": {"thing": "x"}}, "expect": [
            {"status": [404], "verdict": "not_implemented", "why": "no things"},
            {"status": [200], "body": {"kind": "old"}, "verdict": "skip", "why": "an old server"},
            {"status": [200], "body": {"kind": "new"}},
        ]},
    ]);
    for (status, body, verdict, message) in [
        (200, json!({"kind": "new"}), "pass", None),
        (200, json!({"kind": "old"}), "skip", Some("an old server")),
        (404, json!({}), "not_implemented", Some("no things")),
        (200, json!({"kind": "odd"}), "fail", Some("/body/kind: expected \"old\", found \"odd\"")),
        (302, json!({}), "fail", Some("/status: expected {\"one_of\":[200,404]}, found 302")),
    ] {
        let server = serve(move |request| {
            (request.target == "/things/x").then(|| Answer::json(status, body.clone()))
        });
        let result = judge_one(&server, exchange("area/case", "A", alternatives.clone()));
        assert_eq!(result.verdict.as_str(), verdict, "{result:?}");
        assert_eq!(result.message.as_deref(), message);
    }
}

#[test]
fn requests_of_a_burst_are_under_way_at_the_same_time() {
    static NOW: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let server = serve(|request| {
        (request.method == "POST" && request.body.contains("burst")).then(|| {
            MOST.fetch_max(NOW.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let given_up = Instant::now() + patient().case_timeout;
            while MOST.load(Ordering::SeqCst) < 20 && Instant::now() < given_up {
                std::thread::sleep(Duration::from_millis(1));
            }
            let first = request.json()["n"] == 1;
            Answer::json(if first { 201 } else { 200 }, request.json())
        })
    });
    let burst = |created: u64| {
        exchange(
            "area/case",
            "B",
            json!([{"request": {"route": "write", "json": {"burst": true, "n": "${n}"}},
                "parallel": 20,
                "expect": [{"status": [200, 201], "body": {"n": "${n}"}}],
                "tally": [{"status": [201], "least": created, "most": created},
                    {"status": [200], "body": {"burst": true}, "least": 19}]}]),
        )
    };
    assert_eq!(judge_one(&server, burst(1)).verdict.as_str(), "pass");
    assert_eq!(MOST.load(Ordering::SeqCst), 20);

    let result = judge_one(&server, burst(2));
    assert_eq!(result.verdict.as_str(), "fail");
    assert_eq!(result.differences[0].pointer, "/answers");
    let found: Value = serde_json::to_value(result.differences[0].actual.value()).unwrap();
    assert_eq!(found, json!({"count": 1, "answers_by_status": {"200": 19, "201": 1}}));
}

#[test]
fn requests_of_a_row_stop_at_the_first_that_is_wrong() {
    let server = serve(|request| {
        (request.body.contains("\"row\":\"b\""))
            .then(|| Answer::json(409, json!({"code": "conflict"})))
    });
    let case = exchange(
        "area/case",
        "B",
        json!([{"request": {"route": "write", "json": {"row": "${row}"}},
            "each": [{"row": "a"}, {"row": "b"}, {"row": "c"}], "repeat": 2,
            "expect": [{"status": [201]}]}]),
    );
    let result = judge_one(&server, case);
    assert_eq!(result.verdict.as_str(), "fail");
    let step = result.step.unwrap();
    assert!(step.starts_with("step 1 of 1: request 3 of 6: POST /scopes/check-"), "{step}");
    let rows = server.seen();
    let rows: Vec<Value> = rows
        .iter()
        .map(|request| request.json()["row"].clone())
        .filter(|row| !row.is_null())
        .collect();
    assert_eq!(rows, [json!("a"), json!("a"), json!("b")]);
}

#[test]
fn a_server_that_hangs_costs_its_time_and_no_more() {
    static JUDGED: AtomicBool = AtomicBool::new(false);
    let server = serve(|request| {
        if request.target == "/things/x" {
            // Until the kit has given up on both cases.
            let given_up = Instant::now() + patient().case_timeout;
            while !JUDGED.load(Ordering::SeqCst) && Instant::now() < given_up {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        None
    });
    let report = judge_with(&server, &[reads(json!({"status": [200]}))], hasty, &patient());
    let result = &report.cases[0];
    assert_eq!(result.verdict.as_str(), "error");
    assert_eq!(result.code.as_deref(), Some("KIT_SERVER_TIMEOUT"));
    assert_eq!(report.summary.exit_code, 2);

    let mut options = patient();
    options.case_timeout = Duration::from_millis(200);
    let twice = exchange(
        "area/case",
        "A",
        json!([{"request": {"route": "read", "path": {"thing": "x"}}, "repeat": 3,
            "expect": [{"status": [200]}]}]),
    );
    let report = judge_with(&server, &[twice], |_| {}, &options);
    JUDGED.store(true, Ordering::SeqCst);
    assert_eq!(report.cases[0].code.as_deref(), Some("KIT_SERVER_TIMEOUT"));
}

#[test]
fn bodies_are_bounded_and_redirects_are_answers() {
    let server = serve(|request| match request.target.as_str() {
        "/things/x" => Some(Answer::text(200, &"x".repeat(5_000))),
        "/things/moved" => Some(Answer::text(302, "").header("location", "/things/x")),
        _ => None,
    });
    let report = judge_with(
        &server,
        &[reads(json!({"status": [200]}))],
        |options| options.body_limit = 4_000,
        &patient(),
    );
    assert_eq!(
        report.cases[0].code.as_deref(),
        Some("KIT_SERVER_PROTOCOL"),
        "{:?}",
        report.cases[0]
    );

    let moved = exchange(
        "area/case",
        "A",
        json!([{"request": {"route": "read", "path": {"thing": "moved"}},
            "expect": [{"status": [302], "headers": {"location": "/things/x"}}]}]),
    );
    assert_eq!(judge_one(&server, moved).verdict.as_str(), "pass");
}

#[test]
fn a_large_body_that_is_not_wanted_is_answered_before_it_is_sent() {
    let server = serve(|_| None);
    let case = exchange(
        "area/case",
        "B",
        json!([{"request": {"route": "write", "json": {"text": "${large}"}},
            "expect": [{"status": [413]}]}]),
    );
    let large =
        json!({"let": {"large": {"make": "text", "text": "0123456789abcdef", "times": 300_000}}});
    let result = judge_one(&server, changed(case, large));
    assert_eq!(result.verdict.as_str(), "pass", "{result:?}");
}

#[test]
fn lines_and_events_are_read_as_documents() {
    let server = serve(|request| match request.target.as_str() {
        "/lines" => Some(Answer::text(200, "{\"a\":1}\n\n{\"a\":2}\n")),
        "/events" => Some(
            Answer::text(200, "id: 4\nevent: made\ndata: {\"n\":1}\n\nid: 5\ndata: plain\n\n")
                .that_never_ends(),
        ),
        _ => None,
    });
    let case = exchange(
        "area/case",
        "A",
        json!([
            {"request": {"route": "lines"},
                "expect": [{"status": [200], "body": {"lines": [{"a": 1}, {"a": 2}]}}]},
            {"request": {"route": "events", "events": 2},
                "expect": [{"status": [200], "body": {"events": [
                {"id": "4", "event": "made", "data": {"n": 1}}, {"id": "5", "data": "plain"},
            ]}}]},
        ]),
    );
    let result = judge_one(&server, case);
    assert_eq!(result.verdict.as_str(), "pass", "{result:?}");

    // Fewer events than are waited for: what has come by then is the answer.
    let three = exchange(
        "area/case",
        "A",
        json!([{"request": {"route": "events", "events": 3}, "expect": [{"status": [200],
            "checks": [{"check": "count", "at": "/events/*", "least": 3}]}]}]),
    );
    let report = judge_with(&server, &[three], hasty, &patient());
    assert_eq!(report.cases[0].verdict.as_str(), "fail", "{:?}", report.cases[0]);
}

#[test]
fn a_bare_list_stands_for_its_member() {
    let server = serve(|_| None);
    let listed = exchange(
        "area/case",
        "A",
        json!([{"request": {"route": "list"},
            "expect": [{"status": [200], "body": {"things": [{"id": "first"}]}}]}]),
    );
    assert_eq!(judge_one(&server, listed).verdict.as_str(), "pass");
}

#[test]
fn a_code_may_stand_anywhere_in_the_body() {
    for (body, verdict) in [
        (json!({"error": {"code": "conflict"}}), "pass"),
        (json!({"error": "conflict"}), "pass"),
        (json!(["conflict"]), "pass"),
        (json!({"error": "a conflict"}), "fail"),
        (json!({"conflict": true}), "fail"),
    ] {
        let server = serve(move |request| {
            (request.target == "/things/x").then(|| Answer::json(409, body.clone()))
        });
        let result = judge_one(&server, reads(json!({"status": [409], "code": "conflict"})));
        assert_eq!(result.verdict.as_str(), verdict, "{result:?}");
    }
}

#[test]
fn a_body_that_is_no_json_is_a_text() {
    let server =
        serve(|request| (request.target == "/things/x").then(|| Answer::text(200, "plain")));
    let result = judge_one(&server, reads(json!({"status": [200], "body": {"id": "x"}})));
    assert_eq!(result.verdict.as_str(), "fail");
    assert_eq!(result.message.as_deref(), Some("/body: expected {\"id\":\"x\"}, found \"plain\""));
    assert_eq!(
        verdict_on(json!("plain"), json!({"status": [200], "body": "plain"})).verdict.as_str(),
        "pass"
    );
}

#[test]
fn an_unreachable_server_is_reported_before_anything_is_run() {
    let gone = Server::start(|_| Answer::text(200, "")).url();
    let protocol = web(&[reads(json!({"status": [200]}))]);
    let server = Http::new(HttpOptions::new(&gone)).unwrap();
    let error = accord_kit::run(&protocol, &server, &patient(), &mut Silent).unwrap_err();
    assert!(matches!(error, RunError::CannotBegin(CannotBegin::Server(_))), "{error}");
    assert!(
        error.to_string().starts_with(&format!("the server at {gone} does not answer: ")),
        "{error}"
    );
    assert_eq!(Failure::from(error).code, Code::KitServerUnreachable);
}

#[test]
fn only_urls_of_servers_are_taken() {
    for (url, why) in [
        ("ftp://host/", "it must begin with http:// or https://"),
        ("localhost:7171", "it must begin with http:// or https://"),
        ("/v1", "it must begin with http:// or https://"),
        ("http://", "it cannot be read"),
        ("http://me:secret@host/", "it must not contain a key; pass the key as a token"),
        ("http://host/?a=b", "it must not have a query or a fragment"),
        ("http://host/#top", "it must not have a query or a fragment"),
    ] {
        match Http::new(HttpOptions::new(url)) {
            Err(ServerError::BadUrl { why: reported, .. }) => assert_eq!(reported, why, "{url}"),
            Err(other) => panic!("{url}: {other}"),
            Ok(_) => panic!("{url} was taken"),
        }
    }
    assert!(Http::new(HttpOptions::new("https://host:8443/base/")).is_ok());
}

#[test]
fn a_path_of_the_base_url_stays() {
    let server = serve(|_| None);
    let case = reads(json!({"status": [404]}));
    let report = judge_with(&server, &[case], |options| options.url.push_str("/base/"), &patient());
    assert_eq!(report.run.adapter.url.as_deref(), Some(format!("{}/base", server.url()).as_str()));
    assert!(server.lines().contains(&"GET /base/things/x".to_owned()), "{:?}", server.lines());
}

#[test]
fn every_case_of_a_protocol_reports_to_the_same_form() {
    let server = serve(|_| None);
    let report = judge(&server, &[reads(json!({"status": [200]}))]);
    assert_eq!(report.run.adapter.driver.as_str(), "http");
    assert_eq!(report.cases[0].operation, "read");
    assert_eq!(report.summary.totals.pass, 1);
}
