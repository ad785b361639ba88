//! The session surfaces: status, timeline and list.

use std::cmp::Ordering;

use super::event_stream::{check_emittable, not_emittable};
use super::{Envelope, ProtocolInfo, SessionTimelineEvent, SessionTimelineEventType};
use crate::codes::{Code, Failure};
use crate::wire::{
    DecodeError, Form, Number, Object, Pointer, Shape, Value, Wire, compare_numbers,
};
use crate::{envelope, message, wire_enum};

wire_enum! {
    /// The status of a session.
    pub enum SessionStatus("SessionStatus", closed) {
        /// It takes runs.
        Active = "active",
        /// It ended as intended.
        Completed = "completed",
        /// It ended with a failure.
        Failed = "failed",
        /// It is suspended.
        Paused = "paused",
        /// It will not be resumed.
        Abandoned = "abandoned",
    }
}

message! {
    /// A summary of a session.
    pub struct SessionSummary("SessionSummary", open) {
        /// How many runs there were.
        required run_count: u64 = "runCount", "unit:runs";
        /// How many of them succeeded.
        required success_count: u64 = "successCount", "unit:runs";
        /// How much better the runs became on average.
        nullable avg_improvement: Number = "avgImprovement", "mean-improvement";
        /// The artifact of the last run.
        nullable last_artifact_id: String = "lastArtifactId", "artifact-id";
        /// When the session last changed; a timeline's summary may leave it out.
        nullable updated_at: String = "updatedAt", "time:iso-8601";
    }
}

envelope! {
    // Clauses: ALX-MSG-SESSION-STATUS.
    /// The status of a session.
    pub struct SessionStatusEnvelope("SessionStatusEnvelope") {
        /// The session's state.
        required status: SessionStatus = "status", "session-status";
        /// A summary of the session.
        required summary: SessionSummary = "summary", "session-summary";
    }

    // Clauses: ALX-MSG-SESSION-TIMELINE.
    /// What happened in a session, oldest first.
    pub struct SessionTimelineEnvelope("SessionTimelineEnvelope") {
        /// The events, in ascending order of their timestamps.
        required timeline: Vec<TimelineEntry> = "timeline", "events-oldest-first";
        /// A summary of the session.
        required summary: SessionSummary = "summary", "session-summary";
    }

    // Clauses: ALX-MSG-SESSION-LIST.
    /// The list of sessions.
    pub struct SessionListEnvelope("SessionListEnvelope") {
        /// One object per session; the protocol does not define its members.
        required sessions: Vec<Object> = "sessions", "opaque-sessions";
    }
}

/// An event in a timeline that is read. One of an unknown type is kept as it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TimelineEntry {
    /// An event of a known type.
    Known(SessionTimelineEvent),
    /// An event of a type that this version does not know.
    Unknown(Object),
}

impl Wire for TimelineEntry {
    fn shape() -> Shape {
        SessionTimelineEvent::shape()
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        match value {
            Value::Object(members) if has_unknown_type(&members) => Ok(Self::Unknown(members)),
            value => SessionTimelineEvent::decode(value, at).map(Self::Known),
        }
    }

    fn write(&self, form: Form) -> Value {
        match (self, form) {
            (Self::Known(event), form) => event.write(form),
            (Self::Unknown(members), Form::Document) => Value::Object(members.clone()),
            // Only `type` is defined for every event, so only it is part of the contract.
            (Self::Unknown(members), Form::View) => {
                let known = members.iter().filter(|(name, _)| *name == "type");
                known.map(|(name, kind)| (name.clone(), kind.clone())).collect()
            }
        }
    }
}

impl TimelineEntry {
    fn emittable(&self) -> Result<&SessionTimelineEvent, Failure> {
        match self {
            Self::Known(event) => check_emittable(event).map(|()| event),
            Self::Unknown(members) => {
                let kind = members.get("type").and_then(Value::as_str);
                let kind = kind.unwrap_or_default();
                Err(not_emittable::<SessionTimelineEventType>(kind))
            }
        }
    }
}

/// Converts an error in an event to an error in the document that contains it.
fn below(place: &str, mut failure: Failure) -> Failure {
    failure.message.insert_str(0, place);
    let pointer = failure.pointer.take().unwrap_or_default();
    failure.at(format!("{place}{pointer}"))
}

fn has_unknown_type(members: &Object) -> bool {
    let kind = members.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| SessionTimelineEventType::parse(kind).is_none())
}

impl Envelope for SessionStatusEnvelope {
    fn protocol(&self) -> Option<&ProtocolInfo> {
        Some(&self.protocol)
    }
}

impl Envelope for SessionTimelineEnvelope {
    fn protocol(&self) -> Option<&ProtocolInfo> {
        Some(&self.protocol)
    }

    /// Every event may be emitted, and the events are in order of time. Clauses: ALX-WG-03.
    fn check_sendable(&self) -> Result<(), Failure> {
        let mut latest: Option<&Number> = None;
        for (index, entry) in self.timeline.iter().enumerate() {
            let place = format!("/timeline/{index}");
            let event = entry.emittable().map_err(|failure| below(&place, failure))?;
            // An event without a timestamp does not change the order of the others.
            let Some(time) = event.timestamp.value() else { continue };
            if let Some(before) = latest
                && compare_numbers(time, before) == Ordering::Less
            {
                let message = format!("/timestamp: expected at least {before}, found {time}");
                let failure = Failure::new(Code::WireFieldValue, message).at("/timestamp");
                return Err(below(&place, failure));
            }
            latest = Some(time);
        }
        Ok(())
    }
}

impl Envelope for SessionListEnvelope {
    fn protocol(&self) -> Option<&ProtocolInfo> {
        Some(&self.protocol)
    }
}
