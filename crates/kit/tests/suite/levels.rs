//! Which level is reached, what is missing and what is broken, and whether a claim is true.

use accord_kit::RunReport;
use accord_kit::driver::{Http, HttpOptions};
use accord_kit::levels::{Conformance, Standing};
use accord_kit::reporter::{JunitReporter, TextOptions, TextReporter};
use serde_json::{Value, json};

use crate::server::{Answer, Request, Server};
use crate::support::{changed, patient};
use crate::web::{exchange, judge, judge_with, serve, web};

fn step(route: &str, status: u64) -> Value {
    let path = match route {
        "read" | "judge" | "past" => json!({"thing": "x"}),
        _ => json!({}),
    };
    let mut request = json!({"route": route, "path": path});
    if matches!(route, "write" | "judge") {
        request["json"] = json!({"id": "x"});
    }
    json!({"request": request, "expect": [{"status": [status]}]})
}

/// One required case for each thing that a server can have, and one about its claim.
fn cases() -> Vec<Value> {
    let claim = exchange(
        "z/claim",
        "A",
        json!([{"request": {"route": "claim"}, "expect": [{"status": [200]}],
            "capture": {"level": "/level"}}]),
    );
    vec![
        exchange("a/read", "A", json!([step("read", 200)])),
        exchange("b/write", "B", json!([step("write", 201)])),
        exchange("c/judge", "C", json!([step("judge", 200)])),
        exchange("c/past", "C", json!([step("past", 200)])),
        exchange("d/extra", "A", json!([step("extra", 200)])),
        changed(claim, json!({"claim": "level"})),
    ]
}

/// A server that has these routes beside reading, does those wrongly, and claims a level.
fn server(
    has: &'static [&'static str],
    wrong: &'static [&'static str],
    claims: &'static str,
) -> Server {
    serve(move |request| {
        let route = route(request)?;
        if wrong.contains(&route) {
            return Some(Answer::json(500, json!({})));
        }
        match route {
            "claim" if claims.is_empty() => Some(Answer::text(404, "")),
            "claim" => Some(Answer::json(200, json!({"level": claims}))),
            "read" => None,
            "write" if has.contains(&"write") => None,
            other if has.contains(&other) => Some(Answer::json(200, json!({}))),
            _ => Some(Answer::text(405, "")),
        }
    })
}

fn route(request: &Request) -> Option<&'static str> {
    match (request.method.as_str(), request.target.as_str()) {
        ("GET", "/things/x") => Some("read"),
        ("POST", target) if target.ends_with("/things") => Some("write"),
        ("POST", "/things/x/judge") => Some("judge"),
        ("GET", "/things/x/past") => Some("past"),
        ("GET", "/extra") => Some("extra"),
        ("GET", "/claim") => Some("claim"),
        _ => None,
    }
}

fn conformance(report: &RunReport) -> &Conformance {
    report.summary.conformance.as_ref().unwrap()
}

fn standings(report: &RunReport) -> Vec<&str> {
    let levels = conformance(report).levels.iter();
    levels.map(|level| level.standing.as_str()).collect()
}

fn verdict<'a>(report: &'a RunReport, id: &str) -> &'a str {
    let case = report.cases.iter().find(|case| case.id.ends_with(id));
    case.unwrap().verdict.as_str()
}

#[test]
fn a_server_that_has_everything_reaches_the_highest_level() {
    let report = judge(&server(&["write", "judge", "past", "extra"], &[], "C"), &cases());
    assert_eq!(standings(&report), ["reached", "reached", "reached"]);
    assert_eq!(conformance(&report).reached.as_deref(), Some("C"));
    assert_eq!(conformance(&report).claim.unwrap().as_str(), "proved");
    assert_eq!(report.summary.exit_code, 0);
}

#[test]
fn a_server_of_a_lower_level_is_not_broken() {
    let report = judge(&server(&["write"], &[], "B"), &cases());
    assert_eq!(verdict(&report, "c/judge"), "not_implemented");
    assert_eq!(verdict(&report, "c/past"), "not_implemented");
    // A route that no level demands counts against none.
    assert_eq!(verdict(&report, "d/extra"), "not_implemented");
    assert_eq!(standings(&report), ["reached", "reached", "not_there"]);
    assert_eq!(conformance(&report).reached.as_deref(), Some("B"));
    assert_eq!(conformance(&report).claim.unwrap().as_str(), "proved");
    assert_eq!(verdict(&report, "z/claim"), "pass");
    assert_eq!(report.summary.exit_code, 0);
    let missing = report.cases.iter().find(|case| case.id.ends_with("c/judge")).unwrap();
    assert_eq!(missing.missing_route.as_deref(), Some("judge"));
    assert_eq!(missing.message.as_deref(), Some("the server has no route for `judge`"));
}

#[test]
fn a_level_that_the_corpus_does_not_have_is_not_proved() {
    let report = judge(&server(&["write", "judge", "past", "extra"], &[], "D"), &cases());
    assert_eq!(conformance(&report).claim.unwrap().as_str(), "unproven");
}

#[test]
fn junit_says_that_no_level_is_reached() {
    let server = serve(|request| (request.target == "/things/x").then(|| Answer::text(405, "")));
    let http = Http::new(HttpOptions::new(server.url())).unwrap();
    let mut junit = Vec::new();
    let mut reporter = JunitReporter::new(&mut junit);
    let report = accord_kit::run(&web(&cases()), &http, &patient(), &mut reporter).unwrap();
    assert_eq!(conformance(&report).reached, None);
    assert_eq!(report.summary.exit_code, 1);
    let junit = String::from_utf8(junit).unwrap();
    assert!(junit.contains("no level is reached"), "{junit}");
}

#[test]
fn what_only_the_kit_knows_where_to_find_disproves_nothing() {
    let report = judge(&server(&["write", "judge"], &[], "C"), &cases());
    assert_eq!(standings(&report), ["reached", "reached", "unproven"]);
    assert_eq!(conformance(&report).reached.as_deref(), Some("B"));
    assert_eq!(conformance(&report).claim.unwrap().as_str(), "unproven");
    assert_eq!(verdict(&report, "z/claim"), "pass");
    assert_eq!(report.summary.exit_code, 0);
}

#[test]
fn a_claim_that_a_missing_route_disproves_is_a_failure_of_its_own() {
    let report = judge(&server(&["write"], &[], "C"), &cases());
    assert_eq!(conformance(&report).claim.unwrap().as_str(), "disproved");
    assert_eq!(verdict(&report, "z/claim"), "fail");
    let claim = report.cases.last().unwrap();
    assert_eq!(
        claim.message.as_deref(),
        Some("the server claims C, which is not true: C is missing (web/c/judge and 1 more)")
    );
    // The claim decides no level, and is the only thing that fails.
    assert_eq!(conformance(&report).reached.as_deref(), Some("B"));
    assert_eq!(report.summary.totals.fail, 1);
    assert_eq!(report.summary.exit_code, 1);
}

#[test]
fn a_claim_that_a_failure_disproves_is_a_failure_of_its_own() {
    let report = judge(&server(&["write", "judge", "past"], &["write"], "C"), &cases());
    assert_eq!(standings(&report), ["reached", "broken", "reached"]);
    assert_eq!(conformance(&report).reached.as_deref(), Some("A"));
    assert_eq!(conformance(&report).claim.unwrap().as_str(), "disproved");
    assert_eq!(verdict(&report, "b/write"), "fail");
    assert_eq!(verdict(&report, "z/claim"), "fail");
    let broken: Vec<&str> =
        conformance(&report).levels[1].broken.iter().map(String::as_str).collect();
    assert_eq!(broken, ["web/b/write"]);
}

#[test]
fn a_server_that_claims_nothing_is_judged_all_the_same() {
    let report = judge(&server(&["write"], &[], ""), &cases());
    assert_eq!(conformance(&report).claimed, None);
    assert_eq!(conformance(&report).claim, None);
    assert_eq!(conformance(&report).reached.as_deref(), Some("B"));
    assert_eq!(verdict(&report, "z/claim"), "not_implemented");
}

#[test]
fn only_required_cases_decide_a_level() {
    let soft = json!({"strength": "should", "clauses": ["WEB-2"]});
    let mut cases = cases();
    cases.push(changed(exchange("b/soft", "B", json!([step("read", 404)])), soft));
    let report = judge(&server(&["write", "judge", "past", "extra"], &[], "C"), &cases);
    assert_eq!(verdict(&report, "b/soft"), "fail");
    assert_eq!(conformance(&report).reached.as_deref(), Some("C"));
    assert_eq!(report.summary.exit_code, 0);
}

#[test]
fn a_level_that_was_not_tested_is_not_reached() {
    let mut up_to_b = patient();
    up_to_b.levels = Some(web(&cases()).levels_up_to("B"));
    let server = server(&["write", "judge", "past"], &[], "C");
    let report = judge_with(&server, &cases(), |_| {}, &up_to_b);
    assert_eq!(standings(&report), ["reached", "reached", "untested"]);
    assert_eq!(conformance(&report).claim.unwrap().as_str(), "unproven");
    assert_eq!(conformance(&report).levels[2].standing, Standing::Untested);
}

#[test]
fn a_404_tells_a_missing_route_from_a_missing_thing() {
    let answer = |status: u16, body: Value, probed: bool| {
        let server = serve(move |request| match request.target.as_str() {
            "/things/x" => Some(Answer::json(status, body.clone())),
            target if target.ends_with("/things") && !probed => Some(Answer::text(404, "")),
            _ => None,
        });
        let report = judge(&server, &[exchange("a/read", "A", json!([step("read", 200)]))]);
        report.cases[0].verdict.as_str().to_owned()
    };
    assert_eq!(answer(404, json!({"error": "not found"}), true), "not_implemented");
    assert_eq!(answer(405, json!({}), true), "not_implemented");
    assert_eq!(answer(501, json!({"code": "not_implemented"}), true), "not_implemented");
    // The route is there: it names what it did not find.
    assert_eq!(answer(404, json!({"error": {"code": "thing_not_found"}}), true), "fail");
    assert_eq!(answer(403, json!({}), true), "fail");
    assert_eq!(answer(500, json!({}), true), "fail");

    // The route has answered when the run began, so that it is there.
    let listed = |first: u16| {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let server = serve(move |request| {
            let list = request.method == "GET" && request.target.ends_with("/things");
            list.then(|| match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
                0 => Answer::json(first, json!([])),
                _ => Answer::text(404, ""),
            })
        });
        let report = judge(&server, &[exchange("a/list", "A", json!([step("list", 200)]))]);
        report.cases[0].verdict.as_str().to_owned()
    };
    assert_eq!(listed(200), "fail");
    assert_eq!(listed(404), "not_implemented");
}

#[test]
fn lines_for_people_say_what_is_reached_and_why_not_more() {
    let server = server(&["write"], &[], "C");
    let mut text = Vec::new();
    let http = Http::new(HttpOptions::new(server.url())).unwrap();
    let mut reporter = TextReporter::new(&mut text, TextOptions::new(false));
    let report = accord_kit::run(&web(&cases()), &http, &patient(), &mut reporter).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains(&format!("adapter: http {}\n", server.url())), "{text}");
    let scope = report.run.adapter.scope.unwrap();
    let expected = format!(
        "conformance  B is reached; the server claims C: NOT TRUE\n             \
         C is missing (web/c/judge and 1 more)\n\
         left behind  1 scope (retired): {scope}\n\
         FAIL: 1 required case fails, 3 of 6 required cases judged ("
    );
    assert!(text.contains(&expected), "{text}");
    let why = "    the server claims C, which is not true: C is missing (web/c/judge and 1 more)\n";
    assert!(text.contains(why), "{text}");
}
