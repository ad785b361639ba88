//! Checks the order of events.

use std::collections::BTreeSet;

use accord_contract::{Code, Failure, Time, Value};

use super::{EventType, refusal, turn_id};
use crate::{Result, doc, rule};

/// Checks the timeline of one run. Undeclared types are ignored, because other runners write them.
/// Fails with `invalid_events` when there are no events, and otherwise with `ordering_violation`
/// and every problem.
///
/// Clauses: AX-EV-ORDER, AX-EV-STARTS, AX-EV-ENDS, AX-EV-DISPATCHED, AX-EV-MONOTONIC,
/// AX-EV-TIMELINE-TIME, AX-EV-TIMELINE-ONCE, AX-EV-TIMELINE-OPEN.
pub fn check_order(events: &Value) -> Result<()> {
    let Some(events) = events.as_array().filter(|events| !events.is_empty()) else {
        let message = "a timeline is a list of at least one event";
        return Err(Failure::new(Code::XchainInvalidEvents, message));
    };
    let mut errors = Vec::new();
    let kind = |event: &Value| doc::Event::EVENT_TYPE.get(event);
    let is_start = |event: &Value| kind(event) == Some(EventType::RunStarted);
    if rule!(!is_start(&events[0]); StartsLater => !events.iter().any(is_start)) {
        errors.push("the first event must be run_started".to_owned());
    }
    // The last event decides, so a repeated end at the end is no error.
    let ends = events.iter().filter(|event| kind(event) == Some(EventType::RunCompleted));
    let goes_on = events.last().and_then(kind) != Some(EventType::RunCompleted);
    if ends.count() > 0 && rule!(goes_on; EndsAndGoesOn => false) {
        errors.push("run_completed must be the last event".to_owned());
    }
    let mut seen = BTreeSet::new();
    let mut dispatched = BTreeSet::new();
    let mut last: Option<Time> = None;
    for (index, event) in events.iter().enumerate() {
        let Some(members) = event.as_object() else {
            errors.push(format!("event {index} must be a JSON object"));
            continue;
        };
        let id = doc::Event::EVENT_ID.filled(members);
        let repeated = id.is_some_and(|id| !seen.insert(id));
        if rule!(repeated; EventRepeated => false) {
            errors.push(format!("event {index} has the id of an earlier one"));
        }
        let turn = turn_id(members).unwrap_or_default();
        match kind(event) {
            Some(EventType::TurnDispatched) => {
                dispatched.insert(turn);
            }
            Some(EventType::TurnAccepted)
                if rule!(
                    !dispatched.contains(turn);
                    NeverDispatched => false;
                    DispatchedLater => !events.iter().any(|event| {
                        kind(event) == Some(EventType::TurnDispatched)
                            && event.as_object().and_then(turn_id) == Some(turn)
                    })
                ) =>
            {
                errors.push(format!("turn {turn} was accepted without being dispatched"));
            }
            None if rule!(false; StrangersDisorder => true) => {
                errors.push(format!("event {index} is of no declared type"));
            }
            _ => {}
        }
        let Some(at) = doc::Event::TIMESTAMP.get(members) else {
            rule!(
                errors.push(format!("event {index} has no valid timestamp"));
                TimelessInOrder => ()
            );
            continue;
        };
        let earlier = last.is_some_and(|last| {
            rule!(
                at < last;
                TimeSlipsBack => at < last && last.millis_since(at) >= 60_000;
                TimeGoesBack => false
            )
        });
        if earlier {
            errors.push(format!("event {index} is earlier than the one before it"));
        }
        last = Some(at);
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(refusal(Code::XchainOrderingViolation, &errors))
}
