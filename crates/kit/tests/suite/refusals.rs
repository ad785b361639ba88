//! Servers that turn the run away say nothing about what they would answer to those who may ask.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use accord_contract::{Code, Failure};
use accord_kit::driver::{Http, HttpOptions};
use accord_kit::{RunOptions, run};
use serde_json::json;

use crate::server::{Answer, Request, Server};
use crate::support::{Silent, patient};
use crate::web::{exchange, judge, judge_with, ordinary, reads, serve, web};

/// What comes of a run that is turned away.
fn refused(server: &Server, change: impl FnOnce(&mut HttpOptions)) -> Failure {
    let mut options = HttpOptions::new(server.url());
    change(&mut options);
    let adapter = Http::new(options).unwrap();
    let protocol = web(&[reads(json!({"status": [200]}))]);
    let error = run(&protocol, &adapter, &RunOptions::default(), &mut Silent);
    Failure::from(error.unwrap_err())
}

fn needs_key(request: &Request) -> Option<Answer> {
    let has_key = request.headers.contains_key("authorization");
    (!has_key).then(|| Answer::json(401, json!({"error": {"code": "who_is_it"}})))
}

#[test]
fn a_server_that_asks_for_a_key_is_not_judged_without_one() {
    let server = serve(needs_key);
    let failure = refused(&server, |_| {});
    assert_eq!(failure.code, Code::KitServerRefused);
    assert!(failure.message.contains("answered 401; give a key with --token"), "{failure:?}");
    // A scope that is read needs the key as well.
    let failure = refused(&server, |options| options.scope = Some("theirs".to_owned()));
    assert!(failure.message.contains("GET /scopes/theirs/things answered 401"), "{failure:?}");
    assert!(!server.lines().iter().any(|line| line.contains("/things/x")), "no case was run");

    let report = judge_with(
        &server,
        &[reads(json!({"status": [200]}))],
        |options| options.token = Some("one".to_owned()),
        &patient(),
    );
    assert_eq!(report.summary.totals.pass, 1);
}

#[test]
fn a_key_that_may_not_write_is_named() {
    let server = serve(|request| (request.method == "POST").then(|| Answer::json(403, json!({}))));
    let failure = refused(&server, |options| options.token = Some("hush".to_owned()));
    assert_eq!(failure.code, Code::KitServerRefused);
    assert!(
        failure.message.contains("/things answered 403; give a key that has all scopes"),
        "{failure:?}"
    );
    assert!(failure.message.contains("--project"), "{failure:?}");
    assert!(!failure.message.contains("hush"), "{failure:?}");
    // What is read needs no right to write.
    let report = judge_with(
        &server,
        &[reads(json!({"status": [200]}))],
        |options| options.scope = Some("theirs".to_owned()),
        &patient(),
    );
    assert_eq!(report.summary.totals.pass, 1);
}

#[test]
fn a_later_refusal_counts_where_it_has_the_code_of_one() {
    let answering = |body: serde_json::Value| {
        serve(move |request| {
            let lists = request.method == "GET" && request.target.ends_with("/things");
            lists.then(|| Answer::json(403, body.clone()))
        })
    };
    let failure = refused(&answering(json!({"error": {"code": "not_yours"}})), |_| {});
    assert_eq!(failure.code, Code::KitServerRefused);
    assert!(failure.message.ends_with(": retired"), "what it made was put away: {failure:?}");
    // A gateway that says no to what it does not know is no word about a key.
    let report = judge_with(
        &answering(json!({"message": "Forbidden"})),
        &[reads(json!({"status": [200]}))],
        |_| {},
        &patient(),
    );
    assert_eq!(report.summary.totals.pass, 1);
}

#[test]
fn a_connection_that_is_turned_away_is_asked_for_again() {
    let protocol = web(&[reads(json!({"status": [200]}))]);
    // The kit asks again for half a second. On a busy machine the server may be later than that;
    // then there is another try.
    let passed = (0..20).any(|_| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // Until the server listens here, every connection is refused.
        drop(listener);
        let late = thread::spawn(move || {
            thread::sleep(Duration::from_millis(60));
            Server::at(address, ordinary)
        });
        let adapter = Http::new(HttpOptions::new(format!("http://{address}"))).unwrap();
        let report = run(&protocol, &adapter, &patient(), &mut Silent);
        drop(late.join().unwrap());
        report.is_ok_and(|report| report.summary.totals.pass == 1)
    });
    assert!(passed);
}

/// A connection that breaks costs the case that it was for; all others are judged.
#[test]
fn a_connection_that_breaks_is_an_error_of_its_case_alone() {
    let other = exchange(
        "area/other",
        "A",
        json!([{"request": {"route": "read", "path": {"thing": "y"}},
            "expect": [{"status": [200]}]}]),
    );
    let cases = [reads(json!({"status": [200]})), other];
    let server = serve(|request| (request.target == "/things/x").then(Answer::broken_off));
    let report = judge(&server, &cases);
    let case = &report.cases[0];
    assert_eq!(case.code.as_deref(), Some("KIT_SERVER_UNREACHABLE"));
    let said = case.message.as_deref().unwrap_or_default();
    assert!(said.starts_with("the connection broke before the answer was complete"), "{said}");
    let totals = &report.summary.totals;
    assert_eq!((totals.error, totals.pass), (1, 1));

    // One that breaks while a run gets ready costs no case that does not need it.
    let server = serve(|request| {
        let lists = request.method == "GET" && request.target.ends_with("/things");
        lists.then(Answer::broken_off)
    });
    let report = judge(&server, &cases);
    assert_eq!(report.summary.totals.pass, 2);
}

#[test]
fn a_scratch_server_is_not_reported() {
    let server = serve(|_| None);
    let case = reads(json!({"status": [200]}));
    let report = judge_with(&server, &[case], |options| options.thrown_away = true, &patient());
    assert_eq!(report.summary.totals.pass, 1);
    assert_eq!(report.left_behind, None);
    assert!(!server.lines().iter().any(|line| line.ends_with("/retire")));
}
