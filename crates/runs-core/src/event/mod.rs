//! `events.jsonl`: the events of a run, in order.
//!
//! Invariants:
//! - an emitted event has a declared type and a run;
//! - an event about a turn names it.

mod order;
mod types;

use accord_contract::{Code, Failure, Object, Time, Value};

pub use order::check_order;
pub use types::EventType;

use crate::{EventId, Ids, Result, RunId, State, array, build, doc, rule};

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    id: EventId,
    kind: EventType,
    line: Object,
}

#[derive(Debug)]
pub struct Emitter<'a> {
    ids: &'a mut Ids,
    run_id: RunId,
    now: Time,
    events: Vec<Event>,
}

/// The id and role of an event's turn, if it has one.
pub type About<'a> = Option<(&'a str, &'a str)>;

pub fn timestamp(line: &Object) -> Option<Time> {
    doc::Event::TIMESTAMP.get(line)
}

pub fn run_id(line: &Object) -> Option<&str> {
    doc::Event::RUN_ID.get(line)
}

/// The type of a line of the events, known or not.
pub fn type_name(line: &Object) -> Option<&str> {
    doc::Event::EVENT_TYPE.raw(line)?.as_str()
}

impl Event {
    pub fn id(&self) -> &EventId {
        &self.id
    }

    pub fn kind(&self) -> EventType {
        self.kind
    }

    pub fn line(&self) -> &Object {
        &self.line
    }
}

impl<'a> Emitter<'a> {
    /// An emitter for the run of a state. Fails with `invalid_event` when no run has begun, since
    /// every event belongs to a run.
    pub fn new(state: &State, ids: &'a mut Ids, now: Time) -> Result<Self> {
        let none =
            || Failure::new(Code::XchainInvalidEvent, "an event needs a run, and none has begun");
        Ok(Self::of_run(state.run_id().cloned().ok_or_else(none)?, ids, now))
    }

    pub fn of_run(run_id: RunId, ids: &'a mut Ids, now: Time) -> Self {
        Self { ids, run_id, now, events: Vec::new() }
    }

    /// Emits an event with the current phase and status of the state.
    pub fn emit(&mut self, kind: EventType, state: &State, about: About<'_>, payload: Object) {
        let turn = |(turn, role)| {
            build([doc::EventTurn::TURN_ID.to(turn), doc::EventTurn::ROLE_ID.to(role)])
        };
        let id = self.ids.event();
        // The protocol has the intent as a member of the event, beside its payload.
        let intent = payload.get("intent_id").cloned().unwrap_or(Value::Null);
        let line = build([
            doc::Event::EVENT_ID.to(id.as_str()),
            doc::Event::EVENT_TYPE.to(kind),
            doc::Event::TIMESTAMP.to(self.now),
            doc::Event::RUN_ID.to(self.run_id.as_str()),
            doc::Event::PHASE.to(state.phase()),
            doc::Event::STATUS.to(state.status().as_str()),
            doc::Event::TURN.to(about.map_or(Value::Null, |about| turn(about).into())),
            doc::Event::INTENT_ID.to(intent),
            doc::Event::PAYLOAD.to(payload),
        ]);
        self.events.push(Event { id, kind, line });
    }

    pub fn finish(self) -> Vec<Event> {
        self.events
    }
}

/// When the gate of a run became pending, by these events of its repository, oldest first.
pub fn gate_pending_at(lines: &[Object], state: &State) -> Option<Time> {
    let pending = lines.iter().rev().find(|line| {
        let kind = doc::Event::EVENT_TYPE.get(*line);
        state.owns_line(line) && kind == Some(EventType::GatePending)
    });
    pending.and_then(timestamp)
}

/// The problems of an event.
///
/// Clauses: AX-EV-VALID, AX-EV-ID, AX-EV-RUN-ID, AX-EV-TIMESTAMP, AX-EV-TYPE, AX-EV-TURN-ID.
pub fn check(event: &Value) -> Vec<String> {
    let Some(event) = event.as_object() else {
        return vec!["an event must be a JSON object".into()];
    };
    let mut errors = Vec::new();
    if doc::Event::EVENT_ID.filled(event).is_none() {
        errors.push("event_id must be a non-blank text".into());
    }
    let kind = doc::Event::EVENT_TYPE.get(event);
    if rule!(
        kind.is_none();
        FewTypesKnown => kind.is_none_or(|kind| {
            !kind.needs_turn() && !matches!(kind, EventType::RunStarted | EventType::RunCompleted)
        })
    ) {
        let found = doc::Event::EVENT_TYPE.raw(event).unwrap_or(&Value::Null);
        errors.push(format!("event_type {found} is not declared"));
    }
    let at = doc::Event::TIMESTAMP.get(event);
    if rule!(at.is_none(); TimeNotNeeded => false) {
        errors.push("timestamp must be a time".into());
    }
    // The protocol's text requires the run. The reference runner does not check it.
    if rule!(doc::Event::RUN_ID.filled(event).is_none(); RunIdNotNeeded => false) {
        errors.push("run_id must name the run".into());
    }
    if kind.is_some_and(EventType::needs_turn) && turn_id(event).is_none() {
        errors.push("turn.turn_id must name the turn".into());
    }
    errors
}

pub fn refusal(code: Code, errors: &[String]) -> Failure {
    let message = errors.first().cloned().unwrap_or_default();
    Failure::new(code, message).with("errors", array(errors))
}

fn turn_id(event: &Object) -> Option<&str> {
    doc::Event::TURN.get(event).and_then(|turn| doc::EventTurn::TURN_ID.filled(turn))
}
