//! The operations of live sessions, a file each for what belongs together: what they take, what
//! they answer, what they need, and with which codes they refuse.
//!
//! ggui prescribes the form of the routes in [`channel`], so that their handlers read parameters
//! and write bodies themselves.
//! `crates/live` carries them out; the host serves them; the command and the MCP tools call them.

pub mod answer;
pub mod ask_person;
pub mod channel;
pub mod pages;
pub mod questions;
pub mod tools;
pub mod watch;

use accord_api::{parameter::Segment, params};
use accord_base::ProjectId;

use crate::SessionId;

params! {
    /// A live session of a project.
    pub struct OfSession {
        /// The project's id.
        required project: Segment<ProjectId> = Segment::new("project_id");
        /// The live session's id.
        required session: Segment<SessionId> = Segment::new("live_session_id");
    }

    /// A live session of any project.
    pub struct OfLive {
        /// The live session's id.
        required session: Segment<SessionId> = Segment::new("live_session_id");
    }
}

/// A path below the live sessions of a project.
macro_rules! at_live {
    ($rest:literal) => {
        concat!("/accord/v1/projects/{project_id}/live/", $rest)
    };
}
use at_live;

/// A path below one session.
macro_rules! at_session {
    ($rest:literal) => {
        concat!("/accord/v1/projects/{project_id}/live/sessions/{live_session_id}", $rest)
    };
}
use at_session;

macro_rules! envelope {
    ($($declared:tt)+) => {
        accord_api::envelopes! {
            "The answer, as `accord live … --json` prints it.";
            $($declared)+
        }
    };
}
use envelope;

pub mod requests {
    use super::answer::LiveAnswerRequest;
    use super::ask_person::AskPersonRequest;

    accord_contract::contract_messages! {
        Request;
        LiveAnswerRequest = "live-answer-request",
        AskPersonRequest = "ask-person-request",
    }
}

pub mod answers {
    use super::answer::LiveAckAnswer;
    use super::ask_person::AskPersonAnswer;
    use super::questions::{
        LiveAnswersAnswer, LiveAsksAnswer, LiveSessionAnswer, LiveSessionsAnswer,
    };
    use super::watch::LiveEventsAnswer;

    accord_contract::contract_messages! {
        Response;
        LiveSessionsAnswer = "live-sessions-answer",
        LiveSessionAnswer = "live-session-answer",
        LiveAsksAnswer = "live-asks-answer",
        LiveAnswersAnswer = "live-answers-answer",
        LiveAckAnswer = "live-ack-answer",
        LiveEventsAnswer = "live-events-answer",
        AskPersonAnswer = "ask-person-answer",
    }
}
