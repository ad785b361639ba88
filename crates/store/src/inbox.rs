//! What waits for people in all projects, as rows, and the marks of people on them.
//!
//! Invariants:
//! - an item is derived: from a package, an open question, a live session or a request of an edge
//!   in the transaction that writes it, or from the tasks of a tree, which are given as a whole
//!   ([`InboxWrites::set_task_items`]). It can be deleted and made again
//!   ([`InboxWrites::rebuild_inbox`]);
//! - a mark belongs to the id of an item, and outlasts its row;
//! - an order depends on the time of the reader: no row is written because time passes;
//! - times have milliseconds.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use accord_base::inbox::{InboxItem, InboxMark, Urgency, Waiting, handle};
use accord_base::{ActorKey, ProjectId};
use accord_contract::Time;

use crate::Result;

/// An item.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InboxRow {
    /// Its project.
    pub project_id: ProjectId,
    /// What waits.
    pub waiting: Waiting,
}

/// A position in the order of items: urgency, deadline, how much waits behind it, age, id.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct InboxPosition {
    /// How urgent it is now.
    pub urgency: Urgency,
    /// Its deadline in milliseconds; the largest number if it has none.
    pub deadline: i64,
    /// How much waits for it, the most first.
    pub behind: Reverse<u64>,
    /// Since when it waits, in milliseconds.
    pub since: i64,
    /// Its id.
    pub id: String,
}

/// Which items, and how many. Those of archived projects are left out.
#[derive(Clone, Copy, Debug)]
pub struct InboxQuery<'a> {
    /// The time of the reader.
    pub now: Time,
    /// Only those of these projects.
    pub projects: Option<&'a BTreeSet<ProjectId>>,
    /// Only those of a kind.
    pub kind: Option<&'a str>,
    /// Only those that are for a person: named by the source, assigned, or claimed.
    pub only_for: Option<&'a str>,
    /// Without those that a person does not want to see now.
    pub awake_for: Option<&'a str>,
    /// Only those after this position.
    pub after: Option<&'a InboxPosition>,
    /// The maximum number.
    pub limit: usize,
}

/// The kinds of marks, in the order of their names.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum MarkKind {
    /// Whom it is assigned to. An item has one.
    Assignment,
    /// Somebody looks at the item. An item has one.
    Claim,
    /// Somebody does not want to see it. An item has one for each person.
    Snooze,
}

/// Reads the inbox. It shows what the transactions before wrote; the items of a transaction that
/// is not finished are made at its end.
pub trait Inbox {
    /// A page of items, the most urgent first.
    fn inbox(&self, query: &InboxQuery<'_>) -> Result<Vec<InboxRow>>;

    /// How many items there are of each urgency; of each, at most `most` are counted.
    fn inbox_counts(&self, query: &InboxQuery<'_>, most: usize) -> Result<[u64; 5]>;

    /// The items with an id, or whose short name begins so, in any project; at most `limit`.
    fn inbox_named(&self, name: &str, limit: usize) -> Result<Vec<InboxRow>>;

    /// How many live sessions of a project wait at a time for an answer to what an actor asks; for
    /// `None`, to what nobody is known to ask. The cost grows with the asks of the actor.
    fn open_asks(&self, project: &ProjectId, by: Option<&ActorKey>, at: Time) -> Result<u64>;

    /// The marks on an item, with those whose time is over.
    fn inbox_marks(&self, project: &ProjectId, item: &str) -> Result<Vec<(MarkKind, InboxMark)>>;
}

/// Writes the inbox.
pub trait InboxWrites {
    /// Replaces all items of the tasks of a project. Returns whether any of them changed.
    fn set_task_items(&mut self, project: &ProjectId, items: &[Waiting]) -> Result<bool>;

    /// Sets a mark. It replaces the one of its kind, a snooze that of its person.
    fn put_inbox_mark(
        &mut self,
        project: &ProjectId,
        item: &str,
        kind: MarkKind,
        mark: &InboxMark,
    ) -> Result<()>;

    /// Removes a mark; a snooze is that of `actor`. Returns whether there was one.
    fn remove_inbox_mark(
        &mut self,
        project: &ProjectId,
        item: &str,
        kind: MarkKind,
        actor: &str,
    ) -> Result<bool>;

    /// Deletes the items of all sources but tasks, and makes them again.
    fn rebuild_inbox(&mut self) -> Result<()>;
}

impl InboxRow {
    /// The row of what waits in a project.
    pub fn new(project_id: &ProjectId, waiting: Waiting) -> Self {
        Self { project_id: project_id.clone(), waiting: waiting.in_millis() }
    }

    /// Its id.
    pub fn id(&self) -> String {
        self.waiting.id(&self.project_id)
    }

    /// Its position at a time.
    pub fn position(&self, now: Time) -> InboxPosition {
        let waiting = &self.waiting;
        InboxPosition {
            urgency: waiting.urgency_at(now),
            deadline: waiting.deadline.map_or(i64::MAX, Time::unix_millis),
            behind: Reverse(waiting.behind),
            since: waiting.since.unix_millis(),
            id: self.id(),
        }
    }

    /// Whether an id or the beginning of a short name names it.
    pub fn is_named(&self, name: &str) -> bool {
        let id = self.id();
        id == name || (accord_base::inbox::is_handle(name) && handle(&id).starts_with(name))
    }

    /// The item as a document, without verbs and evidence, with the marks that hold for a reader.
    pub fn item(
        &self,
        marks: Vec<(MarkKind, InboxMark)>,
        reader: Option<&str>,
        now: Time,
    ) -> InboxItem {
        let mut item = self.waiting.item(&self.project_id, now);
        for (kind, mark) in marks {
            if mark.until.as_ref().is_some_and(|until| until.time() <= now) {
                continue;
            }
            match kind {
                MarkKind::Claim => item.claim = Some(mark),
                MarkKind::Assignment => item.assigned = Some(mark),
                MarkKind::Snooze if reader == Some(mark.actor.as_str()) => {
                    item.snoozed = Some(mark);
                }
                MarkKind::Snooze => {}
            }
        }
        item
    }
}

impl MarkKind {
    /// Its name in rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Assignment => "assignment",
            Self::Snooze => "snooze",
        }
    }

    /// The kind of a name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Claim, Self::Assignment, Self::Snooze].into_iter().find(|it| it.as_str() == text)
    }

    /// What tells marks of a kind on an item apart.
    pub fn holder(self, actor: &str) -> &str {
        if self == Self::Snooze { actor } else { "" }
    }
}
