//! The baseline: known failures, each with its reason. An entry whose case passes makes the run
//! fail, so the file never lists more than there are.

use std::collections::BTreeSet;

use accord_contract::wire::Pointer;
use accord_contract::{Date, Value, Wire, message};
use thiserror::Error;

use crate::corpus::Protocol;
use crate::report::{CaseReport, RunReport};
use crate::verdict::Verdict;

message! {
    /// The known failures of an implementation.
    pub struct Baseline("Baseline", closed) {
        /// One entry per case.
        required known_failures: Vec<KnownFailure> = "known_failures", "known-failures";
    }

    /// One known failure.
    pub struct KnownFailure("KnownFailure", closed) {
        /// The id of the case.
        required case: String = "case", "case-id";
        /// Why it fails and is not fixed yet.
        required reason: String = "reason", "text-for-people";
        /// Where the work on it is tracked.
        optional issue: String = "issue", "reference";
        /// The last day on which the failure is excused.
        optional expires: Date = "expires", "date:iso-8601";
    }

    /// A stale entry of the baseline.
    pub struct StaleEntry("StaleEntry", open) {
        /// The id of the case.
        required case: String = "case", "case-id";
        /// Why the entry is stale.
        required why: String = "why", "text-for-people";
    }
}

/// An invalid baseline.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{}{why}", place(pointer))]
#[non_exhaustive]
pub struct BaselineError {
    /// Where in the file, as a JSON pointer.
    pub pointer: String,
    /// What is wrong there.
    pub why: String,
}

impl Baseline {
    /// An empty baseline.
    pub fn empty() -> Self {
        Self { known_failures: Vec::new() }
    }

    /// Reads a baseline file.
    pub fn parse(text: &[u8]) -> Result<Self, BaselineError> {
        let value: Value = accord_canon::read(text).map_err(|error| BaselineError {
            pointer: error.pointer().to_owned(),
            why: format!("{} (byte {})", error.detail(), error.offset()),
        })?;
        let baseline = Self::from_document(value).map_err(|error| BaselineError {
            why: format!("expected {}, found {}", error.expected, error.found),
            pointer: error.pointer,
        })?;
        baseline.check_entries()?;
        Ok(baseline)
    }

    /// Checks that every entry is about a case of this protocol.
    pub fn check_against(&self, protocol: &Protocol) -> Result<(), BaselineError> {
        for (index, entry) in self.known_failures.iter().enumerate() {
            if let Err(error) = protocol.case(&entry.case) {
                return Err(fault(index, "case", error.to_string()));
            }
        }
        Ok(())
    }

    /// The entry for this case, expired or not.
    pub fn entry(&self, case: &str) -> Option<&KnownFailure> {
        self.known_failures.iter().find(|entry| entry.case == case)
    }

    /// The entries that a run has shown to be stale.
    pub fn stale(&self, cases: &[CaseReport]) -> Vec<StaleEntry> {
        let passes = |entry: &&KnownFailure| {
            let case = cases.iter().find(|case| case.id == entry.case);
            case.is_some_and(|case| case.verdict == Verdict::Pass)
        };
        let stale = |entry: &KnownFailure| StaleEntry {
            case: entry.case.clone(),
            why: "the case passes; remove its entry from the baseline".to_owned(),
            extra: accord_contract::wire::Object::new(),
        };
        self.known_failures.iter().filter(passes).map(stale).collect()
    }

    /// A baseline that excuses the failures of a report. An old entry goes only if its case passed.
    /// An expired one whose case still fails gets `reason` and no last day, and so do new ones.
    pub fn from_report(report: &RunReport, before: &Self, reason: &str) -> Self {
        let mut known: Vec<KnownFailure> = Vec::with_capacity(before.known_failures.len());
        for entry in &before.known_failures {
            let case = report.cases.iter().find(|case| case.id == entry.case);
            match case {
                Some(case) if case.verdict == Verdict::Pass => {}
                Some(case) if case.excused_until.is_some() => known.push(KnownFailure {
                    reason: reason.to_owned(),
                    expires: None,
                    ..entry.clone()
                }),
                _ => known.push(entry.clone()),
            }
        }
        // Only these: a failure that is not required needs no excuse.
        for case in report.cases.iter().filter(|case| case.fails_the_run()) {
            if known.iter().all(|entry| entry.case != case.id) {
                let (case, reason) = (case.id.clone(), reason.to_owned());
                known.push(KnownFailure { case, reason, issue: None, expires: None });
            }
        }
        known.sort_by(|one, other| one.case.cmp(&other.case));
        Self { known_failures: known }
    }

    fn check_entries(&self) -> Result<(), BaselineError> {
        let mut seen = BTreeSet::new();
        for (index, entry) in self.known_failures.iter().enumerate() {
            if entry.reason.trim().is_empty() {
                return Err(fault(index, "reason", "a known failure needs a reason".to_owned()));
            }
            if !seen.insert(&entry.case) {
                return Err(fault(index, "case", format!("{:?} is listed twice", entry.case)));
            }
        }
        Ok(())
    }
}

impl KnownFailure {
    /// Whether the failure is no longer excused.
    pub fn expired(&self, today: Date) -> bool {
        self.expires.is_some_and(|last| today > last)
    }
}

fn fault(index: usize, member: &str, why: String) -> BaselineError {
    let root = Pointer::Root;
    let list = root.member("known_failures");
    let entry = list.index(index);
    BaselineError { pointer: entry.member(member).to_string(), why }
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!("{pointer}: ") }
}
