//! Selection, parallel work, the order of events, early ends.

use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use accord_contract::fixture::{AdapterResult, Status};
use accord_kit::driver::{InProcess, PerCase};
use accord_kit::event::EventLine;
use accord_kit::runner::RunError;
use accord_kit::{Case, Event, Protocol, Reporter, What};
use serde_json::{Value, json};

use crate::support::{
    case, changed, demo, honest, honest_outcome, in_own_process, patient, run, shell, stubborn,
    verdicts,
};

fn many(count: usize) -> Protocol {
    let cases: Vec<Value> = (0..count).map(|n| case(&format!("area/c{n:03}"))).collect();
    demo(&cases)
}

#[test]
fn the_filter_leaves_cases_out_and_the_levels_skip_them() {
    let protocol = demo(&[
        case("a/one"),
        changed(case("a/two"), json!({"level": "registry"})),
        case("b/three"),
    ]);
    let mut options = patient();
    options.filter = Some("area(a)".parse().unwrap());
    options.levels = Some(BTreeSet::from(["core".to_owned()]));
    let report = run(&protocol, &honest(), &options);
    assert_eq!(verdicts(&report), [("demo/a/one", "pass"), ("demo/a/two", "skip")]);
    assert_eq!((report.run.selected, report.run.filtered), (2, 1));
    assert_eq!(report.run.filter.as_deref(), Some("area(a)"));
    assert_eq!(report.cases[1].message.as_deref(), Some("the level \"registry\" was not selected"));

    options.levels = Some(BTreeSet::from(["gold".to_owned()]));
    let error = accord_kit::run(&protocol, &honest(), &options, &mut crate::support::Silent);
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "no case has the level \"gold\"; choose one of core, registry");
}

#[test]
fn workers_run_at_the_same_time_and_the_report_is_in_order() {
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let adapter = InProcess::new(|case: &Case| {
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let given_up = Instant::now() + patient().case_timeout;
        while most.load(Ordering::SeqCst) < 4 && Instant::now() < given_up {
            std::thread::sleep(Duration::from_millis(1));
        }
        now.fetch_sub(1, Ordering::SeqCst);
        AdapterResult::judge(&case.expectation(), honest_outcome(case))
    });
    let mut options = patient();
    options.workers = NonZeroUsize::new(4).unwrap();
    let report = run(&many(12), &adapter, &options);
    assert_eq!(most.load(Ordering::SeqCst), 4);
    assert!(report.cases.is_sorted_by_key(|case| case.id.clone()));
    assert_eq!(report.summary.totals.pass, 12);
}

#[test]
fn one_stream_of_events_without_gaps() {
    let mut heard = Heard::default();
    let mut options = patient();
    options.workers = NonZeroUsize::new(4).unwrap();
    accord_kit::run(&many(20), &honest(), &options, &mut heard).unwrap();
    let numbers: Vec<u64> = heard.0.iter().map(|line| line.seq).collect();
    assert_eq!(numbers, (0..42).collect::<Vec<u64>>());
    let names: Vec<&str> = heard.0.iter().map(|line| line.event.as_str()).collect();
    assert_eq!((names[0], names[41]), ("run.started", "run.finished"));
    assert_eq!(names.iter().filter(|name| **name == "case.started").count(), 20);
}

#[test]
fn events_can_be_reported_in_the_order_of_the_ids() {
    let adapter = InProcess::new(|case: &Case| {
        // Later cases are quicker, so that they overtake.
        let number: u64 = case.id[case.id.len() - 3..].parse().unwrap();
        std::thread::sleep(Duration::from_millis(20 - number));
        AdapterResult::judge(&case.expectation(), honest_outcome(case))
    });
    let mut heard = Heard::default();
    let mut options = patient();
    options.workers = NonZeroUsize::new(8).unwrap();
    options.in_order = true;
    accord_kit::run(&many(16), &adapter, &options, &mut heard).unwrap();
    let reported: Vec<String> = heard.0.iter().filter_map(|line| line.case.clone()).collect();
    assert_eq!(reported.len(), 16);
    assert!(reported.is_sorted());
    let pairs = heard.0[1..33].chunks(2);
    for pair in pairs {
        assert_eq!(
            pair[0].case.as_deref(),
            pair[1].result.as_ref().map(|result| result.id.as_str())
        );
    }
}

#[test]
fn fail_fast_ends_the_run_and_says_what_was_not_run() {
    let mut options = patient();
    options.workers = NonZeroUsize::MIN;
    options.fail_fast = true;
    let report = run(&many(4), &stubborn(), &options);
    let found: Vec<&str> = verdicts(&report).iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(found, ["fail", "skip", "skip", "skip"]);
    assert_eq!(
        report.cases[3].message.as_deref(),
        Some("not run, because an earlier case ended the run")
    );
    assert_eq!(report.summary.exit_code, 1);
}

/// Cases whose ids say what an adapter in shell does with them.
fn fail_among(others: &str) -> (Protocol, PerCase) {
    let fails = changed(case("area/fails"), json!({"expected": {"result": "ok"}}));
    let under_way = (0..3)
        .map(|n| changed(case(&format!("area/other{n}")), json!({"expected": {"result": "ok"}})));
    let cases: Vec<Value> = under_way.chain([fails]).collect();
    let script = format!(
        r#"read -r line; case "$line" in
           *area/fails*) sleep 0.3; echo '{{"status":"fail","actual":{{"result":"no"}}}}'; exit 1;;
           *) {others};; esac"#
    );
    (demo(&cases), PerCase::new(shell(&script)))
}

#[test]
fn fail_fast_stops_the_cases_that_are_under_way() {
    let (protocol, adapter) = fail_among("sleep 600");
    let mut options = patient();
    options.workers = NonZeroUsize::new(4).unwrap();
    options.fail_fast = true;
    let report = run(&protocol, &adapter, &options);
    let found: Vec<&str> = verdicts(&report).iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(found, ["fail", "skip", "skip", "skip"]);
    assert_eq!(
        report.cases[1].message.as_deref(),
        Some("stopped, because another case ended the run")
    );
    assert_eq!(report.summary.exit_code, 1);
}

#[test]
fn trouble_after_the_end_of_the_run_does_not_outrank_the_failure() {
    /// Says when the first case has finished.
    struct First(std::sync::mpsc::Sender<()>);
    impl Reporter for First {
        fn report(&mut self, event: &Event<'_>) -> io::Result<()> {
            if EventLine::from(event).event.as_str() == "case.finished" {
                let _ = self.0.send(());
            }
            Ok(())
        }
    }
    let (sender, finished) = std::sync::mpsc::channel();
    let finished = std::sync::Mutex::new(finished);
    let both = std::sync::Barrier::new(2);
    let adapter = InProcess::new(|case: &Case| {
        both.wait();
        if case.id.ends_with("c000") {
            return AdapterResult::judge(&case.expectation(), json!({"result": "no"}));
        }
        let finished = finished.lock().unwrap();
        finished.recv_timeout(patient().case_timeout).expect("the end of the other case");
        AdapterResult::without_outcome(Status::Error, "torn down")
    });
    let mut options = patient();
    options.workers = NonZeroUsize::new(2).unwrap();
    options.fail_fast = true;
    let report = accord_kit::run(&many(2), &adapter, &options, &mut First(sender)).unwrap();
    assert_eq!(verdicts(&report), [("demo/area/c000", "fail"), ("demo/area/c001", "skip")]);
    assert_eq!(report.summary.exit_code, 1);
}

#[test]
fn a_program_that_must_end_at_once_leaves_no_adapter_and_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let before = format!("export TMPDIR={}", folder.path().display());
    let name = "runner::a_program_that_must_end_at_once_leaves_no_adapter_and_no_folder";
    if !in_own_process(name, &before) {
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        return;
    }
    let reported = folder.path().join("reported");
    let script = format!("echo \"$ACCORD_CASE_DIR\" > {}; sleep 600", reported.display());
    let case_folder = std::thread::scope(|scope| {
        scope.spawn(|| run(&many(1), &PerCase::new(shell(&script)), &patient()));
        let given_up = Instant::now() + patient().case_timeout;
        let case_folder = loop {
            let text = std::fs::read_to_string(&reported).unwrap_or_default();
            if let Some(path) = text.strip_suffix('\n') {
                break path.to_owned();
            }
            assert!(Instant::now() < given_up, "the adapter did not start");
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!(std::path::Path::new(&case_folder).is_dir());
        accord_kit::abandon();
        assert!(!std::path::Path::new(&case_folder).exists());
        case_folder
    });
    // The run that was going on ends as well, and has nothing left to remove.
    assert!(!std::path::Path::new(&case_folder).exists());
    let report = run(&many(1), &PerCase::new(shell("exit 0")), &patient());
    assert_eq!(report.cases[0].verdict.as_str(), "harness_error");
}

#[test]
fn workers_are_no_more_than_the_open_files_allow() {
    let name = "runner::workers_are_no_more_than_the_open_files_allow";
    if !in_own_process(name, "ulimit -n 64") {
        return;
    }
    let cases: Vec<Value> = (0..40)
        .map(|n| changed(case(&format!("area/c{n:03}")), json!({"expected": {"result": "ok"}})))
        .collect();
    let script = r#"sleep 0.05; echo '{"status":"pass","actual":{"result":"ok"}}'"#;
    let mut options = patient();
    options.workers = NonZeroUsize::new(64).unwrap();
    let report = run(&demo(&cases), &PerCase::new(shell(script)), &options);
    assert_eq!(report.summary.totals.pass, 40, "{:?}", report.summary);
    assert_eq!(report.run.workers, 4);
}

#[test]
fn fail_fast_does_not_mind_a_failure_that_decides_nothing() {
    let soft = changed(
        case("area/a"),
        json!({"strength": "should", "clauses": ["DEMO-2"], "expected": {"text": "no"}}),
    );
    let mut options = patient();
    options.workers = NonZeroUsize::MIN;
    options.fail_fast = true;
    let report = run(&demo(&[soft, case("area/b")]), &honest(), &options);
    assert_eq!(verdicts(&report), [("demo/area/a", "fail"), ("demo/area/b", "pass")]);
    assert_eq!(report.summary.exit_code, 0);
}

#[test]
fn a_panic_in_an_implementation_is_its_error_and_costs_one_case() {
    let adapter = InProcess::new(|case: &Case| {
        assert!(!case.id.ends_with("c001"), "boom");
        AdapterResult::without_outcome(Status::NotImplemented, "later")
    });
    let report = run(&many(3), &adapter, &patient());
    let found: Vec<&str> = verdicts(&report).iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(found, ["not_implemented", "error", "not_implemented"]);
    assert_eq!(report.cases[1].message.as_deref(), Some("the implementation panicked: boom"));
}

#[test]
fn an_implementation_that_takes_too_long_is_reported() {
    let adapter = InProcess::new(|case: &Case| {
        std::thread::sleep(Duration::from_millis(50));
        AdapterResult::judge(&case.expectation(), honest_outcome(case))
    });
    let mut options = patient();
    options.case_timeout = Duration::from_millis(20);
    let report = run(&many(1), &adapter, &options);
    assert_eq!(report.cases[0].code.as_deref(), Some("KIT_ADAPTER_TIMEOUT"));
}

#[test]
fn a_reporter_that_cannot_write_ends_the_run() {
    let mut broken = Broken(3);
    let error = accord_kit::run(&many(50), &honest(), &patient(), &mut broken).unwrap_err();
    assert!(matches!(error, RunError::Output(_)), "{error}");
    assert_eq!(broken.0, 0, "nothing more is reported after the failure");
}

#[derive(Default)]
struct Heard(Vec<EventLine>);

impl Reporter for Heard {
    fn report(&mut self, event: &Event<'_>) -> io::Result<()> {
        if let What::RunStarted { protocol, .. } = event.what {
            assert_eq!(protocol.name(), "demo");
        }
        self.0.push(EventLine::from(event));
        Ok(())
    }
}

/// Breaks after some events.
struct Broken(usize);

impl Reporter for Broken {
    fn report(&mut self, _: &Event<'_>) -> io::Result<()> {
        match self.0 {
            0 => panic!("reported again"),
            1 => {
                self.0 = 0;
                Err(io::ErrorKind::BrokenPipe.into())
            }
            _ => {
                self.0 -= 1;
                Ok(())
            }
        }
    }
}
