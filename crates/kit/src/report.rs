//! The report of a run: what was run, on what, and what came of each case.

use std::collections::BTreeMap;
use std::time::Duration;

use accord_contract::fixture::Mismatch;
use accord_contract::wire::{Field, Object, Value, message, wire_enum};

use crate::baseline::StaleEntry;
use crate::case::{Case, Strength};
use crate::date::Date;
use crate::driver::AdapterInfo;
use crate::exit::{self, Overall};
use crate::verdict::{Judgement, Verdict};

wire_enum! {
    /// The form of a report, so that a reader can tell a later one.
    pub enum ReportFormat("ReportFormat", closed) {
        /// The form that this version writes.
        V1 = "accord-report-v1",
    }
}

message! {
    /// The report of a conformance run.
    pub struct RunReport("RunReport", open) {
        /// The form of this document.
        required format: ReportFormat = "format", "document-format";
        /// What was run, and on what.
        required run: RunInfo = "run", "run-info";
        /// What came of it.
        required summary: RunSummary = "summary", "run-summary";
        /// Every case that was selected, in the order of the ids.
        required cases: Vec<CaseReport> = "cases", "case-reports";
    }
}

message! {
    /// What a run is about.
    pub struct RunInfo("RunInfo", open) {
        /// The protocol whose promises were checked.
        required protocol: String = "protocol", "protocol-name";
        /// The version of the protocol that the corpus was written for.
        required protocol_version: String = "protocol_version", "protocol-version";
        /// SHA-256 over the files of the corpus.
        required corpus_digest: String = "corpus_digest", "digest:sha-256";
        /// The version of the kit.
        required kit_version: String = "kit_version", "version";
        /// Who answered.
        required adapter: AdapterInfo = "adapter", "adapter-info";
        /// The filter that chose the cases.
        optional filter: String = "filter", "filter-expression";
        /// How many cases the run is about.
        required selected: u64 = "selected", "count";
        /// How many cases the filter left out.
        required filtered: u64 = "filtered", "count";
        /// How many cases may run at the same time.
        required workers: u64 = "workers", "count";
        /// The time limit of one case.
        required case_timeout_ms: u64 = "case_timeout_ms", "unit:millisecond";
        /// When the run started, in UTC.
        required started_at: String = "started_at", "time:rfc-3339";
    }
}

message! {
    /// What came of a run.
    pub struct RunSummary("RunSummary", open) {
        /// How the run ended.
        required overall: Overall = "overall", "run-verdict";
        /// The exit code that goes with it.
        required exit_code: u64 = "exit_code", "exit-code";
        /// Why the run did not pass.
        required reasons: Vec<String> = "reasons", "text-for-people";
        /// All cases, counted by verdict.
        required totals: Totals = "totals", "counts";
        /// The required cases alone.
        required required: Totals = "required", "counts";
        /// The cases of each level or tier.
        required levels: BTreeMap<String, Totals> = "levels", "counts";
        /// Entries of the baseline that no longer hold.
        required stale: Vec<StaleEntry> = "stale", "stale-entries";
        /// How long the run took.
        required duration_ms: u64 = "duration_ms", "unit:millisecond";
    }
}

message! {
    /// Cases counted by verdict.
    pub struct Totals("Totals", open) {
        /// Passed.
        required pass: u64 = "pass", "count";
        /// Failed, known failures included.
        required fail: u64 = "fail", "count";
        /// Could not be judged, on the adapter's side.
        required error: u64 = "error", "count";
        /// Not implemented.
        required not_implemented: u64 = "not_implemented", "count";
        /// Did not apply.
        required skip: u64 = "skip", "count";
        /// Could not be run, on the kit's side.
        required harness_error: u64 = "harness_error", "count";
        /// How many of the failures the baseline excuses.
        required known_failure: u64 = "known_failure", "count";
        /// How many verdicts are the adapter's own word.
        required self_reported: u64 = "self_reported", "count";
    }
}

message! {
    /// What came of one case.
    pub struct CaseReport("CaseReport", open) {
        /// The id of the case.
        required id: String = "id", "case-id";
        /// The level or tier of the case.
        required level: String = "level", "conformance-level";
        /// Whether the case decides the verdict of the run.
        required strength: Strength = "strength", "strength";
        /// The clauses that the case proves.
        required clauses: Vec<String> = "clauses", "clause-ids";
        /// What must hold.
        required title: String = "title", "text-for-people";
        /// The operation that was asked for.
        required operation: String = "operation", "operation-name";
        /// The verdict.
        required verdict: Verdict = "verdict", "case-verdict";
        /// How long the case took.
        required duration_ms: u64 = "duration_ms", "unit:millisecond";
        /// Whether the verdict is the adapter's own word.
        required self_reported: bool = "self_reported", "flag";
        /// Why, when the case did not pass.
        optional message: String = "message", "text-for-people";
        /// The failure code, where the adapter broke the protocol or the kit had trouble.
        optional code: String = "code", "failure-code";
        /// The baseline's reason, where the failure is a known one.
        optional known_failure: String = "known_failure", "text-for-people";
        /// The last day on which the baseline excused the failure, where that day has passed.
        optional excused_until: Date = "excused_until", "date:iso-8601";
        /// Where outcome and expectation differ.
        required differences: Vec<Difference> = "differences", "differences";
        /// What the implementation did, when the case did not pass.
        optional actual: Value = "actual", "fixture-outcome";
        /// The last lines that the adapter wrote to stderr, when the case did not pass.
        optional stderr: String = "stderr", "text-for-people";
    }
}

message! {
    /// One place where the outcome is not what was expected.
    pub struct Difference("Difference", open) {
        /// Where in the outcome, as a JSON pointer.
        required pointer: String = "pointer", "json-pointer";
        /// What was expected there.
        required expected: Value = "expected", "expectation";
        /// What was found there; absent when nothing was.
        nullable actual: Value = "actual", "fixture-outcome";
    }
}

impl CaseReport {
    pub(crate) fn new(case: &Case, judgement: Judgement, duration: Duration) -> Self {
        Self {
            id: case.id.clone(),
            level: case.level(),
            strength: case.strength,
            clauses: case.clauses.clone(),
            title: case.title.clone(),
            operation: case.input.operation.clone(),
            verdict: judgement.verdict,
            duration_ms: millis(duration),
            self_reported: judgement.self_reported,
            message: judgement.message,
            code: judgement.code.map(|code| code.as_str().to_owned()),
            known_failure: None,
            excused_until: None,
            differences: judgement
                .differences
                .into_iter()
                .map(Difference::from)
                .collect(),
            actual: judgement.actual.filter(|actual| !actual.is_null()),
            stderr: judgement.stderr,
            extra: Object::new(),
        }
    }
}

impl RunSummary {
    pub(crate) fn new(cases: &[CaseReport], stale: Vec<StaleEntry>, duration: Duration) -> Self {
        let (overall, reasons) = exit::decide(cases, &stale);
        let mut levels: BTreeMap<String, Totals> = BTreeMap::new();
        for case in cases {
            levels
                .entry(case.level.clone())
                .or_insert_with(Totals::zero)
                .count(case);
        }
        Self {
            overall,
            exit_code: overall.exit_code().into(),
            reasons,
            totals: Totals::of(cases.iter()),
            required: Totals::of(cases.iter().filter(|case| case.strength == Strength::Must)),
            levels,
            stale,
            duration_ms: millis(duration),
            extra: Object::new(),
        }
    }
}

impl Totals {
    fn zero() -> Self {
        Self {
            pass: 0,
            fail: 0,
            error: 0,
            not_implemented: 0,
            skip: 0,
            harness_error: 0,
            known_failure: 0,
            self_reported: 0,
            extra: Object::new(),
        }
    }

    fn of<'a>(cases: impl Iterator<Item = &'a CaseReport>) -> Self {
        let mut totals = Self::zero();
        cases.for_each(|case| totals.count(case));
        totals
    }

    fn count(&mut self, case: &CaseReport) {
        let counter = match case.verdict {
            Verdict::Pass => &mut self.pass,
            Verdict::Fail => &mut self.fail,
            Verdict::Error => &mut self.error,
            Verdict::NotImplemented => &mut self.not_implemented,
            Verdict::Skip => &mut self.skip,
            Verdict::HarnessError => &mut self.harness_error,
        };
        *counter += 1;
        self.known_failure += u64::from(case.known_failure.is_some());
        self.self_reported += u64::from(case.self_reported);
    }
}

impl From<Mismatch> for Difference {
    fn from(mismatch: Mismatch) -> Self {
        Self {
            pointer: mismatch.pointer,
            expected: mismatch.expected,
            actual: match mismatch.actual {
                None => Field::Absent,
                Some(Value::Null) => Field::Null,
                Some(actual) => Field::Value(actual),
            },
            extra: Object::new(),
        }
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
