//! Judges the answer to a case: the kit compares the outcome with the expectation itself. The
//! adapter's own status counts only without an outcome, and is then marked as self-reported.

use accord_contract::fixture::{CaseAnswer, Status};
use accord_contract::{Code, Value, wire_enum};

use crate::case::{Case, InsteadOfPass};
use crate::driver::{Breach, DriverOutcome, NoAnswer, Reply};
use crate::exchange::{End, ExchangeError, Exchanged};
use crate::report::Difference;

wire_enum! {
    /// What the kit says about a case.
    pub enum Verdict("Verdict", closed) {
        /// The implementation does what the case demands.
        Pass = "pass",
        /// The implementation does something else.
        Fail = "fail",
        /// No judgement: the adapter reports an error, contradicts the kit, or broke the fixture
        /// protocol.
        Error = "error",
        /// The implementation does not have what the case asks for, and says so.
        NotImplemented = "not_implemented",
        /// The case does not apply to this run.
        Skip = "skip",
        /// No judgement, and it is not the adapter's fault: the kit could not run the case.
        HarnessError = "harness_error",
    }
}

/// What an adapter's own status is worth.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum StatusRules {
    /// The comparison decides. A pass without an outcome to compare is a failure.
    #[default]
    Compared,
    /// The same, except that a pass without an outcome is a pass.
    SelfReportsAllowed,
    /// The rules of published fixtures: an answer has a status, a pass without an outcome is a
    /// pass, and a status that contradicts the comparison is an error.
    Published,
}

/// A verdict and its reasons.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, for people; present unless the verdict is a pass.
    pub message: Option<String>,
    /// The adapter's own message, if its outcome is not what the case expects.
    pub said: Option<String>,
    /// The failure code, if the adapter broke the protocol or the kit failed.
    pub code: Option<Code>,
    /// Whether the verdict is the adapter's own status, because it returned no outcome.
    pub self_reported: bool,
    /// Where outcome and expectation differ.
    pub differences: Vec<Difference>,
    /// The outcome.
    pub actual: Option<Value>,
    /// The last lines that the adapter wrote to stderr.
    pub stderr: Option<String>,
    /// The step that ended a case over HTTP.
    pub step: Option<String>,
    /// The route that the server does not have, if the case could not be judged because of it.
    pub missing_route: Option<String>,
    /// The level that the server claims, if the case captures it.
    pub claim: Option<String>,
}

impl Judgement {
    fn new(verdict: Verdict) -> Self {
        Self {
            verdict,
            message: None,
            said: None,
            code: None,
            self_reported: false,
            differences: Vec::new(),
            actual: None,
            stderr: None,
            step: None,
            missing_route: None,
            claim: None,
        }
    }

    pub(crate) fn with_message(verdict: Verdict, message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..Self::new(verdict) }
    }

    fn with_code(verdict: Verdict, code: Code, message: String) -> Self {
        Self { code: Some(code), ..Self::with_message(verdict, message) }
    }

    fn of_kit(message: String) -> Self {
        Self::with_code(Verdict::HarnessError, Code::KitHarness, message)
    }

    /// Makes the judgement of a claim a failure, because the run has disproved the claim.
    pub(crate) fn disprove(&mut self, why: String) {
        self.verdict = Verdict::Fail;
        self.message = Some(why);
    }
}

/// Judges the answer to a case.
pub fn judge(case: &Case, outcome: DriverOutcome, rules: StatusRules) -> Judgement {
    let mut judgement = match outcome.answer {
        Ok(Reply::Result(result)) => judge_result(case, result, rules),
        Ok(Reply::Exchanged(exchanged)) => judge_exchange(exchanged),
        Err(NoAnswer::Broken { breach: Breach::TimedOut, reason }) => {
            Judgement::with_code(Verdict::Error, Code::KitAdapterTimeout, reason)
        }
        Err(NoAnswer::Broken { breach: Breach::Protocol, reason }) => {
            Judgement::with_code(Verdict::Error, Code::KitAdapterProtocol, reason)
        }
        Err(NoAnswer::Harness { reason }) => Judgement::of_kit(reason),
        Err(NoAnswer::Cancelled) => Judgement::with_message(Verdict::Skip, STOPPED),
        Err(NoAnswer::CannotStart(error)) => Judgement::of_kit(error.to_string()),
    };
    if !matches!(judgement.verdict, Verdict::Pass | Verdict::Skip) {
        judgement.stderr = Some(outcome.stderr).filter(|text| !text.is_empty());
    }
    judgement
}

fn judge_result(case: &Case, result: CaseAnswer, rules: StatusRules) -> Judgement {
    let said = result.message.value().map(String::as_str).unwrap_or_default();
    let actual = result.actual.value().cloned();
    match (result.status, actual) {
        (Some(Status::NotImplemented), actual) => Judgement {
            actual,
            ..Judgement::with_message(Verdict::NotImplemented, or(said, "not implemented"))
        },
        (Some(Status::Error), actual) => {
            let said = or(said, "it gives no reason");
            let message = format!("the adapter reports an error: {said}");
            Judgement { actual, ..Judgement::with_message(Verdict::Error, message) }
        }
        (None, None) => without_status(),
        (None, Some(_)) if rules == StatusRules::Published => without_status(),
        // Compared even if the adapter reports a pass: its own judgement may be wrong.
        (status, Some(actual)) => compare(case, status, actual, said, rules),
        (Some(Status::Pass), None) if rules == StatusRules::Compared => Judgement {
            self_reported: true,
            said: Some(said.to_owned()).filter(|said| !said.trim().is_empty()),
            ..Judgement::with_message(Verdict::Fail, ONLY_SAID)
        },
        (Some(Status::Pass), None) => {
            Judgement { self_reported: true, ..Judgement::new(Verdict::Pass) }
        }
        (Some(Status::Fail), None) => {
            let message = or(said, "the adapter reports a failure and no outcome");
            Judgement { self_reported: true, ..Judgement::with_message(Verdict::Fail, message) }
        }
    }
}

fn without_status() -> Judgement {
    let message = "the adapter answered without a status".to_owned();
    Judgement::with_code(Verdict::Error, Code::KitAdapterProtocol, message)
}

fn compare(
    case: &Case,
    status: Option<Status>,
    actual: Value,
    words: &str,
    rules: StatusRules,
) -> Judgement {
    let mismatches = case.vocabulary().differences(&case.expectation(), &actual);
    let first = mismatches.first().map(ToString::to_string);
    let differences: Vec<_> = mismatches.into_iter().map(Difference::from).collect();
    // An adapter that compares by the same rules has the same result.
    let is_news = !words.trim().is_empty() && first.as_deref() != Some(words);
    let said = is_news.then(|| words.to_owned());
    let found = if first.is_none() { Status::Pass } else { Status::Fail };
    let other = status.filter(|status| *status != found);
    if let Some(own) = other.filter(|_| rules == StatusRules::Published) {
        // Adapter and kit disagree. One of them has a bug, so neither can be trusted.
        let (not, detail) = first.map_or(("", String::new()), |at| ("not ", format!(": {at}")));
        let outcome = format!("its outcome is {not}what the case expects{detail}");
        let message = format!("the adapter says `{own}`, but {outcome}");
        let actual = Some(actual);
        let error = Judgement::with_message(Verdict::Error, message);
        return Judgement { said, differences, actual, ..error };
    }
    // What it says against the comparison is shown, and decides nothing.
    let said = match (other, said) {
        (Some(own), Some(words)) => Some(format!("`{own}`: {words}")),
        (Some(own), None) => Some(format!("`{own}`")),
        (None, said) => said.filter(|_| found == Status::Fail),
    };
    match first {
        None => Judgement { said, ..Judgement::new(Verdict::Pass) },
        Some(first) => {
            let actual = Some(actual);
            let failure = Judgement::with_message(Verdict::Fail, first);
            Judgement { said, differences, actual, ..failure }
        }
    }
}

fn judge_exchange(exchanged: Exchanged) -> Judgement {
    let judgement = match exchanged.end {
        End::Met => Judgement::new(Verdict::Pass),
        End::Unmet { differences, prepares } => {
            let first = differences.first().map(Difference::in_words).unwrap_or_default();
            let setup = if prepares { "the setup of the case failed: " } else { "" };
            let message = format!("{setup}{first}");
            Judgement { differences, ..Judgement::with_message(Verdict::Fail, message) }
        }
        End::Missing { route } => {
            let message = format!("the server has no route for `{route}`");
            let missing_route = Some(route);
            Judgement { missing_route, ..Judgement::with_message(Verdict::NotImplemented, message) }
        }
        End::Excused { verdict: InsteadOfPass::Skip, why, .. } => {
            Judgement::with_message(Verdict::Skip, why)
        }
        End::Excused { verdict: InsteadOfPass::NotImplemented, route, why } => Judgement {
            missing_route: Some(route),
            ..Judgement::with_message(Verdict::NotImplemented, why)
        },
        End::Failed(trouble) => {
            let code = match trouble {
                ExchangeError::TimedOut(_) => Code::KitServerTimeout,
                ExchangeError::Unreachable(_) | ExchangeError::BrokenOff(_) => {
                    Code::KitServerUnreachable
                }
                ExchangeError::Broken(_) => Code::KitServerProtocol,
                ExchangeError::Cancelled => return Judgement::with_message(Verdict::Skip, STOPPED),
            };
            Judgement::with_code(Verdict::Error, code, trouble.to_string())
        }
        End::Harness(why) => Judgement::of_kit(why),
    };
    let passes = judgement.verdict == Verdict::Pass;
    Judgement {
        step: Some(exchanged.step).filter(|step| !passes && !step.is_empty()),
        actual: Some(exchanged.actual).filter(|_| !passes),
        claim: exchanged.claim,
        ..judgement
    }
}

/// Why a case fails whose adapter only says that it passes.
const ONLY_SAID: &str = "self-reported: the adapter says `pass` and gives no `actual` to compare \
     (--allow-self-reported accepts that)";

/// Why a case that had started has no verdict.
pub(crate) const STOPPED: &str = "stopped, because another case ended the run";

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.trim().is_empty() { otherwise } else { text }
}
