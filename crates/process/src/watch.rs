//! Watching a child while it runs.

use std::time::Instant;

/// Sees the output of a running child, and can end it.
pub trait Watch {
    /// The child has started, as the leader of the group with this id.
    fn started(&mut self, _id: u32) {}

    /// Output on stdout; never empty.
    fn stdout(&mut self, _chunk: &[u8]) {}

    /// Output on stderr; never empty.
    fn stderr(&mut self, _chunk: &[u8]) {}

    /// Whether the child may go on. Called after each event, and at the time that the last answer
    /// named.
    fn decide(&mut self, now: Instant) -> WatchDecision;
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WatchDecision {
    Continue,
    /// It may go on until then; ask again.
    AskAgain(Instant),
    /// The group must end.
    Stop,
}

/// A watch that never ends the child.
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    fn decide(&mut self, _: Instant) -> WatchDecision {
        WatchDecision::Continue
    }
}
