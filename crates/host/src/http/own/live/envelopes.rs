//! The answers in ALX envelopes, as `result`.

use accord_contract::envelope;
use accord_live::answers::{
    LiveAckAnswer, LiveAsksAnswer, LiveEventsAnswer, LiveSessionAnswer, LiveSessionsAnswer,
};

/// Declares the envelope of each answer.
macro_rules! envelopes {
    ($($(#[doc = $about:literal])+ $name:ident($wire:literal) of $answer:ident;)+) => {
        $(envelope! {
            $(#[doc = $about])+
            pub(crate) struct $name($wire) {
                /// The answer, as `accord live … --json` prints it.
                required result: $answer = "result", "answer";
            }
        })+
    };
}

envelopes! {
    /// A page of live sessions.
    LiveSessionsEnvelope("LiveSessionsEnvelope") of LiveSessionsAnswer;
    /// A live session.
    LiveSessionEnvelope("LiveSessionEnvelope") of LiveSessionAnswer;
    /// What live sessions wait for.
    LiveAsksEnvelope("LiveAsksEnvelope") of LiveAsksAnswer;
    /// A page of the ledger of a live session.
    LiveEventsEnvelope("LiveEventsEnvelope") of LiveEventsAnswer;
    /// An action that is recorded.
    LiveAckEnvelope("LiveAckEnvelope") of LiveAckAnswer;
}
