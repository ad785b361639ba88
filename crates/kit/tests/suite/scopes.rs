//! Where a run works on a server, what it may touch there, and what it leaves.

use std::collections::BTreeSet;

use accord_kit::report::LeftBehind;
use serde_json::{Value, json};

use crate::server::{Answer, Request, Server};
use crate::support::{Silent, changed, patient, verdicts};
use crate::web::{exchange, judge, judge_with, reads, serve, web};

fn writes(id: &str) -> Value {
    exchange(
        id,
        "B",
        json!([{"request": {"route": "write", "json": {"in": "${scope_id}"}},
            "expect": [{"status": [201]}]}]),
    )
}

fn lists(id: &str) -> Value {
    exchange(id, "A", json!([{"request": {"route": "list"}, "expect": [{"status": [200]}]}]))
}

/// The same case, in a scope of its own.
fn alone(case: Value) -> Value {
    changed(case, json!({"let": {"scope_id": {"make": "scope"}}}))
}

fn reported(left: &LeftBehind) -> (&str, &str) {
    (left.id.as_str(), left.state.as_str())
}

fn scopes(server: &Server) -> BTreeSet<String> {
    let seen = server.seen();
    let made = seen.iter().filter(|request| request.line() == "POST /scopes");
    made.map(|request| request.json()["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_run_makes_its_scopes_works_in_them_alone_and_puts_them_away() {
    let server = serve(|_| None);
    let report =
        judge(&server, &[writes("a/one"), alone(writes("a/two")), alone(lists("a/three"))]);
    assert_eq!(report.summary.totals.pass, 3);
    let own = report.run.adapter.scope.clone().unwrap();
    let made = scopes(&server);
    assert_eq!(made.len(), 3);
    assert!(made.iter().all(|id| id.starts_with(&own)), "{made:?}");
    for request in server.seen() {
        let inside = made.iter().any(|id| request.target.contains(&format!("/scopes/{id}/")));
        assert!(inside || ["/", "/scopes"].contains(&request.target.as_str()), "{request:?}");
    }
    let left = report.left_behind.unwrap();
    let ids: BTreeSet<String> = left.iter().map(|left| left.id.clone()).collect();
    assert_eq!(ids, made);
    assert!(left.iter().all(|left| left.kind == "scope" && left.state == "retired"), "{left:?}");
    let last: Vec<String> = server.lines().iter().rev().take(3).cloned().collect();
    assert!(last.iter().all(|line| line.ends_with("/retire")), "{last:?}");
}

#[test]
fn what_cannot_be_put_away_is_named() {
    let server =
        serve(|request| request.target.ends_with("/retire").then(|| Answer::text(405, "")));
    let report = judge(&server, &[writes("a/one")]);
    let left = report.left_behind.unwrap();
    let own = report.run.adapter.scope.unwrap();
    assert_eq!(reported(&left[0]), (own.as_str(), "kept, because `retire` answered 405"));

    // A scope that never came to be leaves nothing.
    let server = serve(|request| {
        let gone = request.target.ends_with("/retire");
        gone.then(|| Answer::json(404, json!({"code": "scope_not_found"})))
    });
    assert_eq!(judge(&server, &[writes("a/one")]).left_behind, None);
}

/// What a run that cleans up leaves on a server.
fn left_of(server: &Server, cases: &[Value]) -> Vec<LeftBehind> {
    let report = judge_with(server, cases, |options| options.cleanup = true, &patient());
    assert_eq!(report.summary.totals.pass, cases.len() as u64);
    report.left_behind.unwrap_or_default()
}

#[test]
fn a_run_that_cleans_up_removes_its_scopes() {
    let shared =
        changed(writes("a/two"), json!({"let": {"scope_id": {"make": "scope", "id": "shared"}}}));
    let cases = [alone(writes("a/one")), shared];
    let removes = |request: &Request| request.method == "DELETE";
    let server = serve(move |request| removes(request).then(|| Answer::json(200, json!({}))));
    assert_eq!(left_of(&server, &cases), []);
    let lines = server.lines();
    let removed = lines.iter().filter(|line| line.starts_with("DELETE /scopes/"));
    assert_eq!(removed.count(), 3, "its own, that of the case, and the shared one");
    assert!(!lines.iter().any(|line| line.ends_with("/retire")), "{lines:?}");

    // A server that refuses, and one without the route, keep them. Both are reported.
    let refusal = json!({"error": {"code": "scope_not_empty"}});
    let server = serve(move |request| removes(request).then(|| Answer::json(409, refusal.clone())));
    for left in left_of(&server, &cases) {
        let first = if left.id == "shared" { "kept, because all runs share it" } else { "retired" };
        let state = format!("{first}; not removed: `remove` answered 409 scope_not_empty");
        assert_eq!(left.state, state);
    }
    let server = serve(|_| None);
    let left = left_of(&server, &cases);
    assert_eq!(left.len(), 3);
    assert!(left.iter().all(|left| left.state.ends_with("`remove` answered 404")), "{left:?}");

    // Without the flag nothing is removed.
    let server = serve(|_| None);
    judge(&server, &cases);
    assert!(!server.lines().iter().any(|line| line.starts_with("DELETE ")));
}

#[test]
fn a_server_that_is_strict_about_members_gets_scopes_without_a_mark() {
    let server = serve(|request| {
        let is_marked = request.line() == "POST /scopes" && request.json().get("x-run").is_some();
        is_marked.then(|| Answer::json(400, json!({"error": {"code": "unknown_member"}})))
    });
    let report = judge(&server, &[alone(writes("a/one"))]);
    assert_eq!(report.summary.totals.pass, 1);
    let seen = server.seen();
    let made: Vec<_> = seen.iter().filter(|request| request.line() == "POST /scopes").collect();
    assert_eq!(made.len(), 4, "each scope with the mark, then without it");
    assert!(made.iter().skip(1).step_by(2).all(|request| request.json().get("x-run").is_none()));
    assert_eq!(report.left_behind.map(|left| left.len()), Some(2));
}

#[test]
fn a_server_that_makes_no_scopes_gets_them_by_the_first_write() {
    let server = serve(|request| (request.line() == "POST /scopes").then(|| Answer::text(404, "")));
    let report = judge(&server, &[alone(writes("a/one"))]);
    assert_eq!(report.summary.totals.pass, 1);
}

#[test]
fn a_shared_scope_is_made_once_and_kept() {
    let shared = |case: Value| {
        changed(case, json!({"let": {"scope_id": {"make": "scope", "id": "check-shared"}}}))
    };
    let server = serve(|_| None);
    let report = judge(&server, &[shared(writes("a/one")), shared(writes("a/two"))]);
    let lines = server.lines();
    let writes = lines.iter().filter(|line| *line == "POST /scopes/check-shared/things");
    assert_eq!(writes.count(), 2);
    assert_eq!(scopes(&server).iter().filter(|id| *id == "check-shared").count(), 1);
    let left = report.left_behind.unwrap();
    let kept = left.iter().find(|left| left.id == "check-shared").unwrap();
    assert!(kept.state.starts_with("kept, "), "{kept:?}");
    assert!(!lines.contains(&"POST /scopes/check-shared/retire".to_owned()));
}

#[test]
fn a_scope_that_was_given_is_read_and_nothing_else() {
    let server = serve(|_| None);
    let report = judge_with(
        &server,
        &[
            lists("a/lists"),
            writes("a/writes"),
            alone(lists("a/alone")),
            reads(json!({"status": [200]})),
        ],
        |options| options.scope = Some("theirs".to_owned()),
        &patient(),
    );
    assert_eq!(
        verdicts(&report),
        [
            ("web/a/alone", "skip"),
            ("web/a/lists", "pass"),
            ("web/a/writes", "skip"),
            ("web/area/case", "pass")
        ]
    );
    assert_eq!(
        report.cases[0].message.as_deref(),
        Some("writes, and the run only reads \"theirs\"")
    );
    let mut lines = server.lines();
    lines.sort_unstable();
    // One look at the scope comes before the cases, to see that it may be read.
    let look = "GET /scopes/theirs/things";
    assert_eq!(lines, ["GET /", look, look, "GET /things/x"]);
    assert_eq!(report.left_behind, None);
    assert_eq!(report.run.adapter.scope.as_deref(), Some("theirs"));
}

#[test]
fn a_server_that_takes_nothing_in_has_nothing_to_read() {
    let server = serve(|request| (request.method == "POST").then(|| Answer::text(405, "")));
    let report =
        judge(&server, &[lists("a/lists"), writes("a/writes"), reads(json!({"status": [200]}))]);
    assert_eq!(
        verdicts(&report),
        [("web/a/lists", "skip"), ("web/a/writes", "not_implemented"), ("web/area/case", "pass")]
    );
    let why = report.cases[0].message.as_deref().unwrap();
    assert!(why.starts_with("there is nothing to read, "), "{why}");
    // Nothing was written, so that nothing is left.
    assert_eq!(report.left_behind, None);
    assert!(!server.lines().iter().any(|line| line.ends_with("/retire")));
}

#[test]
fn cases_about_keys_need_keys() {
    let with = |id: &str, credential: &str, status: u16| {
        exchange(
            id,
            "A",
            json!([{"request": {"route": "read", "path": {"thing": "x"}, "credential": credential},
                "expect": [{"status": [status]}]}]),
        )
    };
    let cases = [
        with("a/main", "main", 200),
        with("a/none", "none", 401),
        with("a/second", "second", 200),
        with("a/wrong", "wrong", 403),
    ];
    let server = serve(|request| {
        let key = request.headers.get("authorization").map(String::as_str);
        let status = match key {
            None => 401,
            Some("Bearer one" | "Bearer two") => 200,
            Some(_) => 403,
        };
        (request.target == "/things/x").then(|| Answer::json(status, json!({})))
    });
    let report = judge_with(
        &server,
        &cases,
        |options| {
            options.token = Some("one".to_owned());
            options.second_token = Some("two".to_owned());
        },
        &patient(),
    );
    assert_eq!(report.summary.totals.pass, 4, "{:?}", verdicts(&report));

    let open = serve(|_| None);
    let report = judge(&open, &cases);
    assert_eq!(
        verdicts(&report),
        [
            ("web/a/main", "pass"),
            ("web/a/none", "skip"),
            ("web/a/second", "skip"),
            ("web/a/wrong", "skip")
        ]
    );
}

#[test]
fn every_run_has_ids_of_its_own() {
    let case = exchange(
        "a/ids",
        "B",
        json!([{"request": {"route": "write", "json": {"u": "${u}", "h": "${h}", "t": "${t}"}},
            "expect": [{"status": [201], "checks": [
            {"check": "prefix_hex", "at": "/h", "prefix": "pkg_", "digits": 32},
            {"check": "rfc3339_utc", "at": "/t"},
        ]}]}]),
    );
    let made = json!({"u": {"make": "unique", "prefix": "u-"}, "h": {"make": "hex",
        "prefix": "pkg_", "digits": 32}, "t": {"make": "time", "seconds": -86400}});
    let case = changed(case, json!({"let": made}));
    let server = serve(|_| None);
    for _ in 0..2 {
        assert_eq!(judge(&server, std::slice::from_ref(&case)).summary.totals.pass, 1);
    }
    let seen = server.seen();
    let ids: Vec<Value> =
        seen.iter().map(|request| request.json()["u"].clone()).filter(|id| !id.is_null()).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn what_was_made_is_put_away_also_when_the_run_breaks_off() {
    struct Broken;
    impl accord_kit::Reporter for Broken {
        fn report(&mut self, event: &accord_kit::Event<'_>) -> std::io::Result<()> {
            match event.seq {
                0 => Ok(()),
                _ => Err(std::io::ErrorKind::BrokenPipe.into()),
            }
        }
    }
    let server = serve(|_| None);
    let http =
        accord_kit::driver::Http::new(accord_kit::driver::HttpOptions::new(server.url())).unwrap();
    let protocol = web(&[writes("a/one")]);
    accord_kit::run(&protocol, &http, &patient(), &mut Broken).unwrap_err();
    let lines = server.lines();
    assert!(lines.last().unwrap().ends_with("/retire"), "{lines:?}");
}

#[test]
fn cases_of_servers_and_of_adapters_are_distinguished() {
    let server = serve(|_| None);
    let http =
        accord_kit::driver::Http::new(accord_kit::driver::HttpOptions::new(server.url())).unwrap();
    let demo = crate::support::demo(&[crate::support::case("area/a")]);
    let error = accord_kit::run(&demo, &http, &patient(), &mut Silent).unwrap_err();
    assert_eq!(error.to_string(), "demo has no cases over HTTP; name an adapter instead");

    let report =
        crate::support::run(&web(&[lists("a/lists")]), &crate::support::honest(), &patient());
    assert_eq!(verdicts(&report), [("web/a/lists", "skip")]);
    assert_eq!(
        report.cases[0].message.as_deref(),
        Some("is judged over the network, and the run has no server")
    );
}
