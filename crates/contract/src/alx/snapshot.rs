//! The snapshot of the ALX 1.1 wire contract.

use std::collections::BTreeMap;

use super::{
    ALX_PROTOCOL_VERSION, Capability, DOMAIN_TAGS, ErrorEnvelope, RunEvent, RunEventType,
    SessionListEnvelope, SessionStatusEnvelope, SessionTimelineEnvelope, SessionTimelineEvent,
    SessionTimelineEventType, SolveRequest, SolveResponse,
};
use crate::codes::Protocol;
use crate::compat::Direction;
use crate::snapshot::{Builder, EventMeaning, Identity, builder};
use crate::wire::Value;

/// The members of a Knowledge Block envelope that its hash covers.
pub const HASH_SCOPE: [&str; 7] =
    ["type", "domain", "sources", "artifactHash", "tier", "payload", "derivation"];

/// The snapshot of ALX 1.1. The caller gives the identity vectors: this crate does not hash.
pub fn snapshot(vectors: BTreeMap<String, String>) -> Value {
    let identity = Identity {
        domain_tag: DOMAIN_TAGS.KB.into(),
        hash: "keccak256".into(),
        scope: HASH_SCOPE.map(String::from).into(),
        vectors,
    };
    let mut builder = builder(ALX_PROTOCOL_VERSION);
    for capability in Capability::ALL {
        builder = builder.capability(capability.as_str());
    }
    with_messages(builder)
        .errors(|code| code.protocol() == Protocol::Alx)
        .events(run_event)
        .events(timeline_event)
        .envelope_semantics("ok:true", "request-carried-out")
        .envelope_semantics("ok:false", "request-not-carried-out")
        .identity(identity)
        .build()
}

fn with_messages(builder: Builder) -> Builder {
    builder
        .message::<ErrorEnvelope>(Direction::Response)
        .message::<SolveRequest>(Direction::Request)
        .message::<SolveResponse>(Direction::Response)
        .message::<SessionStatusEnvelope>(Direction::Response)
        .message::<SessionTimelineEnvelope>(Direction::Response)
        .message::<SessionListEnvelope>(Direction::Response)
        .message::<RunEvent>(Direction::Response)
        .message::<SessionTimelineEvent>(Direction::Response)
}

fn run_event(kind: RunEventType) -> EventMeaning {
    let (semantics, ignorable) = match kind {
        RunEventType::RunStarted => ("run-began", true),
        RunEventType::StepStarted => ("step-began", true),
        RunEventType::StepCompleted => ("step-succeeded", true),
        RunEventType::StepFailed => ("step-failed", true),
        RunEventType::StepSkipped => ("step-left-out", true),
        RunEventType::ArtifactCreated => ("artifact-made", true),
        // Without these a client would wait forever, or not know how a run ended.
        RunEventType::ApprovalRequired => ("run-waits-for-decision", false),
        RunEventType::RunCompleted => ("run-over,outcome:success", false),
        RunEventType::RunFailed => ("run-over,outcome:failure", false),
    };
    EventMeaning { semantics, ignorable }
}

fn timeline_event(kind: SessionTimelineEventType) -> EventMeaning {
    let semantics = match kind {
        SessionTimelineEventType::Execution => "run-carried-out",
        SessionTimelineEventType::Step => "step-carried-out",
        SessionTimelineEventType::Fallback => "other-way-taken",
        SessionTimelineEventType::Error => "something-failed",
        SessionTimelineEventType::Reset => "session-set-back",
        SessionTimelineEventType::Fork => "session-branched",
    };
    // A client that ignores one of these still shows the others.
    EventMeaning { semantics, ignorable: true }
}
