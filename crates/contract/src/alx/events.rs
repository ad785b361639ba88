//! The two kinds of events. They are separate types: a run event is live and has its time as text,
//! a timeline event is history and has its time as a number.

use crate::codes::{Code, Failure};
use crate::wire::{Extensible, Names, Number, Wire};
use crate::{message, wire_enum};

wire_enum! {
    // Clauses: ALX-EVENT-RUN-SET.
    /// What happens in a run, while it happens.
    pub enum RunEventType("RunEventType", closed) {
        /// The run began.
        RunStarted = "run.started",
        /// A step began.
        StepStarted = "step.started",
        /// A step succeeded.
        StepCompleted = "step.completed",
        /// A step failed.
        StepFailed = "step.failed",
        /// A step was left out.
        StepSkipped = "step.skipped",
        /// An artifact was made.
        ArtifactCreated = "artifact.created",
        /// A decision is needed before the run continues.
        ApprovalRequired = "approval.required",
        /// The run succeeded, and is over.
        RunCompleted = "run.completed",
        /// The run failed, and is over.
        RunFailed = "run.failed",
    }

    // Clauses: ALX-EVENT-TIMELINE-SET.
    /// What happened in a session.
    pub enum SessionTimelineEventType("SessionTimelineEventType", closed) {
        /// A run was carried out.
        Execution = "execution",
        /// A step was carried out.
        Step = "step",
        /// Another way was taken after the first one failed.
        Fallback = "fallback",
        /// Something failed.
        Error = "error",
        /// The session was set back.
        Reset = "reset",
        /// Another session was started from this one.
        Fork = "fork",
    }
}

message! {
    // Clauses: ALX-EVENT-TYPE, ALX-EVENT-OPEN, ALX-EVENT-RUN-TIME.
    /// Something that happens in a run.
    pub struct RunEvent("RunEvent", open) {
        /// What happens.
        required kind: Extensible<RunEventType> = "type", "run-event-type";
        /// Whether the run succeeded; on the events that end it.
        nullable ok: bool = "ok", "success-flag";
        /// When it happens.
        nullable timestamp: String = "timestamp", "time:iso-8601";
    }

    // Clauses: ALX-EVENT-TYPE, ALX-EVENT-OPEN, ALX-EVENT-TIMELINE-TIME.
    /// Something that happened in a session.
    pub struct SessionTimelineEvent("SessionTimelineEvent", open) {
        /// What happened.
        required kind: Extensible<SessionTimelineEventType> = "type", "timeline-event-type";
        /// When it happened.
        nullable timestamp: Number = "timestamp", "time:epoch-milliseconds";
    }
}

/// An event of a stream with a list of types.
pub trait StreamEvent: Wire {
    /// The list of types.
    type Type: Names;

    /// The event's type.
    fn kind(&self) -> &Extensible<Self::Type>;

    /// Checks whether the members agree with each other.
    fn check(&self) -> Result<(), Failure>;
}

/// Clauses: ALX-WG-09, ALX-WG-10, ALX-EVENT-OUTCOME.
impl StreamEvent for RunEvent {
    type Type = RunEventType;

    fn kind(&self) -> &Extensible<RunEventType> {
        &self.kind
    }

    fn check(&self) -> Result<(), Failure> {
        let demanded = match self.kind.known() {
            Some(RunEventType::RunCompleted) => true,
            Some(RunEventType::RunFailed) => false,
            _ => return Ok(()),
        };
        if self.ok.value() == Some(&demanded) {
            return Ok(());
        }
        let message = format!("/ok: a {} event carries ok {demanded}", self.kind);
        Err(Failure::new(Code::EventOutcomeContradiction, message).at("/ok"))
    }
}

impl StreamEvent for SessionTimelineEvent {
    type Type = SessionTimelineEventType;

    fn kind(&self) -> &Extensible<SessionTimelineEventType> {
        &self.kind
    }

    fn check(&self) -> Result<(), Failure> {
        Ok(())
    }
}
