//! The answers of operations in ALX envelopes, as `result`.

use accord_contract::envelope;
use accord_contract::wire::Message;
use accord_tasks::answers::{
    AdoptAnswer, BoardAnswer, BriefingAnswer, ClaimAnswer, ClaimNextAnswer, EventsAnswer,
    HeartbeatAnswer, InitAnswer, LintAnswer, ListAnswer, MessageAnswer, PollAnswer,
    SessionEndAnswer, ShowAnswer, TaskAnswer,
};
use axum::response::Response;
use hyper::StatusCode;

use crate::http::Correlation;
use crate::http::reply::{MARKDOWN, alx_envelope, encoded, markdown};
use crate::http::table::{Content, Route};

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
    encoded(status, &answer.envelope(correlation))
}

/// What an operation answers.
pub(super) trait Answered: Send + 'static {
    /// Adds the answer to a route.
    fn describe(route: Route, status: StatusCode) -> Route;

    /// The response.
    fn respond(self, status: StatusCode, correlation: &Correlation) -> Response;
}

impl<A: Enveloped> Answered for A {
    fn describe(route: Route, status: StatusCode) -> Route {
        let about = A::Envelope::ABOUT.first().map_or("", |line| line.trim());
        route.answers(status.as_u16(), about, Content::json::<A::Envelope>())
    }

    fn respond(self, status: StatusCode, correlation: &Correlation) -> Response {
        respond(status, correlation, self)
    }
}

/// An answer as a JSON document, or as Markdown.
pub(super) enum Formatted<A> {
    Json(A),
    Markdown(String),
}

impl<A: Enveloped> Answered for Formatted<A> {
    fn describe(route: Route, status: StatusCode) -> Route {
        let route = A::describe(route, status);
        let about = route.answers.last().map_or("", |answer| answer.about);
        route.answers(status.as_u16(), about, Content::Text(MARKDOWN))
    }

    fn respond(self, status: StatusCode, correlation: &Correlation) -> Response {
        match self {
            Self::Json(answer) => respond(status, correlation, answer),
            Self::Markdown(text) => markdown(text),
        }
    }
}

/// A claim, with a briefing if the request asks for one and a task was claimed.
pub(super) struct Briefed<A> {
    pub(super) answer: A,
    pub(super) briefing: Option<String>,
}

/// Declares the envelope of an answer, with members beside it.
macro_rules! enveloped {
    (
        $(#[doc = $about:literal])+ $name:ident($wire:literal) of $answer:ident for $given:ty {
            $($members:tt)*
        }
        ($self:ident) => $result:expr $(, $member:ident: $value:expr)*
    ) => {
        envelope! {
            $(#[doc = $about])+
            pub(crate) struct $name($wire) {
                /// The answer of the operation, as `accord task … --json` prints it.
                required result: $answer = "result", "answer";
                $($members)*
            }
        }

        impl Enveloped for $given {
            type Envelope = $name;

            fn envelope($self, correlation: &Correlation) -> $name {
                alx_envelope!(correlation, $name { result: $result $(, $member: $value)* })
            }
        }
    };
}

/// Declares the envelope of each answer.
macro_rules! envelopes {
    ($($(#[doc = $about:literal])+ $name:ident($wire:literal) of $answer:ident;)+) => {
        $(enveloped! {
            $(#[doc = $about])+ $name($wire) of $answer for $answer {}
            (self) => self
        })+
    };
}

/// Declares the envelope of each claim.
macro_rules! claims {
    ($($(#[doc = $about:literal])+ $name:ident($wire:literal) of $answer:ident;)+) => {
        $(enveloped! {
            $(#[doc = $about])+ $name($wire) of $answer for Briefed<$answer> {
                /// What the agent needs to know, in Markdown, if the request asks for it and
                /// a task was claimed.
                optional briefing: String = "briefing", "markdown";
            }
            (self) => self.answer, briefing: self.briefing
        })+
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
