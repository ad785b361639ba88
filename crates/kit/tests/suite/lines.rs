//! `stdio-fixture-lines-v1`: many cases in one process.

use std::num::NonZeroUsize;

use accord_kit::driver::LongLived;
use accord_kit::report::CaseReport;
use accord_kit::verdict::Verdict;
use accord_kit::{RunOptions, RunReport};
use serde_json::{Value, json};

use crate::support::{case, changed, demo, hasty, one_line, patient, run, shell, verdicts};

/// Shell functions that answer the case in `$line`, under its id.
const ANSWER: &str = r#"
answer() { id=${line#*\"id\":\"}; printf '{"id":"%s",%s}\n' "${id%%\"*}" "$1"; }
right() { answer '"status":"pass","actual":{"result":"ok"}'; }
"#;

/// Five cases in one worker, so that they share a process as long as it keeps the protocol.
fn five(script: &str, mut options: RunOptions) -> RunReport {
    let cases: Vec<Value> = ["a", "b", "c", "d", "e"]
        .iter()
        .map(|name| changed(case(&format!("area/{name}")), json!({"expected": {"result": "ok"}})))
        .collect();
    options.workers = NonZeroUsize::MIN;
    let script = format!("{ANSWER}{script}");
    run(&demo(&cases), &LongLived::new(shell(&script)), &options)
}

fn message(report: &CaseReport) -> &str {
    report.message.as_deref().unwrap_or_default()
}

#[test]
fn one_process_answers_all_cases_of_a_worker() {
    let report = five(
        r#"n=0; while read -r line; do n=$((n+1)); echo "case $n" >&2
           [ -d "$ACCORD_CASE_DIR" ] || exit 1
           if [ $n = 5 ]; then answer '"status":"fail"'; else right; fi; done"#,
        patient(),
    );
    let passed: Vec<&str> = verdicts(&report).iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(passed, ["pass", "pass", "pass", "pass", "fail"]);
    assert!(report.cases[4].stderr.as_deref().unwrap().ends_with("case 5"));
    assert_eq!(report.run.adapter.driver.as_str(), "stdio-fixture-lines-v1");
}

#[test]
fn an_adapter_that_dies_midway_is_started_again_for_the_next_case() {
    let report = five(
        r#"while read -r line; do
           case "$line" in *area/c*) echo oops >&2; exit 3;; esac; right; done"#,
        patient(),
    );
    let expected = ["pass", "pass", "error", "pass", "pass"];
    let found: Vec<&str> = verdicts(&report).iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(found, expected);
    let dead = &report.cases[2];
    assert_eq!(
        message(dead),
        "the adapter broke off: the process ended before it answered (exit code 3)"
    );
    assert_eq!(dead.stderr.as_deref(), Some("oops"));
    assert_eq!(dead.code.as_deref(), Some("KIT_ADAPTER_PROTOCOL"));
}

#[test]
fn a_hang_costs_one_case() {
    let report = five(
        r#"while read -r line; do case "$line" in *area/b*) sleep 600;; esac; right; done"#,
        hasty(),
    );
    let found: Vec<&str> = verdicts(&report).iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(found, ["pass", "error", "pass", "pass", "pass"]);
    assert_eq!(report.cases[1].code.as_deref(), Some("KIT_ADAPTER_TIMEOUT"));
}

#[test]
fn fail_fast_stops_the_lines_that_are_under_way() {
    let cases: Vec<Value> =
        ["fails", "hangs"].iter().map(|name| case(&format!("area/{name}"))).collect();
    let script = format!(
        r#"{ANSWER}while read -r line; do case "$line" in *area/hangs*) sleep 600;; esac
           sleep 0.3; answer '"status":"fail"'; done"#
    );
    let mut options = patient();
    options.workers = NonZeroUsize::new(2).unwrap();
    options.fail_fast = true;
    let report = run(&demo(&cases), &LongLived::new(shell(&script)), &options);
    assert_eq!(verdicts(&report), [("demo/area/fails", "fail"), ("demo/area/hangs", "skip")]);
    assert_eq!(report.summary.exit_code, 1);
}

#[test]
fn an_echoed_id_must_be_the_one_that_was_asked_for() {
    let right = one_line(
        r#"while read -r line; do
           echo '{"status":"pass","id":"demo/area/one","actual":{"result":"ok"}}'; done"#,
        &patient(),
    );
    assert_eq!(right.verdict, Verdict::Pass);
    let wrong = one_line(
        r#"while read -r line; do echo '{"status":"pass","id":"demo/area/two"}'; done"#,
        &patient(),
    );
    assert_eq!(wrong.verdict, Verdict::Error);
    assert_eq!(
        message(&wrong),
        "the adapter answered, but it answers the case \"demo/area/two\", but was asked for \
         \"demo/area/one\""
    );
}

#[test]
fn an_answer_without_an_id_is_an_error_since_it_could_be_anybodys() {
    let script =
        r#"while read -r line; do echo '{"status":"pass","actual":{"result":"ok"}}'; done"#;
    let report = one_line(script, &patient());
    assert_eq!(report.verdict, Verdict::Error);
    assert_eq!(report.code.as_deref(), Some("KIT_ADAPTER_PROTOCOL"));
    assert_eq!(
        message(&report),
        "the adapter answered, but its result has no `id`; a result line must repeat the id of its \
         case, \"demo/area/one\""
    );
}

#[test]
fn a_line_after_the_last_answer_makes_the_run_an_error() {
    let report = five("while read -r line; do right; done; echo and one more", patient());
    assert_eq!(report.summary.totals.pass, 5);
    assert_eq!(report.summary.exit_code, 2);
    let reason = "the adapter broke the protocol after its last case: the process wrote more than \
                  one line for a request: \"and one more\\n\"";
    assert_eq!(report.summary.reasons, [reason]);
    assert_eq!(report.summary.breaches.unwrap(), [reason]);
}

#[test]
fn garbage_silence_and_surplus_are_errors() {
    for (script, expected) in [
        ("while read -r line; do echo hello; done", "its output is not exactly one JSON document"),
        ("while read -r line; do echo; done", "it wrote no result"),
        (
            "read -r line; printf '{\"status\":\"pass\"}\\nmore\\n'; sleep 600",
            "wrote more than one line",
        ),
        ("read -r line; exec >&-; sleep 600", "closed its stdout before it answered"),
        (
            "read -r line; printf '{\"status\":'; printf '\"pass\"}'; exit 0",
            "ended before it answered",
        ),
    ] {
        let report = one_line(script, &patient());
        assert_eq!(report.verdict, Verdict::Error, "{script}");
        assert!(message(&report).contains(expected), "{script}: {}", message(&report));
    }
}

#[test]
fn an_adapter_that_never_reads_is_killed_at_the_limit() {
    let report = one_line("exec <&-; sleep 600", &hasty());
    assert_eq!(
        message(&report),
        "the adapter gave no answer within 3000 ms; its process group was killed"
    );
}
