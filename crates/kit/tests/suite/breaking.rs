//! Whether a change is breaking, from two reports.

use accord_contract::fixture::AdapterResult;
use accord_kit::breaking::compare;
use accord_kit::driver::InProcess;
use accord_kit::{Case, RunReport};
use serde_json::{Value, json};

use crate::support::{case, changed, demo, honest_outcome, patient, run};

/// A run of cases on an implementation that fails those whose id has the word.
fn report(cases: &[Value], failing: &'static str) -> RunReport {
    let adapter = InProcess::new(move |case: &Case| {
        let outcome = match case.id.contains(failing) {
            true => json!({"result": "ok", "text": "another"}),
            false => honest_outcome(case),
        };
        AdapterResult::judge(&case.expectation(), outcome)
    });
    run(&demo(cases), &adapter, &patient())
}

fn recommended(id: &str) -> Value {
    changed(case(id), json!({"strength": "should", "clauses": ["DEMO-2"]}))
}

#[test]
fn a_required_case_that_passed_and_fails_is_breaking() {
    let cases = [case("area/a"), case("area/b")];
    let found = compare(&report(&cases, "none"), &report(&cases, "area/b")).unwrap();
    assert!(found.is_breaking());
    assert_eq!(found.broken, ["demo/area/b"]);
    assert_eq!(found.same_version.as_deref(), Some("3.0"));
}

#[test]
fn the_same_results_are_not_breaking() {
    let cases = [case("area/a"), case("area/b")];
    let old = report(&cases, "area/b");
    let found = compare(&old, &old).unwrap();
    assert!(!found.is_breaking() && found.unproven.is_empty() && found.new_failures.is_empty());
    // What failed before and passes now is an improvement.
    assert!(!compare(&old, &report(&cases, "none")).unwrap().is_breaking());
}

#[test]
fn a_case_without_a_verdict_is_named_and_does_not_count() {
    let old = report(&[case("area/a"), case("area/b")], "none");
    let found = compare(&old, &report(&[case("area/a")], "none")).unwrap();
    assert!(!found.is_breaking());
    assert_eq!(found.unproven, ["demo/area/b"]);
}

#[test]
fn new_failures_and_recommendations_do_not_count() {
    let old = report(&[case("area/a"), recommended("area/r")], "none");
    let now = [case("area/a"), recommended("area/r"), case("area/new-r")];
    let found = compare(&old, &report(&now, "/r")).unwrap();
    assert!(!found.is_breaking());
    assert_eq!(found.changed, ["demo/area/r"]);
    let found = compare(&old, &report(&now, "new")).unwrap();
    assert!(!found.is_breaking());
    assert_eq!(found.new_failures, ["demo/area/new-r"]);
}

#[test]
fn reports_about_two_protocols_cannot_be_compared() {
    let old = report(&[case("area/a")], "none");
    let mut new = old.clone();
    new.run.protocol = "other".to_owned();
    assert!(compare(&old, &new).unwrap_err().to_string().contains("different protocols"));
}
