//! The answers of operations in ALX envelopes, as `result`.

use accord_contract::alx::{Capabilities, ProtocolInfo};
use accord_contract::envelope;
use accord_contract::wire::{Message, Object, True, Wire as _};
use accord_tasks::answers::{
    AdoptAnswer, BoardAnswer, BriefingAnswer, ClaimAnswer, ClaimNextAnswer, EventsAnswer,
    HeartbeatAnswer, InitAnswer, LintAnswer, ListAnswer, MessageAnswer, PollAnswer,
    SessionEndAnswer, ShowAnswer, TaskAnswer,
};
use axum::response::Response;
use hyper::StatusCode;

use crate::http::Correlation;
use crate::http::reply::json;

/// An answer with an envelope of its own.
pub(super) trait Enveloped: Send + 'static {
    /// The envelope.
    type Envelope: Message;

    /// The answer in its envelope.
    fn envelope(self, correlation: &Correlation) -> Self::Envelope;
}

/// The response with an answer in its envelope.
pub(super) fn respond<A: Enveloped>(
    status: StatusCode,
    correlation: &Correlation,
    answer: A,
) -> Response {
    json(status, answer.envelope(correlation).encode().to_string())
}

/// Declares the envelope of each answer.
macro_rules! envelopes {
    ($($(#[doc = $about:literal])+ $name:ident($wire:literal) of $answer:ident;)+) => {
        $(
            envelope! {
                $(#[doc = $about])+
                pub(crate) struct $name($wire) {
                    /// The answer of the operation, as `accord task … --json` prints it.
                    required result: $answer = "result", "answer";
                }
            }

            impl Enveloped for $answer {
                type Envelope = $name;

                fn envelope(self, correlation: &Correlation) -> $name {
                    $name {
                        ok: True,
                        correlation_id: correlation.as_str().into(),
                        protocol: ProtocolInfo::ours(Capabilities::new()),
                        result: self,
                        extra: Object::new(),
                    }
                }
            }
        )+
    };
}

/// Declares the envelope of a claim, which can have a briefing beside the answer.
macro_rules! claims {
    ($($(#[doc = $about:literal])+ $name:ident($wire:literal) of $answer:ident;)+) => {
        $(
            envelope! {
                $(#[doc = $about])+
                pub(crate) struct $name($wire) {
                    /// The answer of the operation, as `accord task … --json` prints it.
                    required result: $answer = "result", "answer";
                    /// What the agent needs to know, in Markdown, if the request asks for it and
                    /// a task was claimed.
                    optional briefing: String = "briefing", "markdown";
                }
            }

            impl $name {
                /// The answer in its envelope.
                pub(super) fn new(
                    correlation: &Correlation,
                    result: $answer,
                    briefing: Option<String>,
                ) -> Self {
                    Self {
                        ok: True,
                        correlation_id: correlation.as_str().into(),
                        protocol: ProtocolInfo::ours(Capabilities::new()),
                        result,
                        briefing,
                        extra: Object::new(),
                    }
                }
            }
        )+
    };
}

claims! {
    /// A task that an agent claimed.
    TaskClaimEnvelope("TaskClaimEnvelope") of ClaimAnswer;
    /// The next ready task, if there is one.
    TaskClaimNextEnvelope("TaskClaimNextEnvelope") of ClaimNextAnswer;
}

envelopes! {
    /// A task that was created or changed.
    TaskEnvelope("TaskEnvelope") of TaskAnswer;
    /// A task, with what a person decides about.
    TaskShowEnvelope("TaskShowEnvelope") of ShowAnswer;
    /// A page of tasks.
    TaskListEnvelope("TaskListEnvelope") of ListAnswer;
    /// The tasks by status.
    TaskBoardEnvelope("TaskBoardEnvelope") of BoardAnswer;
    /// A heartbeat.
    TaskHeartbeatEnvelope("TaskHeartbeatEnvelope") of HeartbeatAnswer;
    /// What an agent needs to know about a task.
    TaskBriefingEnvelope("TaskBriefingEnvelope") of BriefingAnswer;
    /// What a person took over from a file.
    TaskAdoptEnvelope("TaskAdoptEnvelope") of AdoptAnswer;
    /// What the end of a session did.
    TaskSessionEndEnvelope("TaskSessionEndEnvelope") of SessionEndAnswer;
    /// What a poll did.
    TaskPollEnvelope("TaskPollEnvelope") of PollAnswer;
    /// Whether the files of a tree are what they should be.
    TaskLintEnvelope("TaskLintEnvelope") of LintAnswer;
    /// Events of a tree.
    TaskEventsEnvelope("TaskEventsEnvelope") of EventsAnswer;
    /// A tree, and its settings.
    TaskInitEnvelope("TaskInitEnvelope") of InitAnswer;
    /// What a message did.
    AofMessageEnvelope("AofMessageEnvelope") of MessageAnswer;
}
