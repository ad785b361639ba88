//! The exit codes of a conformance run, and what decides them.
//!
//! - 0: every required case (strength `must`) that ran passes, is a known failure, or is not
//!   implemented
//! - 1: a required case fails and is not a known failure, an entry of the baseline is stale, or a
//!   server does not reach the lowest level
//! - 2: a case ended in `error` or `harness_error`, the adapter broke the protocol after its last
//!   case, no case ran, no required case was judged, or the run itself failed
//!
//! 2 takes precedence over 1: if some cases could not be judged, the failures are not complete. A
//! case of any strength counts towards 2, and a baseline does not excuse it. Failures of `should`,
//! `may` and `proposal` cases are shown and do not change the exit code.

use accord_contract::{Code, Object, message, wire_enum};

use crate::baseline::StaleEntry;
use crate::case::Strength;
use crate::levels::Conformance;
use crate::report::CaseReport;
use crate::verdict::Verdict;

wire_enum! {
    /// How a run as a whole ended.
    pub enum Overall("Overall", closed) {
        /// Exit code 0.
        Pass = "pass",
        /// Exit code 1.
        Fail = "fail",
        /// Exit code 2.
        Error = "error",
    }
}

wire_enum! {
    /// What a run says about the implementation.
    pub enum RunVerdict("RunVerdict", closed) {
        /// Exit code 0.
        Pass = "pass",
        /// Exit code 1.
        Fail = "fail",
        /// Exit code 2.
        Error = "error",
        /// Exit code 2: no required case was judged.
        NotJudged = "not_judged",
    }
}

message! {
    /// How many of the required cases the run is about were judged.
    pub struct Judged("Judged", open) {
        /// The required cases that were selected.
        required required: u64 = "required", "count";
        /// Those that the kit judged: they pass or fail by a comparison.
        required judged: u64 = "judged", "count";
        /// Those that pass or fail by the adapter's own status alone.
        required self_reported: u64 = "self_reported", "count";
    }
}

impl Judged {
    /// Counts. `selects` says whether the level of a case was selected.
    pub(crate) fn count(cases: &[CaseReport], selects: impl Fn(&CaseReport) -> bool) -> Self {
        let required = || {
            let required = cases.iter().filter(|case| case.strength == Strength::Must);
            required.filter(|case| selects(case))
        };
        let has_verdict =
            |case: &&CaseReport| matches!(case.verdict, Verdict::Pass | Verdict::Fail);
        let self_reported = required().filter(has_verdict).filter(|case| case.self_reported);
        let self_reported = self_reported.count() as u64;
        Self {
            required: required().count() as u64,
            judged: required().filter(has_verdict).count() as u64 - self_reported,
            self_reported,
            extra: Object::new(),
        }
    }

    /// Whether the run shows nothing.
    pub fn is_nothing(&self) -> bool {
        self.judged == 0 && self.self_reported == 0
    }

    /// The counts as words.
    pub fn in_words(&self) -> String {
        let cases = if self.required == 1 { "case" } else { "cases" };
        let judged = format!("{} of {} required {cases} judged", self.judged, self.required);
        match self.self_reported {
            0 => judged,
            reported => format!("{judged}, {reported} self-reported"),
        }
    }
}

impl Overall {
    /// The exit code of the process that made the run.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Fail => 1,
            Self::Error => 2,
        }
    }
}

/// Decides how a run ended, and why it did not pass. `breaches` are those outside the cases.
pub fn decide(
    cases: &[CaseReport],
    judged: &Judged,
    stale: &[StaleEntry],
    breaches: &[String],
    conformance: Option<&Conformance>,
) -> (Overall, RunVerdict, Vec<String>) {
    let count = |wanted: fn(&CaseReport) -> bool| cases.iter().filter(|case| wanted(case)).count();
    let errors = count(|case| case.verdict == Verdict::Error);
    let not_run = count(|case| case.verdict == Verdict::HarnessError);
    let failures = count(CaseReport::fails_the_run);
    let failing = match failures {
        1 => "1 required case fails".to_owned(),
        many => format!("{many} required cases fail"),
    };
    let outdated = match stale.len() {
        1 => "1 entry of the baseline is".to_owned(),
        many => format!("{many} entries of the baseline are"),
    };
    let lacks = conformance.and_then(Conformance::lacks_the_lowest);
    let mut reasons = breaches.to_vec();
    let mut reason = |holds: bool, text: String| {
        if holds {
            reasons.push(text);
        }
        holds
    };
    let broken = [
        reason(errors > 0, format!("{} could not be judged", plural(errors, "case"))),
        reason(not_run > 0, format!("{} could not be run by the kit", plural(not_run, "case"))),
    ];
    let nothing = match any_ran(cases) {
        false => format!("no case ran ({})", Code::KitNoCaseRan),
        true => format!("no required case was judged ({})", Code::KitNothingJudged),
    };
    // The cases that could not be judged were named already.
    let is_nothing = judged.is_nothing() && broken == [false; 2] && breaches.is_empty();
    reason(is_nothing, nothing);
    let failed = [
        reason(failures > 0, failing),
        reason(!stale.is_empty(), format!("{outdated} out of date ({})", Code::KitBaselineStale)),
        reason(lacks.is_some(), format!("no level is reached: {}", lacks.unwrap_or_default())),
    ];
    // An error takes precedence, because the list of failures is then not complete.
    let is_broken = !breaches.is_empty() || broken.contains(&true);
    let (overall, verdict) = match failed.contains(&true) {
        _ if is_broken => (Overall::Error, RunVerdict::Error),
        _ if is_nothing => (Overall::Error, RunVerdict::NotJudged),
        true => (Overall::Fail, RunVerdict::Fail),
        false => (Overall::Pass, RunVerdict::Pass),
    };
    (overall, verdict, reasons)
}

/// Whether a case was run at all: a run of nothing proves nothing.
pub(crate) fn any_ran(cases: &[CaseReport]) -> bool {
    cases.iter().any(|case| case.verdict != Verdict::Skip)
}

impl CaseReport {
    /// Whether this case alone makes the run end with exit code 1.
    pub fn fails_the_run(&self) -> bool {
        self.verdict == Verdict::Fail
            && self.strength == Strength::Must
            && self.known_failure.is_none()
    }

    /// Whether this case keeps the run from ending with exit code 0.
    pub fn spoils_the_run(&self) -> bool {
        self.fails_the_run() || matches!(self.verdict, Verdict::Error | Verdict::HarnessError)
    }
}

pub(crate) fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}
