//! The language of filters.

use accord_kit::Filter;
use serde_json::json;

use crate::support::{Silent, case, changed, demo, honest, patient};

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
    cases.map(|case| case.id.strip_prefix("demo/").unwrap().to_owned()).collect()
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
    assert_eq!(chosen("(area(wire)|area(identity))&tagged"), ["identity/tagged"]);
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
        ("clas(x)", 1, "unknown predicate `clas`; known are id, clause"),
        ("a & clas(x)", 5, "unknown predicate `clas`"),
        ("id(x", 4, "closing `)`"),
        ("id()", 4, "a value between the parentheses"),
        ("id(x) and", 10, "expected a predicate"),
        ("and x", 1, "expected a predicate before `and`"),
        ("(a | b", 7, "closing `)`"),
        ("a)", 2, "has no matching `(`"),
        ("é & )", 5, "expected a predicate"),
        ("a && b", 4, "expected a predicate"),
    ] {
        let error = text.parse::<Filter>().unwrap_err();
        assert_eq!(error.column, column, "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
    let deep = "(".repeat(100_000);
    assert!(deep.parse::<Filter>().unwrap_err().message.contains("nested too deeply"));
    let nots = "!".repeat(100_000);
    assert!(nots.parse::<Filter>().unwrap_err().message.contains("nested too deeply"));
}

#[test]
fn what_the_protocol_does_not_have_is_refused_with_what_it_has() {
    let protocol =
        demo(&[case("retry/plain"), changed(case("wire/plain"), json!({"level": "registry"}))]);
    let check = |filter: &str| {
        let checked = filter.parse::<Filter>().unwrap().check(&protocol);
        checked.map_err(|error| error.to_string())
    };
    for sound in [
        "level(core) | level(registry)",
        "strength(may)",
        "area(retry) & !area(wire)",
        "clause(DEMO-?) | clause(DEMO-3)",
        "op(no*) or op(echo)",
        "id(nothing/*) and nowhere",
    ] {
        assert_eq!(check(sound), Ok(()), "{sound}");
    }
    for (filter, expected) in [
        (
            "level(nope)",
            "column 1: the protocol demo has no level \"nope\"; choose one of core, registry",
        ),
        (
            "plain & !strength(MUST)",
            "column 10: the protocol demo has no strength \"MUST\"; did you mean \"must\"?",
        ),
        ("area(retr)", "column 1: the protocol demo has no area \"retr\"; did you mean \"retry\"?"),
        (
            "plain or (clause(demo-1))",
            "column 11: the protocol demo has no clause \"demo-1\"; did you mean \"DEMO-1\"?",
        ),
        (
            "clause(X*)",
            "column 1: the protocol demo has no clause \"X*\"; \
             choose one of DEMO-1, DEMO-2, DEMO-3",
        ),
        ("op(x)", "column 1: the protocol demo has no operation \"x\"; choose one of echo, noop"),
    ] {
        assert_eq!(check(filter), Err(expected.to_owned()));
    }

    let mut options = patient();
    options.filter = Some("level(nope)".parse().unwrap());
    let error = accord_kit::run(&protocol, &honest(), &options, &mut Silent).unwrap_err();
    let failure = accord_contract::codes::Failure::from(error);
    assert_eq!(failure.code.as_str(), "KIT_FILTER_INVALID");
}
