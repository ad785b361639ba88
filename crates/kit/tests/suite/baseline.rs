//! Known failures: what is excused, what is stale, what is refused.

use accord_contract::fixture::{AdapterResult, Status};
use accord_contract::{Date, Wire as _};
use accord_kit::driver::InProcess;
use accord_kit::{Baseline, Case};
use serde_json::{Value, json};

use crate::support::{case, changed, demo, honest, patient, run, stubborn};

fn baseline(entries: Value) -> Baseline {
    Baseline::parse(json!({"known_failures": entries}).to_string().as_bytes()).unwrap()
}

fn day(text: &str) -> Date {
    Date::parse(text).unwrap()
}

#[test]
fn a_known_failure_does_not_fail_the_run() {
    let protocol = demo(&[case("area/a"), case("area/b")]);
    let mut options = patient();
    options.baseline = baseline(json!([
        {"case": "demo/area/a", "reason": "not now"},
        {"case": "demo/area/b", "reason": "soon", "issue": "https://example.org/7",
            "expires": "2026-11-15"},
    ]));
    options.today = day("2026-11-15");
    let report = run(&protocol, &stubborn(), &options);
    assert_eq!(report.summary.exit_code, 0);
    assert_eq!((report.summary.totals.fail, report.summary.totals.known_failure), (2, 2));
    assert_eq!(report.cases[0].known_failure.as_deref(), Some("not now"));

    options.today = day("2026-11-16");
    let report = run(&protocol, &stubborn(), &options);
    assert_eq!(report.summary.exit_code, 1);
    assert_eq!(report.cases[0].excused_until, None);
    assert_eq!(report.cases[1].excused_until, Some(day("2026-11-15")));
    assert_eq!(report.cases[1].known_failure, None);
}

#[test]
fn an_entry_whose_case_passes_is_stale_and_fails_the_run() {
    let protocol = demo(&[case("area/a"), case("area/b")]);
    let mut options = patient();
    options.baseline = baseline(json!([{"case": "demo/area/a", "reason": "old"}]));
    let report = run(&protocol, &honest(), &options);
    assert_eq!(report.summary.exit_code, 1);
    assert_eq!(report.summary.stale[0].case, "demo/area/a");
    assert_eq!(
        report.summary.reasons,
        ["1 entry of the baseline is out of date (KIT_BASELINE_STALE)"]
    );

    // Nothing is known about an entry whose case did not run.
    options.filter = Some("area/b".parse().unwrap());
    assert_eq!(run(&protocol, &honest(), &options).summary.exit_code, 0);
}

#[test]
fn a_baseline_is_read_strictly() {
    for (text, expected) in [
        (
            json!({"known_failures": [{"case": "x", "reason": " "}]}),
            "/known_failures/0/reason: a known failure needs a reason",
        ),
        (
            json!({"known_failures": [{"case": "x"}]}),
            "/known_failures/0/reason: expected a string, found nothing",
        ),
        (
            json!({"known_failures": [{"case": "x", "reason": "r"}, {"case": "x", "reason": "r"}]}),
            "/known_failures/1/case: \"x\" is listed twice",
        ),
        (
            json!({"known_failures": [{"case": "x", "reason": "r", "expires": "2026-02-30"}]}),
            "/known_failures/0/expires: expected a day that exists, written YYYY-MM-DD, found \
             \"2026-02-30\"",
        ),
        (
            json!({"known_failures": [], "more": 1}),
            "/more: expected no member of this name, found a number",
        ),
        (json!([]), "expected an object, found a list"),
    ] {
        let error = Baseline::parse(text.to_string().as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    assert!(Baseline::parse(b"").is_err());
}

#[test]
fn an_entry_about_an_unknown_case_is_refused() {
    let protocol = demo(&[case("area/a")]);
    let mut options = patient();
    options.baseline = baseline(json!([{"case": "demo/area/gone", "reason": "old"}]));
    let error = accord_kit::run(&protocol, &honest(), &options, &mut crate::support::Silent);
    assert_eq!(
        error.unwrap_err().to_string(),
        "the baseline does not fit the corpus: /known_failures/0/case: \
         no case has the id \"demo/area/gone\""
    );
}

#[test]
fn only_a_case_that_passed_loses_its_entry() {
    let ids = ["a-pass", "b-fail", "c-error", "d-missing", "e-skip", "f-late"];
    let cases: Vec<Value> = ids
        .iter()
        .map(|id| {
            let level = if *id == "e-skip" { "registry" } else { "core" };
            changed(case(&format!("area/{id}")), json!({"level": level}))
        })
        .collect();
    let protocol = demo(&cases);
    let adapter = InProcess::new(|case: &Case| match case.id.rsplit('-').next() {
        Some("pass") => AdapterResult::judge(&case.expectation(), case.expectation()),
        Some("error") => AdapterResult::without_outcome(Status::Error, "cannot"),
        Some("missing") => AdapterResult::without_outcome(Status::NotImplemented, "later"),
        _ => AdapterResult::judge(&case.expectation(), json!({"result": "no"})),
    });
    let entry = |id: &str| json!({"case": format!("demo/area/{id}"), "reason": "old"});
    let mut entries: Vec<Value> = ids.iter().map(|id| entry(id)).collect();
    entries[5]["issue"] = json!("12");
    entries[5]["expires"] = json!("2020-12-31");
    let mut options = patient();
    options.baseline = baseline(json!(entries));
    options.levels = Some(["core".to_owned()].into());
    let report = run(&protocol, &adapter, &options);
    let made = Baseline::from_report(&report, &options.baseline, "new");
    assert_eq!(
        made.encode(),
        json!({"known_failures": [
            entry("b-fail"), entry("c-error"), entry("d-missing"), entry("e-skip"),
            {"case": "demo/area/f-late", "reason": "new", "issue": "12"},
        ]})
    );
}

#[test]
fn a_baseline_is_made_from_a_report_and_keeps_what_still_holds() {
    let soft = changed(case("area/soft"), json!({"strength": "should", "clauses": ["DEMO-2"]}));
    let protocol = demo(&[case("area/a"), case("area/b"), case("other/c"), soft]);
    let mut options = patient();
    options.filter = Some("area(area)".parse().unwrap());
    let report = run(&protocol, &stubborn(), &options);
    let before = baseline(json!([
        {"case": "demo/other/c", "reason": "did not run"},
        {"case": "demo/area/b", "reason": "known since long", "issue": "12"},
    ]));
    let made = Baseline::from_report(&report, &before, "fails since the first run");
    assert_eq!(
        made.encode(),
        json!({"known_failures": [
            {"case": "demo/area/a", "reason": "fails since the first run"},
            {"case": "demo/area/b", "reason": "known since long", "issue": "12"},
            {"case": "demo/other/c", "reason": "did not run"},
        ]})
    );
    options.baseline = made.clone();
    assert_eq!(run(&protocol, &stubborn(), &options).summary.exit_code, 0);

    let passed = run(&protocol, &honest(), &patient());
    let empty = Baseline::from_report(&passed, &made, "unused");
    assert_eq!(empty, Baseline::empty());
}
