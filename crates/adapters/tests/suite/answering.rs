//! Answers to cases that an adapter cannot perform.

use accord_adapters::{Adapter as _, adapter, alx, protocols};
use accord_contract::fixture::Status;
use serde_json::{Value, json};

fn status(case: &Value) -> Status {
    alx::Accord.answer_case(case).status
}

fn case(operation: &str, setup: Value, args: Value) -> Value {
    json!({
        "id": "alx/x/y",
        "setup": setup,
        "input": { "operation": operation, "args": args },
        "expected": { "result": "ok" },
    })
}

#[test]
fn an_unknown_operation_is_not_implemented() {
    assert_eq!(status(&case("kb_sell", json!({}), json!({}))), Status::NotImplemented);
}

#[test]
fn an_unknown_setup_is_an_error() {
    let unknown = case("version", json!({ "clock": 1 }), json!({}));
    assert_eq!(status(&unknown), Status::Error);
    let unknown = case("kb_register", json!({ "blocks": [] }), json!({ "envelope": "{}" }));
    assert_eq!(status(&unknown), Status::Error);
}

#[test]
fn an_unreadable_case_is_an_error() {
    for text in ["", "{", "[]", "{\"input\":{}}", "{\"input\":{\"operation\":\"version\"}}"] {
        assert_eq!(alx::Accord.answer(text.as_bytes()).status, Status::Error, "{text}");
    }
    let wrong_kind = case("canonicalize", json!({}), json!({ "json": 1 }));
    assert_eq!(status(&wrong_kind), Status::Error);
    let missing = case("canonicalize", json!({}), json!({}));
    assert_eq!(status(&missing), Status::Error);
    let nonsense = case("canonicalize", json!({}), json!({ "json": "1", "numbers": "guess" }));
    assert_eq!(status(&nonsense), Status::Error);
}

#[test]
fn a_case_of_another_protocol_is_an_error() {
    let mut other = case("version", json!({}), json!({}));
    other["protocol"] = "aof".into();
    assert_eq!(status(&other), Status::Error);
    other["protocol"] = "alx".into();
    assert_eq!(status(&other), Status::Pass);
}

#[test]
fn a_wrong_expectation_is_a_fail_with_the_outcome() {
    let mut wrong = case("canonicalize", json!({}), json!({ "json": "[1.0]" }));
    wrong["expected"] = json!({ "canonical": "[1.0]" });
    let result = alx::Accord.answer_case(&wrong);
    assert_eq!(result.status, Status::Fail);
    let actual = result.actual.value().expect("an outcome");
    assert_eq!(actual["canonical"], "[1]");
    assert_eq!(result.id.value().map(String::as_str), Some("alx/x/y"));
}

#[test]
fn every_protocol_has_an_adapter() {
    for protocol in protocols() {
        assert!(adapter(protocol).is_some(), "{protocol}");
    }
    assert!(adapter("gopher").is_none());
}
