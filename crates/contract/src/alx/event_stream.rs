//! Reading and emitting events. An emitter writes only the listed types. A reader skips an unknown
//! type, reports it and continues. No invalid event ends a stream.

use super::{RunEvent, SessionTimelineEvent, StreamEvent};
use crate::codes::{Code, Failure};
use crate::wire::{Extensible, Names, Value, Wire};
use crate::{message, wire_enum};

/// What a reader does with one event.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step<E> {
    /// A valid event of a known type.
    Accepted(E),
    /// An event of an unknown type, which is given.
    Skipped(String),
    /// Not an event, or one that contradicts itself.
    Refused(Failure),
}

/// The result of reading a list of events.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reading<E> {
    /// The valid events of known types, in order.
    pub accepted: Vec<E>,
    /// The events of unknown types: index and type.
    pub skipped: Vec<(usize, String)>,
    /// The invalid events: index and error.
    pub refused: Vec<(usize, Failure)>,
}

message! {
    /// What a reader made of a list of events, as types and places.
    pub struct EventReport("EventReport", closed) {
        /// The types of the events that were taken, in order.
        required accepted: Vec<String> = "accepted", "event-types";
        /// The events that were passed over, because their type is not known.
        required skipped: Vec<SkippedEvent> = "skipped", "skipped-events";
        /// The events that were refused.
        required refused: Vec<RefusedEvent> = "refused", "refused-events";
    }

    /// An event that was passed over.
    pub struct SkippedEvent("SkippedEvent", closed) {
        /// Its place in the list, from 0.
        required index: u64 = "index", "list-index";
        /// Its type.
        required kind: String = "type", "event-type";
    }

    /// An event that was refused.
    pub struct RefusedEvent("RefusedEvent", closed) {
        /// Its place in the list, from 0.
        required index: u64 = "index", "list-index";
        /// Why.
        required code: Code = "code", "failure-code";
        /// Where in the event.
        required pointer: String = "pointer", "json-pointer";
    }
}

wire_enum! {
    /// The event streams of the protocol.
    pub enum Stream("EventStream", closed) {
        /// Live run events.
        Run = "run",
        /// The history of a session.
        Timeline = "timeline",
    }
}

/// Reads one event. Clauses: ALX-UNKNOWN-EVENT, ALX-EVENT-STREAMS.
pub fn read_one<E: StreamEvent>(event: Value) -> Step<E> {
    // The type is checked first: the members of an unknown type are not known.
    if let Some(kind) = event.get("type").and_then(Value::as_str)
        && E::Type::find(kind).is_none()
    {
        return Step::Skipped(kind.into());
    }
    let decoded = E::from_document(event).map_err(Failure::from);
    match decoded.and_then(|event| event.check().map(|()| event)) {
        Ok(event) => Step::Accepted(event),
        Err(failure) => Step::Refused(failure),
    }
}

/// Reads a list of events to its end. Clauses: ALX-C5, ALX-EVENT-CONTINUES.
pub fn read<E: StreamEvent>(events: impl IntoIterator<Item = Value>) -> Reading<E> {
    let mut reading = Reading { accepted: Vec::new(), skipped: Vec::new(), refused: Vec::new() };
    for (index, event) in events.into_iter().enumerate() {
        match read_one(event) {
            Step::Accepted(event) => reading.accepted.push(event),
            Step::Skipped(kind) => reading.skipped.push((index, kind)),
            Step::Refused(failure) => reading.refused.push((index, failure)),
        }
    }
    reading
}

/// Checks an event before it is emitted.
pub fn emit<E: StreamEvent>(event: E) -> Result<Value, Failure> {
    check_emittable(&event)?;
    Ok(event.encode())
}

/// Clauses: ALX-WG-03, ALX-WG-04.
pub(super) fn check_emittable<E: StreamEvent>(event: &E) -> Result<(), Failure> {
    match event.kind() {
        Extensible::Known(_) => event.check(),
        Extensible::Unknown(kind) => Err(not_emittable::<E::Type>(kind)),
    }
}

/// Refuses a type that its stream does not list.
pub(super) fn not_emittable<N: Names>(kind: &str) -> Failure {
    let names: Vec<_> = N::ALL.iter().map(|name| name.as_str()).collect();
    let message = format!("/type: \"{kind}\" is not one of {}", names.join(", "));
    Failure::new(Code::EventTypeNotEmittable, message).at("/type")
}

impl Stream {
    /// Reads a list of events of this stream.
    pub fn read(self, events: impl IntoIterator<Item = Value>) -> EventReport {
        match self {
            Self::Run => read::<RunEvent>(events).report(),
            Self::Timeline => read::<SessionTimelineEvent>(events).report(),
        }
    }

    /// Checks an event of this stream before it is emitted.
    pub fn emit(self, event: Value) -> Result<Value, Failure> {
        match self {
            Self::Run => emit(RunEvent::from_document(event)?),
            Self::Timeline => emit(SessionTimelineEvent::from_document(event)?),
        }
    }
}

impl<E: StreamEvent> Reading<E> {
    /// The reading as types and places.
    pub fn report(&self) -> EventReport {
        EventReport {
            accepted: (self.accepted.iter()).map(|event| event.kind().to_string()).collect(),
            skipped: (self.skipped.iter())
                .map(|(index, kind)| SkippedEvent { index: *index as u64, kind: kind.clone() })
                .collect(),
            refused: (self.refused.iter())
                .map(|(index, failure)| RefusedEvent {
                    index: *index as u64,
                    code: failure.code,
                    pointer: failure.pointer.clone().unwrap_or_default(),
                })
                .collect(),
        }
    }
}
