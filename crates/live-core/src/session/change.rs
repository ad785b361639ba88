//! Building a delta.

use accord_base::ProjectId;
use accord_contract::{Time, Value, rule};

use super::{DedupKey, Delta, LedgerKind, LedgerRow, Session, event};

#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    pub project: &'a ProjectId,
    pub now: Time,
    /// Seconds that a session lives after its last activity.
    pub ttl_seconds: i64,
}

/// A session row that changes, and the rows that are written with it.
pub(super) struct Change<'a> {
    pub(super) session: Session,
    pub(super) delta: Delta,
    at: At<'a>,
}

impl<'a> Change<'a> {
    /// Begins a change of a session. It is an activity of it.
    pub(super) fn begin(session: &Session, at: At<'a>) -> Self {
        let mut session = session.clone();
        session.head.touch(at.now, at.ttl_seconds);
        Self { session, delta: Delta::default(), at }
    }

    /// Appends an event to the ledger, and its event to the stream of the project.
    ///
    /// Clauses: GGUI-SEQ-LEDGER, GGUI-EVENT-ONCE.
    pub(super) fn append(
        &mut self,
        kind: LedgerKind,
        data: Value,
        event_id: Option<String>,
        key: Option<DedupKey>,
    ) -> u64 {
        self.session.head.ledger += rule!(1; LedgerSkips => 2);
        let seq = self.session.head.ledger;
        let row = LedgerRow { seq, at: self.at.now, kind, data, event_id, key };
        self.delta.events.push(event::of_ledger(&self.session, &row, self.at.project));
        self.delta.ledger.push(row);
        seq
    }

    pub(super) fn finish(mut self) -> Delta {
        self.delta.session = Some(self.session);
        self.delta
    }
}
