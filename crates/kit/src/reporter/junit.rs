//! The report as JUnit XML. A `<failure>` or `<error>` is written only for a case that makes the
//! run fail, because build servers turn red on each; other failures are `<skipped>`. Other reasons
//! why a run fails are tests of their own, so that the file is red whenever the run is.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use accord_contract::{Code, Wire as _};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::event::{Event, Reporter, What};
use crate::exit;
use crate::levels::Conformance;
use crate::report::{CaseReport, Difference, RunReport};
use crate::verdict::Verdict;

/// Writes the report as JUnit XML when the run is over.
#[derive(Debug)]
pub struct JunitReporter<W>(W);

impl<W: Write> JunitReporter<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self(out)
    }
}

impl<W: Write> Reporter for JunitReporter<W> {
    fn report(&mut self, event: &Event<'_>) -> io::Result<()> {
        let What::RunFinished { report } = event.what else { return Ok(()) };
        document(report).serialize(&mut self.0).map_err(io::Error::other)?;
        self.0.flush()
    }
}

/// One suite per area; the ids are the names.
fn document(report: &RunReport) -> Report {
    let mut areas: BTreeMap<String, Vec<&CaseReport>> = BTreeMap::new();
    for case in &report.cases {
        // Protocol and area, which are the first two segments of an id.
        let area: Vec<&str> = case.id.splitn(3, '/').take(2).collect();
        areas.entry(area.join("/")).or_default().push(case);
    }
    let mut document = Report::new(format!("accord {}", report.run.protocol));
    document.set_time(Duration::from_millis(report.summary.duration_ms));
    for (area, cases) in areas {
        let mut suite = TestSuite::new(area.as_str());
        suite.add_test_cases(cases.iter().map(|case| test_case(&area, case)));
        suite.set_time(cases.iter().map(|case| Duration::from_millis(case.duration_ms)).sum());
        document.add_test_suite(suite);
    }
    let beside = beside_the_cases(report);
    if !beside.is_empty() {
        let mut suite = TestSuite::new(format!("{}/run", report.run.protocol));
        suite.add_test_cases(beside);
        document.add_test_suite(suite);
    }
    document
}

/// The reasons why a run fails that are not cases.
fn beside_the_cases(report: &RunReport) -> Vec<TestCase> {
    let class = format!("{}.run", report.run.protocol);
    let test = |name: &str, kind, code: &str, message: &str| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_message(xml(message)).set_type(code);
        let mut test = TestCase::new(xml(name), status);
        test.set_classname(class.as_str());
        test
    };
    let stale = report.summary.stale.iter().map(|entry| {
        let name = format!("stale baseline: {}", entry.case);
        test(&name, NonSuccessKind::Failure, Code::KitBaselineStale.as_str(), &entry.why)
    });
    let mut tests: Vec<TestCase> = stale.collect();
    let breaches = report.summary.breaches.iter().flatten();
    tests.extend(breaches.map(|breach| {
        let (name, code) = ("the end of the adapter", Code::KitAdapterProtocol.as_str());
        test(name, NonSuccessKind::Error, code, breach)
    }));
    if !exit::any_ran(&report.cases) {
        let why = "nothing was selected, or every case that was selected is skipped";
        let kind = NonSuccessKind::Error;
        tests.push(test("no case ran", kind, Code::KitNoCaseRan.as_str(), why));
    } else if let Some(judged) = report.summary.judged.as_ref().filter(|it| it.is_nothing()) {
        let (name, code) = ("no required case was judged", Code::KitNothingJudged.as_str());
        let why = judged.in_words();
        tests.push(test(name, NonSuccessKind::Error, code, &why));
    }
    let lacks = report.summary.conformance.as_ref().and_then(Conformance::lacks_the_lowest);
    if let Some(why) = lacks {
        tests.push(test("no level is reached", NonSuccessKind::Failure, "level", &why));
    }
    tests
}

fn test_case(area: &str, case: &CaseReport) -> TestCase {
    let mut test = TestCase::new(xml(&case.id), status(case));
    test.set_classname(area.replace('/', "."));
    test.set_time(Duration::from_millis(case.duration_ms));
    if let Some(stderr) = &case.stderr {
        test.set_system_err(xml(stderr));
    }
    test
}

fn status(case: &CaseReport) -> TestCaseStatus {
    let message = case.message.as_deref().unwrap_or_default();
    match case.verdict {
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::NotImplemented => skipped(format!("not implemented: {message}")),
        Verdict::Skip => skipped(message.to_owned()),
        Verdict::Error | Verdict::HarnessError => spoiled(NonSuccessKind::Error, case),
        Verdict::Fail if case.fails_the_run() => spoiled(NonSuccessKind::Failure, case),
        Verdict::Fail => skipped(match &case.known_failure {
            Some(reason) => format!("known failure ({reason}): {message}"),
            None => format!("not required ({}): {message}", case.strength),
        }),
    }
}

fn skipped(message: String) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(xml(&message));
    status
}

fn spoiled(kind: NonSuccessKind, case: &CaseReport) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status
        .set_message(xml(case.message.as_deref().unwrap_or_default()))
        .set_type(xml(case.code.as_deref().unwrap_or(case.verdict.as_str())))
        .set_description(xml(&body(case)));
    status
}

/// The title and clauses of the case, and every difference.
fn body(case: &CaseReport) -> String {
    let mut lines = vec![format!("{} ({})", case.title, case.clauses.join(", "))];
    lines.extend(case.differences.iter().map(difference));
    if let Some(more) = case.differences_left_out {
        lines.push(format!("and {more} more differences"));
    }
    if let Some(words) = &case.adapter_message {
        lines.push(format!("the adapter says: {words}"));
    }
    lines.join("\n")
}

fn difference(difference: &Difference) -> String {
    let place = match difference.pointer.as_str() {
        "" => "the whole outcome",
        pointer => pointer,
    };
    let cut = |bytes: Option<u64>| match bytes {
        Some(bytes) => format!(" (cut, {bytes} bytes)"),
        None => String::new(),
    };
    let found = match difference.encode().get("actual") {
        Some(found) => format!("{found}{}", cut(difference.actual_bytes)),
        None => "nothing".to_owned(),
    };
    let expected = format!("{}{}", difference.expected, cut(difference.expected_bytes));
    format!("{place}: expected {expected}, found {found}")
}

/// A text without the characters that XML 1.0 forbids (its production `Char`).
fn xml(text: &str) -> String {
    let replaced = |next: char| match next {
        '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..='\u{10ffff}' => next,
        _ => '\u{fffd}',
    };
    text.chars().map(replaced).collect()
}
