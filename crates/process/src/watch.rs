//! Looking on while a child runs.

use std::time::Instant;

/// Reads what a child prints while it runs, and can end it.
pub trait Watch {
    /// The child is running, as the leader of the group of this id.
    fn started(&mut self, _id: u32) {}

    /// It printed this on stdout; never nothing.
    fn stdout(&mut self, _chunk: &[u8]) {}

    /// It printed this on stderr; never nothing.
    fn stderr(&mut self, _chunk: &[u8]) {}

    /// Whether it may go on. Asked whenever something happened, and when the time has come that the
    /// last answer named.
    fn decide(&mut self, now: Instant) -> WatchDecision;
}

/// Whether a child may go on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WatchDecision {
    /// It may.
    Continue,
    /// It may until then; ask again.
    AskAgain(Instant),
    /// Its group must end.
    Stop,
}

/// No watch: the child runs until it ends.
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    fn decide(&mut self, _: Instant) -> WatchDecision {
        WatchDecision::Continue
    }
}
