//! Replay: what a subscriber gets that it has missed, and what it gets live afterwards.
//!
//! A subscriber is registered with the number of the last frame at that moment, its snapshot.
//! Frames up to the snapshot come from the replay, later ones come live. So nothing is sent twice
//! and nothing is left out.

use accord_contract::{Failure, Field, Object, Value, rule, wire::count_of};

use super::{Head, LedgerRow, StreamRow, stream::is_always_replayed};
use crate::contract::{CompiledContract, Replay};
use crate::{json::members, refuse};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamReplay {
    /// The frames, in the order of their numbers.
    pub rows: Vec<StreamRow>,
    /// Whether frames that were asked for are gone.
    pub is_truncated: bool,
}

/// Which of the live frames a subscriber gets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LiveCursor(u64);

#[derive(Clone, Debug, PartialEq)]
pub struct LedgerPage {
    pub rows: Vec<LedgerRow>,
    pub last_sequence: u64,
    pub has_more: bool,
}

/// Chooses the kept frames that a new subscriber gets. `kept` are all kept frames, up to
/// `head.stream`.
pub fn replay_stream(
    head: &Head,
    contract: &CompiledContract,
    from_seq: Option<u64>,
    mut kept: Vec<StreamRow>,
) -> StreamReplay {
    kept.retain(|row| is_replayed(row, from_seq, head.stream));
    kept.sort_by_key(|row| row.seq);
    StreamReplay { rows: kept, is_truncated: is_truncated(head, contract, from_seq) }
}

/// Whether a kept frame is replayed to a subscriber whose snapshot ends with the frame `through`.
///
/// Clauses: GGUI-REPLAY-FROM-SEQ, GGUI-RESERVED-REPLAYED.
pub fn is_replayed(row: &StreamRow, from_seq: Option<u64>, through: u64) -> bool {
    let is_asked_for = match from_seq {
        Some(from) => rule!(row.seq > from; LastSeenAgain => row.seq >= from),
        None => rule!(is_always_replayed(row); FreshSeesNothing => false),
    };
    is_asked_for && row.seq <= through
}

/// Whether frames that a subscriber asks for are gone.
///
/// Clauses: GGUI-REPLAY-TRUNCATED.
pub fn is_truncated(head: &Head, contract: &CompiledContract, from_seq: Option<u64>) -> bool {
    let mut declared = contract.contract().streams.iter().flat_map(|spec| spec.iter());
    let mut keeps_all = || declared.any(|(_, entry)| entry.replay == Replay::All);
    let is_gone = from_seq.is_some_and(|from| from < head.evicted);
    rule!(is_gone && keeps_all(); TruncationHidden => false)
}

impl LiveCursor {
    /// The cursor of a subscriber whose snapshot ends with this number.
    pub fn after(snapshot: u64) -> Self {
        Self(snapshot)
    }

    /// Whether the subscriber gets a live frame. Frames come in the order of their numbers.
    ///
    /// Clauses: GGUI-REPLAY-NO-OVERLAP.
    pub fn admit(&mut self, seq: u64) -> bool {
        let is_new = rule!(seq > self.0; FramesTwice => true);
        self.0 = self.0.max(seq);
        is_new
    }

    pub fn position(self) -> u64 {
        self.0
    }
}

/// The position in the ledger that a request names. Fails with `INVALID_SINCE_SEQUENCE` when it is
/// no whole number from zero; `REPLAY_HORIZON_PASSED` when it is after the last event, or before
/// the first one that can be read.
///
/// Clauses: GGUI-REPLAY-SINCE-SEQUENCE.
pub fn check_since_sequence(head: &Head, since: &Value) -> Result<u64, Failure> {
    let Some(since) = rule!(count_of(since); AnyPosition => count_of(since).or(Some(0))) else {
        let message = "sinceSequence is a whole number from zero";
        return Err(refuse::invalid_since_sequence(message));
    };
    check_position(head, since)
}

/// The position that a pull names; the first that can be read, if it names none. Fails as
/// [`check_since_sequence`].
///
/// Clauses: GGUI-TOOL-PULL.
pub fn pull_position(head: &Head, since: &Field<Value>) -> Result<u64, Failure> {
    match since {
        Field::Absent => Ok(head.horizon),
        Field::Null => check_since_sequence(head, &Value::Null),
        Field::Value(since) => check_since_sequence(head, since),
    }
}

/// Checks that the ledger can be read after a number. Fails with `REPLAY_HORIZON_PASSED`, with the
/// number of the last event.
///
/// Clauses: GGUI-REPLAY-HORIZON.
pub fn check_position(head: &Head, since: u64) -> Result<u64, Failure> {
    let is_future = rule!(since > head.ledger; FutureReplayed => false);
    if is_future || since < head.horizon {
        let message = format!("the ledger cannot be replayed after {since}; read the state again");
        return Err(refuse::replay_horizon_passed(message).with("currentSequence", head.ledger));
    }
    Ok(since)
}

/// A page of the ledger. `rows` are the events after the position, in order; those after the
/// snapshot of `head` are left out. There may be fewer than `limit` although more follow.
pub fn ledger_page(head: &Head, mut rows: Vec<LedgerRow>, limit: usize) -> LedgerPage {
    rows.retain(|row| row.seq <= head.ledger);
    rows.truncate(limit);
    let has_more = rows.last().is_some_and(|row| row.seq < head.ledger);
    LedgerPage { rows, last_sequence: head.ledger, has_more }
}

impl LedgerPage {
    /// The page as `/events` and `ggui_runtime_pull` answer it.
    pub fn document(&self) -> Object {
        let events = self.rows.iter().map(|row| Value::Object(row.document()));
        let events: Vec<Value> = events.collect();
        members([
            ("events", events.into()),
            ("lastSequence", self.last_sequence.into()),
            ("hasMore", self.has_more.into()),
        ])
    }
}
