//! The stream of events of a project.
//!
//! Invariants:
//! - the events of a project are numbered 1, 2, 3, … without a gap: a job that fails takes no
//!   number;
//! - a number is never given twice, also not when the events that had it are trimmed.

use accord_base::{ActorKey, ProjectId};
use accord_contract::time::{Time, Timestamp};

use crate::Result;

/// An event as it is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EventRow {
    /// Its number in the project's stream.
    pub seq: u64,
    /// What happened.
    pub entry: EventEntry,
}

/// An event that has no number yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EventEntry {
    /// When it happened.
    pub at: Timestamp,
    /// What kind of event it is.
    pub kind: String,
    /// The only actor that may see what it says; everybody where there is none.
    pub only_for: Option<ActorKey>,
    /// What it says, as a JSON document.
    pub text: String,
}

/// Which events of a stream can still be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Kept {
    /// The number of the oldest that is kept; one more than `newest` where none is.
    pub oldest: u64,
    /// The number of the newest that there ever was; zero where there was none.
    pub newest: u64,
}

/// Reads events.
pub trait Events {
    /// At most `limit` events behind a number, in the order of their numbers.
    ///
    /// # Errors
    /// When the store fails.
    fn events(&self, project: &ProjectId, after: u64, limit: usize) -> Result<Vec<EventRow>>;

    /// What is kept of a stream.
    ///
    /// # Errors
    /// When the store fails.
    fn events_kept(&self, project: &ProjectId) -> Result<Kept>;

    /// When the newest event that is kept happened.
    ///
    /// # Errors
    /// When the store fails.
    fn newest_event_at(&self, project: &ProjectId) -> Result<Option<Timestamp>>;

    /// The number up to which every event that is kept happened before an instant; the number
    /// before the oldest that is kept, where that one did not.
    ///
    /// # Errors
    /// When the store fails.
    fn events_before(&self, project: &ProjectId, instant: Time) -> Result<u64>;
}

/// Writes events.
pub trait EventWrites {
    /// Adds an event and gives its number.
    ///
    /// # Errors
    /// With a conflict when there is no such project.
    fn append_event(&mut self, project: &ProjectId, entry: &EventEntry) -> Result<u64>;

    /// Forgets the events up to a number, and says how many those were.
    ///
    /// # Errors
    /// When the store fails.
    fn trim_events(&mut self, project: &ProjectId, through: u64) -> Result<u64>;
}

impl Kept {
    /// Whether whoever has seen everything up to `after` can go on without missing an event.
    pub fn reaches(&self, after: u64) -> bool {
        after.saturating_add(1) >= self.oldest
    }
}
