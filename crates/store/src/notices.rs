//! What receivers of notifications are told about the inbox: the outbox, and what was told.
//!
//! Invariants:
//! - an item that is new, or became more urgent, is unseen until somebody has looked at it
//!   ([`NoticeWrites::see_item`]). That it is unseen is written in the transaction that makes it;
//! - a row belongs to the id of an item, and outlasts the item;
//! - an item can be unseen again after its row was made again. Who looks compares it with what was
//!   told.

use accord_base::ProjectId;
use accord_base::inbox::Urgency;
use accord_contract::Time;

use crate::{InboxRow, Result};

/// That a receiver is told an item.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NoticeRow {
    /// The project of the item.
    pub project_id: ProjectId,
    /// The id of the item.
    pub item: String,
    /// The kind and the subject of the item.
    pub source: String,
    /// How urgent it was.
    pub urgency: Urgency,
    /// From when on it can be told.
    pub from: Time,
    /// The message that it is part of.
    pub message: Option<String>,
    /// When it was told; `None` if it was not yet.
    pub told_at: Option<Time>,
}

/// What a receiver is not told yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Untold {
    /// From when on the first of it can be told.
    pub first: Time,
    /// A message that was made, and did not arrive.
    pub message: Option<String>,
}

/// Reads what receivers are told.
pub trait Notices {
    /// Items that are unseen at a time, except those of archived projects. They include items that
    /// are not shown any more.
    fn unseen_items(&self, now: Time, limit: usize) -> Result<Vec<InboxRow>>;

    /// What a receiver was or is told about an item.
    fn notice(&self, receiver: &str, project: &ProjectId, item: &str) -> Result<Option<NoticeRow>>;

    /// The last that a receiver was told about items of a source.
    fn last_told(
        &self,
        receiver: &str,
        project: &ProjectId,
        source: &str,
    ) -> Result<Option<NoticeRow>>;

    /// What a receiver is not told yet, in short.
    fn untold(&self, receiver: &str) -> Result<Option<Untold>>;

    /// What a receiver is not told yet, each with its item if that is in the inbox of a project
    /// that is not archived. What can be told first comes first.
    fn untold_items(
        &self,
        receiver: &str,
        limit: usize,
    ) -> Result<Vec<(NoticeRow, Option<InboxRow>)>>;
}

/// Writes what receivers are told.
pub trait NoticeWrites {
    /// Somebody has looked at an item. It is unseen again when it becomes more urgent.
    fn see_item(&mut self, row: &InboxRow, now: Time) -> Result<()>;

    /// Sets what a receiver is told about an item.
    fn put_notice(&mut self, receiver: &str, notice: &NoticeRow) -> Result<()>;

    /// Removes what a receiver is told about an item.
    fn remove_notice(&mut self, receiver: &str, project: &ProjectId, item: &str) -> Result<()>;

    /// A message was delivered.
    fn tell(&mut self, receiver: &str, message: &str, at: Time) -> Result<()>;

    /// Deletes what was told before a time about items that are gone.
    fn forget_notices(&mut self, before: Time) -> Result<()>;

    /// Deletes what receivers other than these are not told yet.
    fn keep_receivers(&mut self, receivers: &[String]) -> Result<()>;
}

impl NoticeRow {
    /// The kind and the subject of an item.
    pub fn source_of(row: &InboxRow) -> String {
        format!("{}:{}", row.waiting.kind, row.waiting.subject)
    }
}

impl InboxRow {
    /// When an item that was looked at is unseen again: when it becomes more urgent.
    pub fn unseen_again(&self, now: Time) -> Option<Time> {
        let waiting = &self.waiting;
        waiting.rises.filter(|(at, to)| *at > now && *to < waiting.urgency).map(|(at, _)| at)
    }
}
