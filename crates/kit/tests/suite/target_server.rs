//! The verifier over `http-fixture-v1`, with servers that keep the protocol and servers that break
//! it.

use std::time::Duration;

use accord_contract::{Failure, Wire as _};
use accord_kit::driver::HttpOptions;
use accord_kit::verifier::{ConformanceReport, Location, Selection, Target, TargetError, verify};
use serde_json::{Value, json};

use crate::fixtures::{fixture, protocol};
use crate::server::{Answer, Request, Server};
use crate::support::{Silent, changed};
use crate::target_folder::{capabilities, one, up_to};

fn claims() -> Value {
    changed(capabilities(), json!({"adapter": {"protocol": "http-fixture-v1"}}))
}

/// A server that tells its claims and answers fixtures like this.
fn server(execute: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Server {
    Server::start(move |request| match request.line().as_str() {
        "GET /base/conform/capabilities" => Answer::json(200, claims()),
        "POST /base/conform/execute" => execute(request),
        _ => Answer::text(404, "nothing here"),
    })
}

fn options(server: &Server) -> HttpOptions {
    HttpOptions::fixtures(format!("{}/base/", server.url()))
}

fn judge(server: &Server, fixtures: &[Value], selection: &Selection) -> ConformanceReport {
    let target = Target::at_url(&options(server)).unwrap();
    verify(&protocol(fixtures), &target, selection, &mut Silent).unwrap()
}

fn right() -> Answer {
    Answer::json(
        200,
        json!({"status": "pass", "message": "Fixture passed", "actual": {"result": "ok"}}),
    )
}

#[test]
fn a_server_gets_every_fixture_as_it_is_with_its_key_and_one_at_a_time() {
    let server = server(|_| right());
    let mut options = options(&server);
    options.token = Some("secret-of-the-tide".to_owned());
    let target = Target::at_url(&options).unwrap();
    let strange = changed(fixture("B", 2, "hook_audit"), json!({"x-mood": {"b": 1, "a": 2}}));
    let fixtures = [fixture("A", 1, "history"), strange.clone()];
    let report = verify(&protocol(&fixtures), &target, &up_to(2), &mut Silent).unwrap();
    assert_eq!(report.overall.as_str(), "pass");
    assert_eq!(*target.place(), Location::Server(format!("{}/base", server.url())));
    let document = report.encode();
    assert_eq!(document["target_root"], Value::Null);
    assert_eq!(document["remote"], format!("{}/base", server.url()));
    assert!(!document.to_string().contains("secret-of-the-tide"));

    assert_eq!(
        server.lines(),
        [
            "GET /base/conform/capabilities",
            "POST /base/conform/execute",
            "POST /base/conform/execute"
        ]
    );
    let seen = server.seen();
    for request in &seen {
        assert_eq!(request.headers["authorization"], "Bearer secret-of-the-tide");
        assert_eq!(request.headers["connection"], "close");
    }
    assert_eq!(seen[2].headers["content-type"], "application/json");
    assert_eq!(seen[2].headers["content-length"], seen[2].body.len().to_string());
    assert_eq!(seen[2].body, strange.to_string());
}

#[test]
fn without_a_key_none_is_sent() {
    let server = server(|_| right());
    judge(&server, &one(), &up_to(1));
    assert!(server.seen().iter().all(|request| !request.headers.contains_key("authorization")));
}

#[test]
fn results_are_judged_like_those_of_a_process() {
    for (result, overall) in [
        (json!({"status": "pass", "actual": {"result": "ok"}}), "pass"),
        (json!({"status": "not_implemented", "message": "not yet", "actual": null}), "pass"),
        (json!({"status": "pass", "actual": null}), "pass"),
        (json!({"status": "fail", "actual": {"result": "error"}}), "fail"),
        (json!({"status": "error", "message": "no disk", "actual": null}), "error"),
        (json!({"status": "pass", "actual": {"result": "error"}}), "error"),
        (json!({"status": "maybe"}), "error"),
        (json!(["pass"]), "error"),
    ] {
        let answer = Answer::json(200, result.clone());
        let server = server(move |_| answer.clone());
        let report = judge(&server, &one(), &up_to(1));
        assert_eq!(report.overall.as_str(), overall, "{result}");
    }
}

/// The one error that an answer makes.
fn error_of(answer: Answer, selection: &Selection) -> String {
    let server = server(move |_| answer.clone());
    let report = judge(&server, &one(), selection);
    assert_eq!(report.overall.as_str(), "error");
    report.results["tier_1"].errors[0].message.clone()
}

#[test]
fn anything_but_a_result_with_200_is_an_error_of_that_fixture_alone() {
    for (answer, said) in [
        (
            Answer::json(401, json!({"message": "Unauthorized"})),
            "HTTP 401: Unauthorized; check the token",
        ),
        (Answer::text(500, "out of tides"), "HTTP 500: out of tides"),
        (Answer::text(204, ""), "HTTP 204"),
        (Answer::json(201, json!({"status": "pass"})), "HTTP 201: {\"status\":\"pass\"}"),
        (
            Answer::text(302, "").header("location", "/elsewhere"),
            "HTTP 302; redirects are not followed",
        ),
    ] {
        assert_eq!(error_of(answer, &up_to(1)), said);
    }
    for (text, part) in [
        ("nonsense", "not exactly one JSON document"),
        ("", "it wrote no result"),
        ("{\"status\":\"pass\"}{}", "not exactly one JSON document"),
    ] {
        let said = error_of(Answer::text(200, text), &up_to(1));
        assert!(
            said.starts_with("the server answered with 200, but ") && said.contains(part),
            "{said}"
        );
    }
    let fixtures = ["A", "B"].map(|id| fixture(id, 1, "history"));
    let server = server(|request| match request.json()["fixture_id"] == "A" {
        true => Answer::text(500, ""),
        false => right(),
    });
    let report = judge(&server, &fixtures, &up_to(1));
    let tier = &report.results["tier_1"];
    assert_eq!((tier.fixtures_errored, tier.fixtures_passed), (1, 1));
}

#[test]
fn a_redirect_takes_no_key_and_no_fixture_elsewhere() {
    let elsewhere = Server::start(|_| right());
    let location = format!("{}/conform/execute", elsewhere.url());
    let server = server(move |_| Answer::text(307, "").header("location", &location));
    judge(&server, &one(), &up_to(1));
    assert!(elsewhere.seen().is_empty());
}

#[test]
fn answers_are_bounded_in_time_and_size() {
    let huge = format!("{{\"status\":\"pass\",\"message\":\"{}\"}}", "x".repeat(2_000_000));
    let said = error_of(Answer::text(200, &huge), &up_to(1));
    assert_eq!(said, "the answer has more than 1048576 bytes");
    let hasty = Selection { limit: Duration::from_secs(3), ..up_to(1) };
    let said = error_of(Answer::text(200, "{").that_never_ends(), &hasty);
    assert_eq!(said, "no complete answer within 3000 ms");
}

#[test]
fn a_server_that_goes_away_is_an_error_of_the_fixtures_that_it_misses() {
    let target = {
        let server = server(|_| right());
        Target::at_url(&options(&server)).unwrap()
    };
    let report = verify(&protocol(&one()), &target, &up_to(1), &mut Silent).unwrap();
    assert_eq!(report.results["tier_1"].fixtures_errored, 1);
}

/// The refusal of a server that answers everything like this.
fn refusal(answer: Answer) -> (&'static str, String) {
    let server = Server::start(move |_| answer.clone());
    let mut options = options(&server);
    options.request_timeout = Duration::from_secs(3);
    let failure = Failure::from(Target::at_url(&options).err().unwrap());
    (failure.code.as_str(), failure.message)
}

#[test]
fn a_server_that_does_not_tell_its_claims_cannot_be_judged() {
    for (answer, code, part) in [
        (
            Answer::json(401, json!({"message": "Unauthorized"})),
            "KIT_CAPABILITIES_UNREADABLE",
            "HTTP 401: Unauthorized",
        ),
        (Answer::text(404, ""), "KIT_CAPABILITIES_UNREADABLE", "HTTP 404"),
        (
            Answer::text(301, "").header("location", "/x"),
            "KIT_CAPABILITIES_UNREADABLE",
            "redirects",
        ),
        (Answer::text(200, "tide"), "KIT_CAPABILITIES_INVALID", "cannot be used"),
        (Answer::json(200, capabilities()), "KIT_CAPABILITIES_INVALID", "\"http-fixture-v1\" here"),
        (
            Answer::json(200, changed(claims(), json!({"tiers": [9]}))),
            "KIT_CAPABILITIES_INVALID",
            "not 9",
        ),
        (Answer::text(200, "{").that_never_ends(), "KIT_SERVER_TIMEOUT", "within 3000 ms"),
    ] {
        let (found, said) = refusal(answer);
        assert_eq!(found, code, "{said}");
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_url_that_is_none_is_named() {
    for url in ["tide", "ftp://tide/", "http://tide/?a=1", "http://user:pass@tide/"] {
        let error = Target::at_url(&HttpOptions::fixtures(url)).err().unwrap();
        assert!(matches!(error, TargetError::Server(_)), "{url}");
    }
    let gone = {
        let server = Server::start(|_| right());
        server.url()
    };
    let error = Target::at_url(&HttpOptions::fixtures(gone)).err().unwrap();
    assert_eq!(Failure::from(error).code.as_str(), "KIT_SERVER_UNREACHABLE");
}
