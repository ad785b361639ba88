//! From what a driver brought back to what the kit says about a case.
//!
//! The kit compares the outcome with the expectation itself. What the adapter says of itself counts
//! only where it hands over no outcome, and is then marked as such.

use accord_contract::codes::Code;
use accord_contract::fixture::{AdapterResult, Mismatch, Status, differences};
use accord_contract::wire::{Value, wire_enum};

use crate::case::Case;
use crate::driver::{Breach, DriverOutcome, NoAnswer};

wire_enum! {
    /// What the kit says about a case.
    pub enum Verdict("Verdict", closed) {
        /// The implementation does what the case demands.
        Pass = "pass",
        /// The implementation does something else.
        Fail = "fail",
        /// No judgement: the adapter reports an error, contradicts the kit, or broke the fixture protocol.
        Error = "error",
        /// The implementation does not have what the case asks for, and says so.
        NotImplemented = "not_implemented",
        /// The case does not apply to this run.
        Skip = "skip",
        /// No judgement, and it is not the adapter's fault: the kit could not run the case.
        HarnessError = "harness_error",
    }
}

/// A verdict and its reasons.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, for people; always there when the verdict is not a pass.
    pub message: Option<String>,
    /// The failure code, where the adapter broke the protocol or the kit had trouble.
    pub code: Option<Code>,
    /// Whether the verdict is the adapter's own word, because it handed over no outcome.
    pub self_reported: bool,
    /// Where outcome and expectation differ.
    pub differences: Vec<Mismatch>,
    /// What the implementation did, as far as it was told.
    pub actual: Option<Value>,
    /// The last lines that the adapter wrote to stderr.
    pub stderr: Option<String>,
}

impl Judgement {
    fn new(verdict: Verdict) -> Self {
        Self {
            verdict,
            message: None,
            code: None,
            self_reported: false,
            differences: Vec::new(),
            actual: None,
            stderr: None,
        }
    }

    /// A verdict that rests on nothing but a sentence.
    pub(crate) fn told(verdict: Verdict, message: impl Into<String>) -> Self {
        Self {
            message: Some(message.into()),
            ..Self::new(verdict)
        }
    }
}

/// Judges what a driver brought back for a case.
pub fn judge(case: &Case, outcome: DriverOutcome) -> Judgement {
    let mut judgement = match outcome.answer {
        Ok(result) => judge_result(case, result),
        Err(NoAnswer::Broken { breach, reason }) => Judgement {
            code: Some(match breach {
                Breach::TimedOut => Code::KitAdapterTimeout,
                Breach::Protocol => Code::KitAdapterProtocol,
            }),
            ..Judgement::told(Verdict::Error, reason)
        },
        Err(NoAnswer::Harness { reason }) => Judgement {
            code: Some(Code::KitHarness),
            ..Judgement::told(Verdict::HarnessError, reason)
        },
        Err(NoAnswer::CannotStart(error)) => Judgement {
            code: Some(Code::KitHarness),
            ..Judgement::told(Verdict::HarnessError, error.to_string())
        },
    };
    if judgement.verdict != Verdict::Pass {
        judgement.stderr = Some(outcome.stderr).filter(|text| !text.is_empty());
    }
    judgement
}

fn judge_result(case: &Case, result: AdapterResult) -> Judgement {
    let said = result
        .message
        .value()
        .map(String::as_str)
        .unwrap_or_default();
    let actual = result.actual.value().cloned();
    match (result.status, actual) {
        (Status::NotImplemented, actual) => Judgement {
            actual,
            ..Judgement::told(Verdict::NotImplemented, or(said, "not implemented"))
        },
        (Status::Error, actual) => {
            let said = or(said, "it gives no reason");
            Judgement {
                actual,
                ..Judgement::told(
                    Verdict::Error,
                    format!("the adapter reports an error: {said}"),
                )
            }
        }
        (status, Some(actual)) => compare(case, status, actual),
        (Status::Pass, None) => Judgement {
            self_reported: true,
            ..Judgement::new(Verdict::Pass)
        },
        (Status::Fail, None) => Judgement {
            self_reported: true,
            ..Judgement::told(
                Verdict::Fail,
                or(said, "the adapter reports a failure and no outcome"),
            )
        },
    }
}

fn compare(case: &Case, status: Status, actual: Value) -> Judgement {
    let differences = differences(&case.expectation(), &actual);
    let first = differences.first().map(ToString::to_string);
    match (status, first) {
        (Status::Pass, None) => Judgement::new(Verdict::Pass),
        (Status::Fail, Some(first)) => Judgement {
            differences,
            actual: Some(actual),
            ..Judgement::told(Verdict::Fail, first)
        },
        (said, None) => Judgement {
            actual: Some(actual),
            ..Judgement::told(
                Verdict::Error,
                format!("the adapter says `{said}`, but its outcome is what the case expects"),
            )
        },
        (said, Some(first)) => Judgement {
            differences,
            actual: Some(actual),
            ..Judgement::told(
                Verdict::Error,
                format!(
                    "the adapter says `{said}`, but its outcome is not what the case expects: {first}"
                ),
            )
        },
    }
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.trim().is_empty() {
        otherwise
    } else {
        text
    }
}
