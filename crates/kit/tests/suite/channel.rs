//! Cases over a channel: what is sent, what is judged, and where a case ends.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use accord_contract::Wire as _;
use accord_kit::driver::{ChannelServer, ControlOptions, HttpOptions};
use accord_kit::{Corpus, Reporters, RunOptions};
use serde_json::{Value, json};

use crate::support::{patient, run};
use crate::talk::{Talker, case, corpus, judge, judge_with, protocol, report};

fn opened(more: Value) -> Value {
    let mut moves = vec![json!({"open": {}})];
    moves.extend(more.as_array().unwrap().iter().cloned());
    Value::Array(moves)
}

fn verdict(moves: Value) -> String {
    let server = Talker::start();
    judge(&server, moves).verdict.as_str().to_owned()
}

#[test]
fn frames_before_the_barrier_are_judged() {
    let said = json!({"type": "said", "what": "a"});
    let say = json!({"type": "say", "what": "a"});
    let expect = |check: Value| opened(json!([{"send": [say]}, {"expect": check}]));
    assert_eq!(verdict(expect(json!({"order": [said]}))), "pass");
    assert_eq!(verdict(expect(json!({"some": [said], "none": [{"type": "error"}]}))), "pass");
    assert_eq!(verdict(expect(json!({"times": [{"line": said, "times": 1}]}))), "pass");
    let is_number = json!({"check": "type", "at": "/frames/*/n", "value": "integer"});
    assert_eq!(verdict(expect(json!({"checks": [is_number]}))), "pass");

    assert_eq!(verdict(expect(json!({"none": [said]}))), "fail");
    assert_eq!(verdict(expect(json!({"order": [said, said]}))), "fail");
    assert_eq!(verdict(expect(json!({"times": [{"line": said, "times": 2}]}))), "fail");
    let is_text = json!({"check": "type", "at": "/frames/*/n", "value": "string"});
    assert_eq!(verdict(expect(json!({"checks": [is_text]}))), "fail");
    // The answer to the barrier is no frame of the case.
    assert_eq!(verdict(expect(json!({"none": [{"type": "pong"}]}))), "pass");
}

#[test]
fn a_frame_after_the_barrier_belongs_to_the_next_judgement() {
    let said = json!({"type": "said", "what": "a"});
    let moves = json!([
        {"send": [{"type": "later", "what": "a"}]},
        {"expect": {"none": [said]}},
        {"expect": {"until": said, "times": [{"line": said, "times": 1}]}},
    ]);
    assert_eq!(verdict(opened(moves)), "pass");
}

#[test]
fn the_order_of_frames_counts() {
    let moves = |order: Value| {
        opened(json!([
            {"send": [{"type": "say", "what": "a"}, {"type": "say", "what": "b"}]},
            {"expect": {"order": order}},
        ]))
    };
    assert_eq!(verdict(moves(json!([{"what": "a"}, {"what": "b"}]))), "pass");
    assert_eq!(verdict(moves(json!([{"what": "b"}, {"what": "a"}]))), "fail");
}

#[test]
fn values_are_captured_and_moves_are_repeated() {
    let moves = json!([
        {"send": [{"type": "say", "what": "w-${n}"}], "repeat": 3},
        {"expect": {"order": [{"what": "w-1"}, {"what": "w-2"}, {"what": "w-3"}],
            "capture": {"heard": {"frame": {"what": "w-2"}, "at": "/what"}}}},
        {"on": "second", "open": {}},
        {"on": "second", "send": [{"type": "say", "what": "${heard}"}]},
        {"on": "second", "expect": {"order": [{"what": "w-2"}], "none": [{"what": "w-1"}]}},
        {"expect": {"none": [{"type": "said"}]}},
    ]);
    assert_eq!(verdict(opened(moves)), "pass");
    let missing = json!([
        {"expect": {"none": [{"what": "x"}], "capture": {"a": {"frame": {}, "at": "/nothing"}}}},
    ]);
    assert_eq!(verdict(opened(missing)), "fail");
}

#[test]
fn codes_and_reasons_of_closes_are_judged() {
    let leaves = |code: Value, expected: Value| {
        opened(json!([{"send": [{"type": "leave", "code": code}]}, {"closed": expected}]))
    };
    let with = |code: u16| json!({"code": [code]});
    assert_eq!(verdict(leaves(json!(1008), json!({"code": [1009, 1008]}))), "pass");
    let reason = json!({"code": [1008], "reason": "as asked"});
    assert_eq!(verdict(leaves(json!(1008), reason)), "pass");
    let other = json!({"code": [1008], "reason": "another"});
    assert_eq!(verdict(leaves(json!(1008), other)), "fail");
    assert_eq!(verdict(leaves(json!(1008), with(1009))), "fail");
    // A close without a code, and an end without a close.
    assert_eq!(verdict(leaves(Value::Null, with(1005))), "pass");
    let vanishes = |code| opened(json!([{"send": [{"type": "vanish"}]}, {"closed": with(code)}]));
    assert_eq!(verdict(vanishes(1006)), "pass");
    assert_eq!(verdict(vanishes(1005)), "fail");
}

#[test]
fn frames_before_a_close_are_judged_too() {
    let moves = |check: Value| {
        opened(json!([
            {"send": [{"type": "say", "what": "last"}, {"type": "leave", "code": 1000}]},
            {"closed": {"code": [1000]}, "expect": check},
        ]))
    };
    assert_eq!(verdict(moves(json!({"order": [{"what": "last"}]}))), "pass");
    assert_eq!(verdict(moves(json!({"none": [{"what": "last"}]}))), "fail");
}

#[test]
fn a_close_instead_of_the_answer_is_a_failure_with_its_code() {
    let server = Talker::start();
    let moves = opened(json!([
        {"send": [{"type": "leave", "code": 1011}]}, {"expect": {"none": [{"type": "error"}]}},
    ]));
    let result = judge(&server, moves);
    assert_eq!(result.verdict.as_str(), "fail");
    let shown = result.encode().to_string();
    assert!(shown.contains("1011") && shown.contains("as asked"), "{shown}");
    assert_eq!(result.step.as_deref(), Some("move 3 of 3: expect"));
}

#[test]
fn a_close_of_the_client_is_answered() {
    assert_eq!(
        verdict(opened(json!([
            {"close": true}, {"on": "b", "open": {}}, {"on": "b", "expect": {"none": [{"a": 1}]}},
        ]))),
        "pass"
    );
}

#[test]
fn an_end_without_a_close_frame_does_not_answer_a_close() {
    let moves = json!([
        {"expect": {"none": [{"type": "error"}]}}, {"send": [{"type": "hang-up"}]}, {"close": true},
    ]);
    let result = judge(&Talker::start(), opened(moves));
    assert_eq!(result.verdict.as_str(), "fail");
    let shown = result.encode().to_string();
    assert!(shown.contains("the end of the connection"), "{shown}");
}

#[test]
fn a_silent_server_ends_the_case_at_its_limit() {
    let server = Talker::start();
    let moves = opened(json!([
        {"send": [{"type": "silence"}]}, {"expect": {"none": [{"type": "error"}]}},
    ]));
    let adapter = ChannelServer::new(HttpOptions::new(server.url()), None).unwrap();
    let mut options = RunOptions::default();
    options.case_timeout = Duration::from_millis(500);
    let begun = Instant::now();
    let report = run(&protocol(&case(moves)), &adapter, &options);
    let result = &report.cases[0];
    assert_eq!(result.verdict.as_str(), "error");
    let message = result.message.clone().unwrap();
    assert!(message.contains("the answer to the barrier did not come in time"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn refused_upgrades_are_judged_by_their_status() {
    let shut = |refused: Value| json!([{"open": {"query": {"door": "shut"}, "refused": refused}}]);
    assert_eq!(verdict(shut(json!([401]))), "pass");
    assert_eq!(verdict(shut(json!([403]))), "fail");
    assert_eq!(verdict(json!([{"open": {"refused": [401]}}])), "fail");
    let unexpected = json!([{"open": {"query": {"door": "shut"}}}, {"expect": {"none": [{}]}}]);
    assert_eq!(verdict(unexpected), "fail");
}

#[test]
fn keys_are_sent_as_the_case_says() {
    let server = Talker::start();
    let moves = json!([
        {"open": {}}, {"on": "b", "open": {"credential": "none"}},
        {"on": "c", "open": {"key_in": "token"}}, {"on": "d", "open": {"credential": "wrong"}},
        {"expect": {"none": [{"a": 1}]}},
    ]);
    let report = report(&server, moves, true, Some("hush-hush"));
    assert_eq!(report.cases[0].verdict.as_str(), "pass", "{:?}", report.cases[0]);
    let heads: Vec<String> =
        server.seen().into_iter().filter(|text| text.starts_with("GET /talk")).collect();
    assert_eq!(heads.len(), 4);
    assert!(heads[0].contains("authorization: Bearer hush-hush"));
    assert!(!heads[1].contains("authorization"));
    assert!(heads[2].starts_with("GET /talk?token=hush-hush "));
    assert!(!heads[2].contains("authorization"));
    assert!(heads[3].contains("authorization: Bearer accord-check-not-a-key"));
    let shown = report.encode().to_string();
    assert!(!shown.contains("hush-hush") && !shown.contains("control-token"));
}

#[test]
fn without_a_key_cases_about_keys_are_skipped() {
    let server = Talker::start();
    let moves = json!([{"open": {"credential": "wrong", "refused": [401]}}]);
    let result = judge_with(&server, moves, true, None);
    assert_eq!(result.verdict.as_str(), "skip");
    assert!(result.message.unwrap().contains("--token"));
}

#[test]
fn the_control_sets_up_and_reads() {
    let server = Talker::start();
    let moves = json!([
        {"setup": {"kind": "fine"}, "capture": {"token": "/token"}},
        {"refused_setup": {"kind": "unheard"}},
        {"field": {"session": "s 1", "name": "member", "value": {"a": 1}}},
        {"open": {}},
        {"send": [{"type": "say", "what": "${token}"}]},
        {"expect": {"order": [{"what": "t-1"}]}},
    ]);
    let result = judge(&server, moves);
    assert_eq!(result.verdict.as_str(), "pass", "{result:?}");
    let seen = server.seen();
    let setup = seen.iter().find(|text| text.starts_with("POST /setup")).unwrap();
    assert!(setup.contains("authorization: Bearer control-token"), "{setup}");
    assert!(setup.ends_with(r#"{"kind":"fine"}"#), "{setup}");
    assert!(
        seen.iter().any(|text| text.starts_with("GET /session-field?sessionId=s%201&field=member"))
    );
}

#[test]
fn what_the_control_refuses_is_skipped_with_the_reason() {
    let server = Talker::start();
    let moves =
        json!([{"setup": {"kind": "unheard"}}, {"open": {}}, {"expect": {"none": [{"a": 1}]}}]);
    let result = judge(&server, moves);
    assert_eq!(result.verdict.as_str(), "skip");
    let message = result.message.unwrap();
    assert!(message.contains("\"unheard\"") && message.contains("no such kind"), "{message}");
}

#[test]
fn without_a_control_cases_that_need_one_are_skipped_and_others_run() {
    let server = Talker::start();
    let needs = json!([{"setup": {"kind": "fine"}}, {"open": {}}, {"expect": {"none": [{}]}}]);
    let result = judge_with(&server, needs, false, None);
    assert_eq!(result.verdict.as_str(), "skip");
    assert!(result.message.unwrap().contains("--control"));
    let plain = json!([{"open": {}}, {"expect": {"none": [{"a": 1}]}}]);
    assert_eq!(judge_with(&server, plain, false, None).verdict.as_str(), "pass");
}

#[test]
fn a_control_that_does_not_answer_or_refuses_the_token_ends_the_run() {
    let server = Talker::start();
    let case = protocol(&case(json!([{"open": {}}, {"expect": {"none": [{"a": 1}]}}])));
    let begun = |url: String, token: Option<&str>| {
        let mut control = ControlOptions::new(url);
        control.token = token.map(str::to_owned);
        let adapter = ChannelServer::new(HttpOptions::new(server.url()), Some(&control)).unwrap();
        let ran = accord_kit::run(&case, &adapter, &patient(), &mut Reporters::default());
        ran.map(|report| report.summary.exit_code).map_err(|error| error.to_string())
    };
    assert_eq!(begun(server.url(), Some("control-token")), Ok(0));
    for token in [None, Some("another-token")] {
        let said = begun(server.url(), token).unwrap_err();
        assert!(said.contains("answered 401; give its token with --control-token"), "{said}");
    }
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = begun(format!("http://{nobody}"), Some("control-token")).unwrap_err();
    assert!(said.contains(&nobody.to_string()) && said.contains("does not answer"), "{said}");
}

#[test]
fn refusals_and_wrong_fields_are_failures() {
    assert_eq!(verdict(json!([{"refused_setup": {"kind": "fine"}}])), "fail");
    let field = json!([{"field": {"session": "s", "name": "member", "value": {"a": 2}}}]);
    assert_eq!(verdict(field), "fail");
}

#[test]
fn tools_are_called_in_a_session() {
    let moves = json!([
        {"tool": {"name": "echo", "args": {"a": 7}, "expect": [
            {"outcome": {"refused": false, "output": {"a": 7}}, "capture": {"a": "/output/a"}}]}},
        {"tool": {"name": "echo", "args": {"a": "${a}"}, "expect": [
            {"outcome": {"refused": true}, "done": true}, {"outcome": {"output": {"a": 7}}}]}},
        {"tool": {"name": "failing", "args": {}, "expect": [
            {"outcome": {"refused": true},
             "checks": [{"check": "contains_text", "text": "NO_FUEL"}]}]}},
        {"http": {"request": {"route": "thing"},
                  "expect": [{"status": [200], "body": {"thing": 7}}]}},
    ]);
    assert_eq!(verdict(moves), "pass");
    let wrong = json!([
        {"tool": {"name": "echo", "args": {"a": 7}, "expect": [{"outcome": {"output": {"a": 8}}}]}},
    ]);
    assert_eq!(verdict(wrong), "fail");
}

#[test]
fn an_outcome_can_end_a_case() {
    let moves = json!([
        {"tool": {"name": "failing", "args": {},
                  "expect": [{"outcome": {"refused": true}, "done": true}]}},
        {"tool": {"name": "echo", "args": {}, "expect": [{"outcome": {"refused": true}}]}},
    ]);
    assert_eq!(verdict(moves), "pass");
}

#[test]
fn a_missing_tool_is_not_implemented_and_bad_arguments_are_a_refusal() {
    let server = Talker::start();
    let refused = json!([{"outcome": {"refused": true}}]);
    let call = |name: &str| json!([{"tool": {"name": name, "args": {}, "expect": refused}}]);
    let missing = judge(&server, call("unheard"));
    assert_eq!(missing.verdict.as_str(), "not_implemented");
    // The server lists it, so its arguments were refused.
    assert_eq!(judge(&server, call("strict")).verdict.as_str(), "pass");
}

#[test]
fn a_tool_that_cannot_work_here_is_excused() {
    let server = Talker::start();
    let moves = json!([{"tool": {"name": "failing", "args": {}, "excused_by": ["NO_FUEL"],
        "expect": [{"outcome": {"refused": false}}]}}]);
    let result = judge(&server, moves);
    assert_eq!(result.verdict.as_str(), "skip");
    assert!(result.message.unwrap().contains("NO_FUEL"));
}

#[test]
fn mistakes_in_cases_are_found_before_a_run() {
    let fault = |moves: Value| {
        let folder = corpus(&case(moves));
        Corpus::from_dir(folder.path()).unwrap_err().to_string()
    };
    for (moves, said) in [
        (json!([{"open": {}}]), "judges nothing"),
        (json!([{"expect": {"none": [{}]}}]), "the socket `main` is not open"),
        (json!([{"open": {}}, {"open": {}}]), "is already open"),
        (json!([{"open": {}, "send": [1]}]), "does 2 things instead of one"),
        (json!([{"open": {}}, {"expect": {}}]), "expects nothing"),
        (json!([{"open": {}}, {"send": ["${x}"]}]), "nothing gives the variable `x` a value"),
        (json!([{"open": {}}, {"expect": {"none": [{"assert": "nope"}]}}]), "unknown assertion"),
        (json!([{"open": {}}, {"closed": {"code": []}}]), "`code` must list codes"),
        (json!([{"tool": {"args": {}, "expect": []}}]), "needs `name`"),
        (json!([{"open": {"refused": [7]}}]), "must list statuses"),
        (json!([{"open": {}, "repeat": 0}]), "must be from 1 to"),
        (json!([{"http": {"request": {"route": "none"}}}]), "no route \"none\""),
    ] {
        let found = fault(moves);
        assert!(found.contains(said), "{said}: {found}");
    }
}
