//! What a decision writes: small changes of rows, in one transaction.

use accord_base::NewEvent;
use accord_base::decision::DecisionRecord;
use accord_contract::Object;

use super::{AskChange, KeptAnswer, LedgerRow, Session, StreamRow};
use crate::contract::Replay;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delta {
    /// The session row, as it is afterwards.
    pub session: Option<Session>,
    /// The changes of the content, in order.
    pub content: Vec<ContentChange>,
    pub ledger: Vec<LedgerRow>,
    /// The changes of the kept frames, in order.
    pub stream: Vec<StreamChange>,
    pub ask: Option<AskChange>,
    pub events: Vec<NewEvent>,
    /// The record of the decision that this is.
    pub decision: Option<DecisionRecord>,
    /// What the memory of the project keeps of it.
    pub kept: Option<KeptAnswer>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ContentChange {
    /// Every content row and kept frame of the session goes away.
    Clear,
    Ui(Object),
    Props(u64, Object),
    HostContext(Object),
    Context(Object),
    /// The events that were taken out of the pipe and given back are these, by their numbers.
    Returned(Vec<u64>),
    /// The event of this number closed the ask of an epoch.
    Closed {
        epoch: u64,
        sequence: u64,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum StreamChange {
    /// The frame is kept. With [`Replay::Latest`] it replaces the kept frame of its channel.
    Keep(Replay, StreamRow),
    Evict(u64),
}

impl Delta {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
