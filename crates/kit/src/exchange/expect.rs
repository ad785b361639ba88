//! Compares an answer with the expectations of a step.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::fixture::differences;
use accord_contract::{Value, Wire as _};
use serde_json::json;

use super::answer::{Answer, names};
use super::checks::{self, Unmet};
use super::variables::{Unknown, Variables};
use crate::case::{Expectation, Step, Tally};
use crate::corpus::Route;
use crate::report::Difference;

/// The result of comparing an answer with a step.
#[derive(Debug)]
pub(super) enum Fit<'a> {
    /// One of the expectations is met; `None` for a preparing step without expectations.
    Met(Option<&'a Expectation>),
    /// None is met; the differences are those to the closest one.
    Unmet(Vec<Difference>),
}

/// Compares an answer with a step's expectations.
pub(super) fn fit<'a>(
    step: &'a Step,
    answer: &Answer,
    route: &Route,
    variables: &Variables,
) -> Result<Fit<'a>, Unknown> {
    let Some(expectations) = &step.expect else {
        return Ok(match answer.is_success() {
            true => Fit::Met(None),
            false => Fit::Unmet(vec![Difference::new("/status", json!(SUCCESS), answer.status)]),
        });
    };
    let mut nearest = None;
    for expected in expectations {
        if !has_status(&expected.status, answer) {
            continue;
        }
        let found = unmet(expected, answer, route, variables)?;
        if found.is_empty() {
            return Ok(Fit::Met(Some(expected)));
        }
        // An expectation with the right status is the closest; of several, the first.
        nearest.get_or_insert(found);
    }
    Ok(Fit::Unmet(nearest.unwrap_or_else(|| {
        let statuses = expectations.iter().flat_map(|expected| &expected.status);
        let statuses: BTreeSet<&u64> = statuses.collect();
        let expected = match statuses.first() {
            Some(only) if statuses.len() == 1 => json!(only),
            _ => json!({"one_of": statuses}),
        };
        vec![Difference::new("/status", expected, answer.status)]
    })))
}

/// Compares how many answers are of a kind with the required number.
pub(super) fn tally(
    tally: &Tally,
    answers: &[Answer],
    route: &Route,
    variables: &Variables,
) -> Result<Option<Difference>, Unknown> {
    let body = tally.body.as_ref().map(|body| variables.value(body)).transpose()?;
    let counts = |answer: &&Answer| {
        let fits = |body: &Value| {
            let document = answer.document(route);
            document.is_some_and(|found| differences(body, &found).is_empty())
        };
        has_status(&tally.status, answer) && body.as_ref().is_none_or(fits)
    };
    let count = answers.iter().filter(counts).count() as u64;
    let enough = tally.least.is_none_or(|least| count >= least);
    let few = tally.most.is_none_or(|most| count <= most);
    if enough && few {
        return Ok(None);
    }
    let mut statuses = BTreeMap::<String, u64>::new();
    for answer in answers {
        *statuses.entry(answer.status.to_string()).or_default() += 1;
    }
    let found = json!({"count": count, "answers_by_status": statuses});
    Ok(Some(Difference::new("/answers", tally.encode(), found)))
}

fn unmet(expected: &Expectation, answer: &Answer, route: &Route, variables: &Variables) -> Unmet {
    let mut found = Vec::new();
    let mut compare = |within: &str, expected: &Value, actual: &Value| {
        let places = differences(expected, actual).into_iter();
        found.extend(places.map(|mismatch| Difference::from(mismatch).within(within)));
    };
    if let Some(headers) = &expected.headers {
        let headers = Value::Object(variables.object(headers)?);
        compare("/headers", &headers, &answer.header_document());
    }
    let document = answer.document(route);
    // A body that is no document is compared as text, so that the report shows what came instead.
    let body = document.unwrap_or_else(|| Value::String(answer.text.clone()));
    if let Some(expected) = &expected.body {
        compare("/body", &variables.value(expected)?, &body);
    }
    if let Some(code) = &expected.code
        && !names(&body, code)
    {
        found.push(Difference::new("/body", json!({"code": code}), body.clone()));
    }
    for check in expected.checks.iter().flatten() {
        let broken = checks::unmet(check, answer, &body, variables)?;
        found.extend(broken.into_iter().map(|place| place.within("/body")));
    }
    Ok(found)
}

fn has_status(statuses: &[u64], answer: &Answer) -> bool {
    statuses.contains(&answer.status.into())
}

const SUCCESS: &str = "a success (2xx)";
