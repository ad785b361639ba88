//! Runs the steps of a case that is judged over HTTP, and compares each answer with its
//! expectation. A [`Transport`] sends, and [`crate::verdict`] decides what the end means.
//!
//! Invariants:
//! - Steps run in order. The first that does not meet its expectation ends the exchange.
//! - Variables are filled in before an expectation is compared.
//! - A route counts as missing only if the answer says so by its status, has no code for something
//!   that was not found there, and the route has not answered in this run.

pub(crate) mod answer;
pub(crate) mod checks;
pub(crate) mod compose;
mod digests;
pub(crate) mod events;
mod expect;
pub(crate) mod generate;
mod lists;
mod places;
mod rounds;
pub(crate) mod variables;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use accord_contract::Value;
use accord_contract::text::excerpt;
use accord_process::Cancel;
use parking_lot::Mutex;
use serde_json::json;

use crate::case::{InsteadOfPass, Step};
use crate::corpus::{Method, Requests, Route};
use crate::report::Difference;
use answer::Answer;
use compose::Outgoing;
use expect::Fit;
use variables::{Unknown, Variables};

/// Sends requests to a server.
pub(crate) trait Transport: Sync {
    /// Sends one request and waits for the answer, no longer than the limit.
    fn send(&self, request: &Outgoing, limit: Duration) -> Result<Answer, ExchangeError>;
}

/// Why there is no answer to a request.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// No answer came in time.
    #[error("{0}")]
    TimedOut(String),
    /// The server could not be reached: nothing was sent.
    #[error("{0}")]
    Unreachable(String),
    /// The connection broke during a request. The next request may succeed.
    #[error("{0}")]
    BrokenOff(String),
    /// The answer is not HTTP, or too large.
    #[error("{0}")]
    Broken(String),
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
}

/// How an exchange went.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Exchanged {
    /// How it ended.
    pub end: End,
    /// The step that ended it, for people; empty when nothing was sent.
    pub step: String,
    /// The request and the answer that ended it.
    pub actual: Value,
    /// The level that the server claims, where the case asks for it.
    pub claim: Option<String>,
}

/// How an exchange ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum End {
    /// Every step met its expectation.
    Met,
    /// A step did not meet its expectation.
    Unmet {
        /// Where the answer differs from what was expected.
        differences: Vec<Difference>,
        /// Whether the step only prepares.
        prepares: bool,
    },
    /// The server does not have a route.
    Missing {
        /// The name of the route.
        route: String,
    },
    /// An answer shows that the case cannot be judged.
    Excused {
        /// The verdict instead.
        verdict: InsteadOfPass,
        /// The name of the route that answered.
        route: String,
        /// Why.
        why: String,
    },
    /// A request has no answer.
    Failed(ExchangeError),
    /// The kit failed.
    Harness(String),
}

pub(crate) struct Engine<'a> {
    pub(crate) routes: Requests<'a>,
    pub(crate) transport: &'a dyn Transport,
    /// The routes that have answered in this run.
    pub(crate) present: &'a BTreeSet<String>,
    pub(crate) request_limit: Duration,
    /// When the whole exchange must be over.
    pub(crate) deadline: Instant,
    /// Ends the exchange early.
    pub(crate) cancel: Option<&'a Cancel>,
    /// The targets of all writes that the server has executed.
    pub(crate) written: &'a Mutex<BTreeSet<String>>,
}

impl Engine<'_> {
    /// Runs steps; afterwards the variables include the values captured from the answers.
    pub(crate) fn run(&self, steps: &[Step], variables: &mut Variables) -> Exchanged {
        let mut last = Exchanged::nothing(End::Met);
        for (index, step) in steps.iter().enumerate() {
            let about = step.about.as_ref().map(|about| format!(" ({about})"));
            let about = about.unwrap_or_default();
            let label = format!("step {} of {}{about}", index + 1, steps.len());
            last = self.step(step, variables).unwrap_or_else(|Unknown(name)| {
                Exchanged::nothing(End::Harness(format!("the variable `{name}` has no value")))
            });
            let step = &last.step;
            last.step = if step.is_empty() { label } else { format!("{label}: {step}") };
            if !matches!(last.end, End::Met) {
                return last;
            }
        }
        last
    }

    fn step(&self, step: &Step, variables: &mut Variables) -> Result<Exchanged, Unknown> {
        let route = &self.routes.routes[&step.request.route];
        let rounds = rounds::rounds(step, self.routes, variables)?;
        let mut answers = Vec::with_capacity(rounds.len());
        let mut sent = rounds::send(self, step, &rounds);
        for (round, answer) in rounds.iter().zip(&mut sent) {
            let ended = match answer {
                Ok(answer) => {
                    let fit = expect::fit(step, &answer, route, &round.variables)?;
                    let end = self.end(step, &answer, fit);
                    let ended =
                        end.map(|end| Exchanged::ended(end, &round.outgoing, &answer, route));
                    answers.push(answer);
                    ended
                }
                Err(trouble) => Some(Exchanged {
                    step: round.outgoing.line(),
                    ..Exchanged::nothing(End::Failed(trouble))
                }),
            };
            if let Some(mut ended) = ended {
                if rounds.len() > 1 {
                    let which = format!("request {} of {}: ", round.number, rounds.len());
                    ended.step.insert_str(0, &which);
                }
                return Ok(ended);
            }
        }
        // A checked step sends at least one request, so this does not happen.
        let Some((round, answer)) = rounds.last().zip(answers.last()) else {
            return Ok(Exchanged::nothing(End::Met));
        };
        let mut differences = Vec::new();
        for tally in step.tally.iter().flatten() {
            differences.extend(expect::tally(tally, &answers, route, &round.variables)?);
        }
        if let (Some(name), Some(document)) = (&step.request.remember, &round.document) {
            variables.set(name, document.clone());
        }
        for (name, source) in step.capture.iter().flatten() {
            match captured(source, answer, route) {
                Some(value) => variables.set(name, value),
                None => {
                    differences.push(Difference::missing(source, json!("a value to go on with")));
                }
            }
        }
        let end = match differences.is_empty() {
            true => End::Met,
            false => End::Unmet { differences, prepares: step.prepares() },
        };
        Ok(Exchanged::ended(end, &round.outgoing, answer, route))
    }

    fn end(&self, step: &Step, answer: &Answer, fit: Fit<'_>) -> Option<End> {
        let route = &step.request.route;
        match fit {
            Fit::Met(expectation) => {
                let verdict = expectation?.verdict?;
                let why = expectation?.why.clone().unwrap_or_default();
                Some(End::Excused { verdict, route: route.clone(), why })
            }
            Fit::Unmet(_) if answer.lacks_route(self.routes) && !self.present.contains(route) => {
                Some(End::Missing { route: route.clone() })
            }
            Fit::Unmet(differences) => Some(End::Unmet { differences, prepares: step.prepares() }),
        }
    }

    /// Sends one request within the remaining time.
    pub(crate) fn send(&self, request: &Outgoing) -> Result<Answer, ExchangeError> {
        if self.cancel.is_some_and(Cancel::is_cancelled) {
            return Err(ExchangeError::Cancelled);
        }
        // The time that is left counts: a case has many requests.
        let limit = self.left().min(self.request_limit);
        if limit.is_zero() {
            let why = "the time limit of the case had passed before this request";
            return Err(ExchangeError::TimedOut(why.to_owned()));
        }
        let answer = self.transport.send(request, limit)?;
        // Recorded so that the end of the run retires only scopes that exist.
        if request.method != Method::Get && answer.is_success() {
            self.written.lock().insert(request.target.clone());
        }
        Ok(answer)
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

impl Exchanged {
    pub(crate) fn nothing(end: End) -> Self {
        Self { end, step: String::new(), actual: Value::Null, claim: None }
    }

    fn ended(end: End, request: &Outgoing, answer: &Answer, route: &Route) -> Self {
        let body = match answer.document(route) {
            Some(document) if answer.text.len() <= LONGEST_BODY => document,
            _ => excerpt(&answer.text, LONGEST_BODY).into(),
        };
        let sent = request.body.as_ref().map(|body| excerpt(&body.text, LONGEST_BODY));
        let (method, headers) = (request.method.as_str(), answer.header_document());
        let actual = json!({
            "request": {"method": method, "target": request.target, "body": sent},
            "answer": {"status": answer.status, "headers": headers, "body": body},
        });
        let step = format!("{} answered {}", request.line(), answer.status);
        Self { end, step, actual, claim: None }
    }
}

impl Outgoing {
    /// Method and target, for people.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.target)
    }
}

/// A part of an answer, if it exists.
fn captured(source: &str, answer: &Answer, route: &Route) -> Option<Value> {
    match source.strip_prefix('@') {
        None => answer.document(route)?.pointer(source).cloned(),
        Some("text") => Some(answer.text.as_str().into()),
        Some("status") => Some(answer.status.into()),
        Some(other) => {
            let name = other.strip_prefix("header:")?;
            answer.headers.get(name).map(|value| value.as_str().into())
        }
    }
}

const LONGEST_BODY: usize = 4_000;
