//! What decides the exit code, and what outranks what.

use std::time::Duration;

use accord_contract::fixture::{AdapterResult, Status};
use accord_kit::driver::{
    Adapter, AdapterInfo, CannotBegin, Driver, DriverKind, DriverOutcome, InProcess, NoAnswer,
};
use accord_kit::exit::Judged;
use accord_kit::report::RunSummary;
use accord_kit::verdict::StatusRules;
use accord_kit::{Baseline, Case, Protocol, RunReport};
use serde_json::{Value, json};

use crate::support::{case, changed, demo, patient, run};

/// Runs cases whose last segment says what the implementation does with them.
fn reported(cases: &[Value], baseline: Value) -> RunReport {
    let adapter = InProcess::new(|case: &Case| match case.id.rsplit('/').next() {
        Some("pass") => AdapterResult::judge(&case.expectation(), case.expectation()),
        Some("error") => AdapterResult::without_outcome(Status::Error, "cannot"),
        Some("missing") => AdapterResult::without_outcome(Status::NotImplemented, "later"),
        _ => AdapterResult::judge(&case.expectation(), json!({})),
    });
    let mut options = patient();
    options.baseline = Baseline::parse(baseline.to_string().as_bytes()).unwrap();
    run(&demo(cases), &adapter, &options)
}

fn exit_code(cases: &[Value]) -> u64 {
    reported(cases, json!({"known_failures": []})).summary.exit_code
}

fn verdict(summary: &RunSummary) -> &str {
    summary.verdict.as_ref().expect("a verdict").as_str()
}

fn judged(summary: &RunSummary) -> &Judged {
    summary.judged.as_ref().expect("numbers")
}

fn soft(id: &str) -> Value {
    changed(case(id), json!({"strength": "should", "clauses": ["DEMO-2"]}))
}

#[test]
fn required_cases_decide() {
    assert_eq!(exit_code(&[case("a/pass"), case("a/missing")]), 0);
    assert_eq!(exit_code(&[case("a/pass"), case("a/fail")]), 1);
    assert_eq!(exit_code(&[case("a/pass"), soft("a/fail")]), 0);
}

#[test]
fn an_error_outranks_failures_whatever_its_strength() {
    assert_eq!(exit_code(&[case("a/pass"), case("a/fail"), case("a/error")]), 2);
    assert_eq!(exit_code(&[case("a/pass"), soft("a/error")]), 2);
    let report = reported(&[case("a/fail"), case("a/error")], json!({"known_failures": []}));
    assert_eq!(report.summary.overall.as_str(), "error");
    assert_eq!(report.summary.reasons, ["1 case could not be judged", "1 required case fails"]);
}

#[test]
fn a_baseline_excuses_failures_and_not_errors() {
    let known = json!({"known_failures": [
        {"case": "demo/a/fail", "reason": "r"}, {"case": "demo/a/error", "reason": "r"},
    ]});
    assert_eq!(
        reported(&[case("a/fail"), case("a/error"), case("a/pass")], known.clone())
            .summary
            .exit_code,
        2
    );
    let not_listed = json!({"known_failures": [{"case": "demo/a/missing", "reason": "r"}]});
    assert_eq!(reported(&[case("a/pass"), case("a/missing")], not_listed).summary.exit_code, 0);
}

#[test]
fn a_run_that_judged_no_required_case_shows_nothing() {
    for cases in
        [vec![case("a/missing")], vec![case("a/missing"), soft("a/pass")], vec![soft("a/fail")]]
    {
        let summary = reported(&cases, json!({"known_failures": []})).summary;
        assert_eq!((summary.exit_code, summary.overall.as_str()), (2, "error"));
        assert_eq!(verdict(&summary), "not_judged");
        assert_eq!(judged(&summary).judged, 0);
        assert_eq!(summary.reasons, ["no required case was judged (KIT_NOTHING_JUDGED)"]);
    }
    let cases = [case("a/pass"), case("b/fail"), case("a/missing"), soft("b/pass")];
    let summary = reported(&cases, json!({"known_failures": []})).summary;
    assert_eq!((judged(&summary).judged, judged(&summary).required), (2, 3));
    assert_eq!((verdict(&summary), summary.exit_code), ("fail", 1));
}

#[test]
fn what_an_adapter_says_of_itself_counts_where_it_is_allowed() {
    let says =
        |status: Status| InProcess::new(move |_: &Case| AdapterResult::without_outcome(status, ""));
    let cases = demo(&[case("a/one"), case("a/two")]);
    let refused = run(&cases, &says(Status::Pass), &patient()).summary;
    assert_eq!((refused.exit_code, verdict(&refused)), (1, "fail"));
    assert_eq!((judged(&refused).judged, judged(&refused).self_reported), (0, 2));
    let mut options = patient();
    options.status_rules = StatusRules::SelfReportsAllowed;
    let allowed = run(&cases, &says(Status::Pass), &options).summary;
    assert_eq!((allowed.exit_code, verdict(&allowed)), (0, "pass"));
    assert_eq!((judged(&allowed).judged, judged(&allowed).self_reported), (0, 2));
    let failed = run(&cases, &says(Status::Fail), &options).summary;
    assert_eq!((failed.exit_code, failed.required.fail), (1, 2));
    let missing = run(&cases, &says(Status::NotImplemented), &options).summary;
    assert_eq!((missing.exit_code, verdict(&missing)), (2, "not_judged"));
}

#[test]
fn a_run_without_cases_is_an_error() {
    let report = reported(&[], json!({"known_failures": []}));
    assert_eq!(report.summary.exit_code, 2);
    assert_eq!(report.summary.reasons, ["no case ran (KIT_NO_CASE_RAN)"]);
}

#[test]
fn the_kits_own_trouble_is_kept_apart_and_is_no_failure() {
    let report = run(&demo(&[case("a/one")]), &NoRoom, &patient());
    assert_eq!(report.cases[0].verdict.as_str(), "harness_error");
    assert_eq!(report.cases[0].code.as_deref(), Some("KIT_HARNESS"));
    assert_eq!(report.summary.exit_code, 2);
    assert_eq!(report.summary.reasons, ["1 case could not be run by the kit"]);
}

/// A line to an adapter on a machine that is out of space.
struct NoRoom;

impl Adapter for NoRoom {
    fn begin(&self, _: &Protocol) -> Result<(), CannotBegin> {
        Ok(())
    }

    fn open(&self) -> Box<dyn Driver + '_> {
        Box::new(Self)
    }

    fn info(&self) -> AdapterInfo {
        AdapterInfo::new(DriverKind::InProcess, Vec::new())
    }
}

impl Driver for NoRoom {
    fn execute(&mut self, _: &Case, _: Duration) -> DriverOutcome {
        let reason = "no temporary folder could be created".to_owned();
        DriverOutcome::none(NoAnswer::Harness { reason })
    }
}
