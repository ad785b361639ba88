//! Violations, and the details that carry them.

use accord_contract::wire::Pointer;
use accord_contract::{Code, Wire};
use accord_live_core::violation::{Source, Violation, ViolationDetails, field_path, summary};
use serde_json::json;

#[test]
fn a_path_names_members_with_dots_and_items_in_brackets() {
    let root = Pointer::Root;
    assert_eq!(field_path("", &root), "");
    assert_eq!(field_path("submit.data", &root), "submit.data");
    let (todos, first);
    todos = root.member("todos");
    first = todos.index(0);
    assert_eq!(field_path("", &first.member("done")), "todos[0].done");
    assert_eq!(field_path("list.payload", &first), "list.payload.todos[0]");
    assert_eq!(field_path("", &Pointer::Index(&Pointer::Root, 3)), "[3]");
}

#[test]
fn a_hostile_name_does_not_fill_a_path() {
    let name = "é".repeat(1_000_000);
    assert!(field_path("", &Pointer::Root.member(&name)).len() < 400);
}

#[test]
fn details_carry_every_violation_and_what_to_do() {
    let violations = vec![
        Violation::new("toggle.data.id", "must be string")
            .expecting("string", "number")
            .of_keyword("type"),
        Violation::new("streamSpec._ggui:x", "reserved").of_code(Code::GguiCtrReservedName),
    ];
    let details = ViolationDetails::new(Source::Event, violations).under("d7");
    let failure = details.into_failure(Code::GguiContractViolation);
    assert_eq!(failure.code.as_str(), "CONTRACT_VIOLATION");
    assert_eq!(failure.message, "toggle.data.id: must be string (and 1 more violation)");
    let details = failure.details.unwrap();
    assert!(details["hint"].as_str().is_some_and(|hint| hint.contains("actionSpec")));
    assert_eq!(
        json!([
            details["error"],
            details["tool"],
            details["violations"],
            details["propsSchemaHash"]
        ]),
        json!([
            "contract_violation",
            "ggui_event",
            [
                {"field": "toggle.data.id", "message": "must be string", "expected": "string",
                 "received": "number", "keyword": "type"},
                {"field": "streamSpec._ggui:x", "message": "reserved",
                 "code": "CTR_RESERVED_NAME"},
            ],
            "d7",
        ])
    );
}

#[test]
fn a_violation_of_another_server_is_read_with_what_it_adds() {
    let sent = json!({"field": "a", "message": "b", "code": "CTR_LATER", "x-more": 1});
    let violation = Violation::from_document(sent.clone()).unwrap();
    assert_eq!(violation.known_code(), None);
    assert_eq!(violation.encode(), sent);
    assert!(
        ViolationDetails::from_document(json!({
            "error": "contract_violation", "tool": "ggui_event", "violations": [], "hint": "",
        }))
        .is_err()
    );
}

#[test]
fn a_summary_names_the_value_itself() {
    assert_eq!(summary(&[Violation::new("", "must be object")]), "the value: must be object");
}
