//! The requests of one step: one, several in a row, or several at the same time.

use std::sync::Barrier;
use std::thread;

use accord_contract::Value;

use super::answer::Answer;
use super::compose::{Outgoing, compose};
use super::variables::{Unknown, Variables};
use super::{Engine, ExchangeError};
use crate::case::Step;
use crate::corpus::Requests;

/// One request of a step, with its variables.
pub(super) struct Round {
    /// Its number among the requests of the step, from 1.
    pub(super) number: usize,
    pub(super) variables: Variables,
    pub(super) outgoing: Outgoing,
    /// The document in its body, if the body is JSON.
    pub(super) document: Option<Value>,
}

/// The requests of a step: one per set of variables and repetition.
pub(super) fn rounds(
    step: &Step,
    routes: Requests<'_>,
    variables: &Variables,
) -> Result<Vec<Round>, Unknown> {
    let once = [accord_contract::wire::Object::new()];
    let sets = step.each.as_deref().unwrap_or(&once);
    let times = step.repeat.or(step.parallel).unwrap_or(1);
    let mut rounds = Vec::new();
    for set in sets {
        for _ in 0..times {
            let mut own = variables.clone();
            if !step.is_single() {
                own.set("n", rounds.len() + 1);
            }
            for (name, value) in set {
                let value = own.value(value)?;
                own.set(name, value);
            }
            let outgoing = compose(&step.request, routes, &own)?;
            let body = outgoing.body.as_ref();
            // From the text that is sent: a remembered document is what the server gets.
            let document = body.and_then(|body| serde_json::from_str::<Value>(&body.text).ok());
            if let (Some(name), Some(document)) = (&step.request.remember, &document) {
                own.set(name, document.clone());
            }
            rounds.push(Round { number: rounds.len() + 1, outgoing, document, variables: own });
        }
    }
    Ok(rounds)
}

/// The answers in order. Nothing is sent after the request that ends the exchange.
pub(super) fn send<'a>(
    engine: &'a Engine<'_>,
    step: &Step,
    rounds: &'a [Round],
) -> Box<dyn Iterator<Item = Result<Answer, ExchangeError>> + 'a> {
    if step.parallel.is_none() {
        return Box::new(rounds.iter().map(|round| engine.send(&round.outgoing)));
    }
    // All threads are started before the first request is sent.
    let barrier = Barrier::new(rounds.len());
    let answers: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = rounds
            .iter()
            .map(|round| {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    engine.send(&round.outgoing)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("sending does not panic")).collect()
    });
    Box::new(answers.into_iter())
}
