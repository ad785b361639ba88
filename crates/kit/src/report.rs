//! The report of a run: what was run, on what, and the result of each case.

use std::collections::BTreeMap;
use std::time::Duration;

use accord_contract::fixture::Mismatch;
use accord_contract::text::excerpt;
use accord_contract::{Date, Field, Object, Value, Wire as _, message, wire_enum};

use crate::baseline::StaleEntry;
use crate::case::{Case, Strength};
use crate::driver::{AdapterInfo, Closing};
use crate::exit::{self, Judged, Overall, RunVerdict};
use crate::levels::Conformance;
use crate::runner::RunOptions;
use crate::truncate;
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
        /// The result.
        required summary: RunSummary = "summary", "run-summary";
        /// Every case that was selected, in the order of the ids.
        required cases: Vec<CaseReport> = "cases", "case-reports";
        /// What the run made on a server and could not take away again.
        optional left_behind: Vec<LeftBehind> = "left_behind", "left-behind";
    }

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

    /// The result of a run.
    pub struct RunSummary("RunSummary", open) {
        /// How the run ended.
        required overall: Overall = "overall", "run-verdict";
        /// The exit code that goes with it.
        required exit_code: u64 = "exit_code", "exit-code";
        /// The same, with `not_judged` for a run that shows nothing.
        optional verdict: RunVerdict = "verdict", "run-verdict";
        /// How many required cases were judged.
        optional judged: Judged = "judged", "counts";
        /// Why the run did not pass.
        required reasons: Vec<String> = "reasons", "text-for-people";
        /// All cases, counted by verdict.
        required totals: Totals = "totals", "counts";
        /// The required cases alone.
        required required: Totals = "required", "counts";
        /// The cases of each level or tier.
        required levels: BTreeMap<String, Totals> = "levels", "counts";
        /// Which level is reached, in protocols whose levels build on each other.
        optional conformance: Conformance = "conformance", "conformance";
        /// Stale entries of the baseline.
        required stale: Vec<StaleEntry> = "stale", "stale-entries";
        /// How long the run took.
        required duration_ms: u64 = "duration_ms", "unit:millisecond";
        /// What the adapter did against the fixture protocol that no case can be charged with.
        optional breaches: Vec<String> = "breaches", "text-for-people";
        /// What the kit could not clean up; does not change the exit code.
        optional notes: Vec<String> = "notes", "text-for-people";
    }

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
        /// How many verdicts are self-reported by the adapter.
        required self_reported: u64 = "self_reported", "count";
    }

    /// The result of one case.
    pub struct CaseReport("CaseReport", open) {
        /// The id of the case.
        required id: String = "id", "case-id";
        /// The level or tier of the case.
        required level: String = "level", "conformance-level";
        /// Whether the case decides the verdict of the run.
        required strength: Strength = "strength", "strength";
        /// The clauses that the case proves.
        required clauses: Vec<String> = "clauses", "clause-ids";
        /// The property under test.
        required title: String = "title", "text-for-people";
        /// The operation that was asked for.
        required operation: String = "operation", "operation-name";
        /// The verdict.
        required verdict: Verdict = "verdict", "case-verdict";
        /// How long the case took.
        required duration_ms: u64 = "duration_ms", "unit:millisecond";
        /// Whether the verdict is self-reported by the adapter.
        required self_reported: bool = "self_reported", "flag";
        /// Why, when the case did not pass.
        optional message: String = "message", "text-for-people";
        /// What the adapter says about an outcome that is not what the case expects.
        optional adapter_message: String = "adapter_message", "text-for-people";
        /// The failure code, where the adapter broke the protocol or the kit had trouble.
        optional code: String = "code", "failure-code";
        /// The baseline's reason, where the failure is a known one.
        optional known_failure: String = "known_failure", "text-for-people";
        /// The last day on which the baseline excused the failure, where that day has passed.
        optional excused_until: Date = "excused_until", "date:iso-8601";
        /// The step that ended a case over HTTP: the request, and the status of the answer.
        optional step: String = "step", "text-for-people";
        /// The route that the server does not have, where that is why nothing could be judged.
        optional missing_route: String = "missing_route", "route-name";
        /// The level that the server claims, where the case asks for it.
        optional claim: String = "claim", "conformance-level";
        /// Where outcome and expectation differ: the first places.
        required differences: Vec<Difference> = "differences", "differences";
        /// How many further differences there are.
        optional differences_left_out: u64 = "differences_left_out", "count";
        /// What the implementation did, when the case did not pass.
        optional actual: Value = "actual", "fixture-outcome";
        /// The length of the outcome as JSON text, where `actual` is a string with the beginning of
        /// that text.
        optional actual_bytes: u64 = "actual_bytes", "unit:byte";
        /// The last lines that the adapter wrote to stderr, when the case did not pass.
        optional stderr: String = "stderr", "text-for-people";
    }

    /// Something that a run made on a server and that is still there.
    pub struct LeftBehind("LeftBehind", open) {
        /// What it is, as the protocol calls it.
        required kind: String = "kind", "scope-kind";
        /// Its id.
        required id: String = "id", "scope-id";
        /// Its state.
        required state: String = "state", "text-for-people";
    }

    /// One place where the outcome is not what was expected.
    pub struct Difference("Difference", open) {
        /// Where in the outcome, as a JSON pointer.
        required pointer: String = "pointer", "json-pointer";
        /// What was expected there.
        required expected: Value = "expected", "expectation";
        /// What was found there; absent when nothing was.
        nullable actual: Value = "actual", "fixture-outcome";
        /// The length of what was expected as JSON text, where `expected` is a string with the
        /// beginning of that text.
        optional expected_bytes: u64 = "expected_bytes", "unit:byte";
        /// The length of what was found as JSON text, where `actual` is a string with the beginning
        /// of that text.
        optional actual_bytes: u64 = "actual_bytes", "unit:byte";
    }
}

impl CaseReport {
    pub(crate) fn new(case: &Case, judgement: Judgement, duration: Duration) -> Self {
        let actual = judgement.actual.filter(|actual| !actual.is_null());
        let (actual, actual_bytes) = actual.map(truncate::value).unzip();
        let (differences, left_out) = first_differences(judgement.differences);
        Self {
            id: case.id.clone(),
            level: case.level(),
            strength: case.strength,
            clauses: case.clauses.clone(),
            title: case.title.clone(),
            operation: case.operation().to_owned(),
            verdict: judgement.verdict,
            duration_ms: millis(duration),
            self_reported: judgement.self_reported,
            message: judgement.message.map(truncate::text),
            adapter_message: judgement.said.map(truncate::text),
            code: judgement.code.map(|code| code.as_str().to_owned()),
            known_failure: None,
            excused_until: None,
            step: judgement.step.map(truncate::text),
            missing_route: judgement.missing_route,
            claim: judgement.claim,
            differences,
            differences_left_out: left_out,
            actual,
            actual_bytes: actual_bytes.flatten(),
            stderr: judgement.stderr,
            extra: Object::new(),
        }
    }
}

impl RunSummary {
    pub(crate) fn new(
        cases: &[CaseReport],
        options: &RunOptions,
        stale: Vec<StaleEntry>,
        conformance: Option<Conformance>,
        closing: Closing,
        duration: Duration,
    ) -> Self {
        let levels = options.levels.as_ref();
        let judged =
            Judged::count(cases, |case| levels.is_none_or(|levels| levels.contains(&case.level)));
        let (overall, verdict, reasons) =
            exit::decide(cases, &judged, &stale, &closing.breaches, conformance.as_ref());
        let mut levels: BTreeMap<String, Totals> = BTreeMap::new();
        for case in cases {
            levels.entry(case.level.clone()).or_insert_with(Totals::zero).count(case);
        }
        Self {
            overall,
            exit_code: overall.exit_code().into(),
            verdict: Some(verdict),
            judged: Some(judged),
            reasons,
            totals: Totals::of(cases.iter()),
            required: Totals::of(cases.iter().filter(|case| case.strength == Strength::Must)),
            levels,
            conformance,
            stale,
            duration_ms: millis(duration),
            breaches: Some(closing.breaches).filter(|breaches| !breaches.is_empty()),
            notes: Some(closing.notes).filter(|notes| !notes.is_empty()),
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

impl LeftBehind {
    pub(crate) fn new(kind: &str, id: String, state: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), id, state: state.into(), extra: Object::new() }
    }
}

impl Difference {
    pub(crate) fn new(pointer: &str, expected: Value, actual: impl Into<Value>) -> Self {
        Self::from_parts(pointer.to_owned(), expected, Some(actual.into()))
    }

    pub(crate) fn missing(pointer: &str, expected: Value) -> Self {
        Self::from_parts(pointer.to_owned(), expected, None)
    }

    /// The same difference, in a document that contains this one.
    pub(crate) fn within(mut self, pointer: &str) -> Self {
        self.pointer.insert_str(0, pointer);
        self
    }

    /// The difference as a sentence, with long values cut.
    pub(crate) fn in_words(&self) -> String {
        let place = if self.pointer.is_empty() { "the whole outcome" } else { &self.pointer };
        let shown = |value: &Value| excerpt(&value.to_string(), LONGEST_EXCERPT);
        let found = match &self.actual {
            Field::Absent => "nothing".to_owned(),
            Field::Null => "null".to_owned(),
            Field::Value(value) => shown(value),
        };
        format!("{place}: expected {}, found {found}", shown(&self.expected))
    }

    fn from_parts(pointer: String, expected: Value, actual: Option<Value>) -> Self {
        let (expected, expected_bytes) = truncate::value(expected);
        let (actual, actual_bytes) = actual.map(truncate::value).unzip();
        Self {
            pointer,
            expected,
            actual: match actual {
                None => Field::Absent,
                Some(Value::Null) => Field::Null,
                Some(actual) => Field::Value(actual),
            },
            expected_bytes,
            actual_bytes: actual_bytes.flatten(),
            extra: Object::new(),
        }
    }
}

impl From<Mismatch> for Difference {
    fn from(mismatch: Mismatch) -> Self {
        Self::from_parts(mismatch.pointer, mismatch.expected, mismatch.actual)
    }
}

/// The differences that a report keeps, at least the first, and the number of the others.
fn first_differences(mut differences: Vec<Difference>) -> (Vec<Difference>, Option<u64>) {
    let mut size = 0;
    let fits = |difference: &&Difference| {
        size += difference.encode().to_string().len();
        size <= DIFFERENCES_SIZE
    };
    // At least one, however long: without any, the reader could not see why the case failed.
    let kept = differences.iter().take(DIFFERENCES_KEPT).take_while(fits).count().max(1);
    let left_out = differences.len().saturating_sub(kept) as u64;
    differences.truncate(kept);
    (differences, Some(left_out).filter(|count| *count > 0))
}

/// The most differences of a case.
const DIFFERENCES_KEPT: usize = 50;
/// The limit of all of them together, in bytes of JSON text.
const DIFFERENCES_SIZE: usize = 64 * 1024;

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

const LONGEST_EXCERPT: usize = 300;
