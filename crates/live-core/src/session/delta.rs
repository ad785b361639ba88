//! What a decision writes: small changes of rows, in one transaction.

use accord_base::NewEvent;
use accord_contract::wire::Object;

use super::{AskChange, LedgerRow, Session, StreamRow};
use crate::contract::Replay;

/// The rows that a decision writes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Delta {
    /// The session row, as it is afterwards.
    pub session: Option<Session>,
    /// The changes of the content, in order.
    pub content: Vec<ContentChange>,
    /// The rows that the ledger gets.
    pub ledger: Vec<LedgerRow>,
    /// The changes of the kept frames, in order.
    pub stream: Vec<StreamChange>,
    /// The change of the ask.
    pub ask: Option<AskChange>,
    /// The events that the stream of the project gets.
    pub events: Vec<NewEvent>,
}

/// A change of a content row.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentChange {
    /// Every content row and kept frame of the session goes away.
    Clear,
    /// The members of the UI are these.
    Ui(Object),
    /// The props of an epoch are these.
    Props(u64, Object),
    /// The host context is this.
    HostContext(Object),
    /// The values of the context slots are these.
    Context(Object),
    /// The events that were taken out of the pipe and given back are these, by their numbers.
    Returned(Vec<u64>),
}

/// A change of the kept frames.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamChange {
    /// The frame is kept. With [`Replay::Latest`] it replaces the kept frame of its channel.
    Keep(Replay, StreamRow),
    /// The frame of this number goes away.
    Evict(u64),
}

impl Delta {
    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
