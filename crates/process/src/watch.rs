//! Looking on while a child runs.

use std::time::Instant;

/// Somebody who hears what a child prints while it runs, and may have it ended.
pub trait Watch {
    /// The child is running, as the leader of the group of this id.
    fn started(&mut self, _id: u32) {}

    /// It printed this on stdout; never nothing.
    fn stdout(&mut self, _chunk: &[u8]) {}

    /// It printed this on stderr; never nothing.
    fn stderr(&mut self, _chunk: &[u8]) {}

    /// Whether it may go on. Asked whenever something happened, and when the time has come that the
    /// last answer named.
    fn verdict(&mut self, now: Instant) -> Verdict;
}

/// Whether a child may go on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// It may.
    GoOn,
    /// It may until then; ask again.
    AskAgain(Instant),
    /// Its group must end.
    Stop,
}

/// Nobody looks on.
pub(crate) struct Nobody;

impl Watch for Nobody {
    fn verdict(&mut self, _: Instant) -> Verdict {
        Verdict::GoOn
    }
}
