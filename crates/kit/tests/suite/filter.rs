//! The language of filters.

use accord_kit::Filter;
use serde_json::json;

use crate::support::{case, changed, demo};

fn chosen(filter: &str) -> Vec<String> {
    let protocol = demo(&[
        case("identity/plain"),
        changed(
            case("identity/tagged"),
            json!({"level": "registry", "clauses": ["DEMO-1", "DEMO-3"]}),
        ),
        changed(
            case("wire/plain"),
            json!({
                "strength": "should", "clauses": ["DEMO-2"],
                "input": {"operation": "noop", "args": {}},
            }),
        ),
    ]);
    let filter: Filter = filter.parse().unwrap();
    let cases = protocol.cases().iter().filter(|case| filter.matches(case));
    cases
        .map(|case| case.id.strip_prefix("demo/").unwrap().to_owned())
        .collect()
}

#[test]
fn predicates_look_at_what_they_name() {
    assert_eq!(chosen("id(demo/identity/plain)"), ["identity/plain"]);
    assert_eq!(chosen("id(*/plain)"), ["identity/plain", "wire/plain"]);
    assert_eq!(chosen("id(plain)"), [""; 0]);
    assert_eq!(chosen("plain"), ["identity/plain", "wire/plain"]);
    assert_eq!(chosen("demo/*/t?gged"), ["identity/tagged"]);
    assert_eq!(chosen("clause(DEMO-[3])"), [""; 0]);
    assert_eq!(chosen("clause( DEMO-3 )"), ["identity/tagged"]);
    assert_eq!(chosen("level(registry)"), ["identity/tagged"]);
    assert_eq!(chosen("area(wire)"), ["wire/plain"]);
    assert_eq!(chosen("strength(should)"), ["wire/plain"]);
    assert_eq!(chosen("op(no*)"), ["wire/plain"]);
}

#[test]
fn not_binds_stronger_than_and_and_and_stronger_than_or() {
    let all = ["identity/plain", "identity/tagged", "wire/plain"];
    assert_eq!(
        chosen("area(wire) or area(identity) and tagged"),
        ["identity/tagged", "wire/plain"]
    );
    assert_eq!(
        chosen("(area(wire)|area(identity))&tagged"),
        ["identity/tagged"]
    );
    assert_eq!(chosen("!plain & !tagged"), [""; 0]);
    assert_eq!(chosen("not plain or plain"), all);
    assert_eq!(chosen("not (plain or tagged)"), [""; 0]);
    assert_eq!(chosen("!!plain"), ["identity/plain", "wire/plain"]);
    assert_eq!(chosen("not(plain)"), ["identity/tagged"]);
    // A word that only begins like an operator is a word.
    assert_eq!(chosen("notable or order or android"), [""; 0]);
}

#[test]
fn a_filter_remembers_its_text() {
    let filter: Filter = "id(a) & b".parse().unwrap();
    assert_eq!(filter.to_string(), "id(a) & b");
}

#[test]
fn an_error_points_at_its_column() {
    for (text, column, message) in [
        ("", 1, "expected a predicate"),
        ("   ", 4, "expected a predicate"),
        ("plain plain", 7, "expected `and`, `or` or the end"),
        (
            "clas(x)",
            1,
            "unknown predicate `clas`; known are id, clause",
        ),
        ("a & clas(x)", 5, "unknown predicate `clas`"),
        ("id(x", 4, "closing `)`"),
        ("id()", 4, "a value between the parentheses"),
        ("id(x) and", 10, "expected a predicate"),
        ("and x", 1, "expected a predicate before `and`"),
        ("(a | b", 7, "closing `)`"),
        ("a)", 2, "closes nothing"),
        ("é & )", 5, "expected a predicate"),
        ("a && b", 4, "expected a predicate"),
    ] {
        let error = text.parse::<Filter>().unwrap_err();
        assert_eq!(error.column, column, "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
    let deep = "(".repeat(100_000);
    assert!(
        deep.parse::<Filter>()
            .unwrap_err()
            .message
            .contains("nested too deeply")
    );
    let nots = "!".repeat(100_000);
    assert!(
        nots.parse::<Filter>()
            .unwrap_err()
            .message
            .contains("nested too deeply")
    );
}
