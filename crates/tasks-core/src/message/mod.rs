//! The messages of AOF/1: how one is recognised, and what it says.
//!
//! Invariants:
//! - a message is read whole before anything is decided about it;
//! - an input is one of four things ([`Detected`]); none of them is an error of the caller's
//!   program.

mod detect;
mod envelope;
mod payload;

pub use detect::{Detected, PREFIX, Rejection, detect, detect_text, sent_at};
pub use envelope::{Envelope, Message, MessageType};
pub use payload::{
    CompletionReport, HandoffAnswer, HandoffRequest, Outcome, Payload, StatusUpdate, TestReport,
};
