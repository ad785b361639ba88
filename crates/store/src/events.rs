//! The stream of events of a project.
//!
//! Invariants:
//! - the events of a project are numbered 1, 2, 3, … without a gap: a failed job uses no number;
//! - a number is never reused, even after its event was trimmed or its project was removed.

use accord_base::{ActorKey, NewEvent, ProjectId};
use accord_contract::{Time, Timestamp};

use crate::Result;

/// A stored event.
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
    /// What kind of event it is. An engine stores any text.
    pub kind: String,
    /// The only actor that may see it; `None` for every reader.
    pub only_for: Option<ActorKey>,
    /// Its data, a JSON text.
    pub text: String,
}

/// The range of a stream's events that are stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EventRange {
    /// The number of the oldest stored event; `newest + 1` when none is stored.
    pub oldest: u64,
    /// The number of the newest event ever written; 0 when there was none.
    pub newest: u64,
}

/// Reads events.
pub trait Events {
    /// At most `limit` events after a number, in the order of their numbers.
    fn events(&self, project: &ProjectId, after: u64, limit: usize) -> Result<Vec<EventRow>>;

    /// The stored range of a stream; an empty one after the removal of a project.
    fn event_range(&self, project: &ProjectId) -> Result<EventRange>;

    /// The time of the newest stored event, or of the removal of a project.
    fn newest_event_at(&self, project: &ProjectId) -> Result<Option<Timestamp>>;

    /// The number up to which all stored events happened before a time.
    fn events_before(&self, project: &ProjectId, instant: Time) -> Result<u64>;
}

/// Writes events.
pub trait EventWrites {
    /// Appends an event. Returns its number. It is a conflict when the project does not exist.
    fn append_event(&mut self, project: &ProjectId, entry: &EventEntry) -> Result<u64>;

    /// Replaces the data of an event. It is a conflict when the event does not exist.
    fn rewrite_event(&mut self, project: &ProjectId, seq: u64, text: &str) -> Result<()>;

    /// Deletes the events up to a number. Returns their number.
    fn trim_events(&mut self, project: &ProjectId, through: u64) -> Result<u64>;
}

impl From<&NewEvent> for EventEntry {
    fn from(event: &NewEvent) -> Self {
        Self {
            at: event.at.clone(),
            kind: event.kind.as_str().to_owned(),
            only_for: event.only_for.clone(),
            text: event.data.to_string(),
        }
    }
}

impl EventRange {
    /// Whether a reader that has seen everything up to `after` can continue without a gap.
    pub fn reaches(&self, after: u64) -> bool {
        after.saturating_add(1) >= self.oldest
    }
}
