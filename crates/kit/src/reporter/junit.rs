//! The report as JUnit XML, for the test views of build servers.
//!
//! A `<failure>` or `<error>` stands only where the case spoils the run, because build servers turn
//! red on each of them. Known failures and failures that are not required are `<skipped>`, with the
//! reason as its message.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::event::{Event, Reporter, What};
use crate::report::{CaseReport, RunReport};
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
        let What::RunFinished { report } = event.what else {
            return Ok(());
        };
        document(report)
            .serialize(&mut self.0)
            .map_err(io::Error::other)?;
        self.0.flush()
    }
}

/// One suite an area; the ids are the names.
fn document(report: &RunReport) -> Report {
    let mut areas: BTreeMap<String, Vec<&CaseReport>> = BTreeMap::new();
    for case in &report.cases {
        let area: Vec<&str> = case.id.splitn(3, '/').take(2).collect();
        areas.entry(area.join("/")).or_default().push(case);
    }
    let mut document = Report::new(format!("accord {}", report.run.protocol));
    document.set_time(Duration::from_millis(report.summary.duration_ms));
    for (area, cases) in areas {
        let mut suite = TestSuite::new(area.as_str());
        suite.add_test_cases(cases.iter().map(|case| test_case(&area, case)));
        suite.set_time(
            cases
                .iter()
                .map(|case| Duration::from_millis(case.duration_ms))
                .sum(),
        );
        document.add_test_suite(suite);
    }
    document
}

fn test_case(area: &str, case: &CaseReport) -> TestCase {
    let mut test = TestCase::new(case.id.as_str(), status(case));
    test.set_classname(area.replace('/', "."));
    test.set_time(Duration::from_millis(case.duration_ms));
    if let Some(stderr) = &case.stderr {
        test.set_system_err(stderr.as_str());
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
    status.set_message(message);
    status
}

fn spoiled(kind: NonSuccessKind, case: &CaseReport) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status
        .set_message(case.message.as_deref().unwrap_or_default())
        .set_type(case.code.as_deref().unwrap_or(case.verdict.as_str()))
        .set_description(format!("{} ({})", case.title, case.clauses.join(", ")));
    status
}
