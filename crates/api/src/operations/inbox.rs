//! What waits for people, in every project and protocol.

use accord_base::inbox::{InboxItem, kind};
use accord_base::{Decision, Need, ProjectId};
use accord_contract::{Code, Limits, TextForm, Timestamp, envelope, message, wire_enum};

use crate::body::{Events, Json};
use crate::parameter::{Acting, CURSOR, Flag, Id, Number, Opaque, Text};
use crate::{operation, params};

/// The most items of a page, and of one that names no number.
const LIMIT: Number = Number::new("limit", 1, 500).or(50);
const NAME: TextForm = TextForm::ANY.chars(1, 1024).without_nul().example(kind::PACKAGE_REVIEW);
const ITEM: TextForm = TextForm::ANY.chars(1, 2048).without_nul();
/// The longest time that something can be put off, in seconds.
const LONGEST: i64 = 366 * 24 * 3_600;

params! {
    /// Which items are listed.
    #[derive(Default)]
    pub struct InboxQuery {
        /// Only items of this project. Default: of all projects that the key covers.
        optional project: Id<ProjectId> = Id::new("project");
        /// Only items of this kind, such as `package.review`.
        optional kind: Text = Text::new("kind", NAME);
        /// Only items that are for the caller: named by the source, or assigned.
        flag mine: Flag = Flag::new("mine");
        /// Also items that the caller put off.
        flag snoozed: Flag = Flag::new("snoozed");
        /// Also counts the items that fit, at most 1,000 of each urgency.
        flag count: Flag = Flag::new("count");
        /// The most items.
        optional limit: Number = LIMIT;
        /// `next_cursor` of the previous page.
        optional cursor: Opaque = CURSOR;
        /// Who asks, for `mine` and `snoozed`. Default: the actor of the key.
        optional actor: Text = crate::parameter::ACTOR;
    }

    /// One item.
    pub struct OfItem {
        /// Its id, or its short name, of which the first digits are enough.
        required item: Text = Text::new("item", ITEM);
    }

    /// Which items are followed.
    #[derive(Default)]
    pub struct FollowInboxQuery {
        /// Only items of this project. Default: of all projects that the key covers.
        optional project: Id<ProjectId> = Id::new("project");
    }
}

wire_enum! {
    /// A mark on an item. None of them ends the item.
    pub enum InboxMarking("InboxMarking", closed) {
        /// The caller looks at it. Others see that, and can still decide.
        Claim = "claim",
        /// It is for a person.
        Assign = "assign",
        /// The caller does not want to see it for some time.
        Snooze = "snooze",
        /// Claim and assignment are taken back.
        Release = "release",
        /// The caller wants to see it again.
        Wake = "wake",
    }
}

message! {
    /// A mark on an item.
    pub struct MarkInboxRequest("InboxMarkRequest", closed) {
        /// What is marked.
        required mark: InboxMarking = "mark", "inbox-marking";
        /// Whom it is assigned to, such as `human:lead`.
        optional to: String = "to", "actor", Limits::text(NAME);
        /// For how many seconds. Default: ten minutes for a claim, an hour for a snooze. An item of
        /// the highest urgency can be put off for 15 minutes at most.
        optional seconds: u64 = "seconds", "seconds", Limits::whole(1, LONGEST);
    }

    /// How many items there are.
    pub struct InboxCounts("InboxCounts", open) {
        /// All of them that were counted.
        required total: u64 = "total", "count";
        /// By urgency: first those of urgency 1, last those of urgency 5. Of each, at most 1,000
        /// are counted.
        required by_urgency: Vec<u64> = "by_urgency", "counts";
        /// Whether there are more than were counted.
        optional more: bool = "more", "flag";
    }

    /// Something changed in the inbox.
    pub struct InboxChange("InboxChange", open) {
        /// How many items there are now.
        required counts: InboxCounts = "counts", "inbox-counts";
        /// The new ones among the most urgent 100. Absent if there are none, and in the first
        /// event.
        optional new: Vec<NewInboxItem> = "new", "inbox-items";
    }

    /// An item that was not there before.
    pub struct NewInboxItem("NewInboxItem", open) {
        /// Its id.
        required id: String = "id", "inbox-item-id";
        /// Its kind.
        required kind: String = "kind", "inbox-kind";
        /// How urgent it is, from 1 to 5.
        required urgency: u64 = "urgency", "urgency";
        /// Its project.
        required project_id: ProjectId = "project_id", "project-id";
    }
}

envelope! {
    /// A page of the inbox.
    pub struct InboxEnvelope("InboxEnvelope") {
        /// The items, the most urgent first: by urgency, deadline, what waits behind, age.
        required items: Vec<InboxItem> = "items", "inbox-items";
        /// The cursor of the next page; null on the last page.
        required_or_null next_cursor: String = "next_cursor", "cursor";
        /// When it was read. The urgency of items depends on it.
        required as_of: Timestamp = "as_of", "time:iso-8601";
        /// How many items fit, if that was asked.
        optional counts: InboxCounts = "counts", "inbox-counts";
    }

    /// One item, with its evidence.
    pub struct InboxItemEnvelope("InboxItemEnvelope") {
        /// The item.
        required item: InboxItem = "item", "inbox-item";
    }
}

operation! {
    /// Lists what waits for people, in all projects of the key and in every protocol, the most
    /// urgent first.
    pub struct ListInbox("inbox", Get "/accord/v1/inbox") of Agentic {
        query InboxQuery;
        needs Need::Read;
        answers 200 "The items.", Json<InboxEnvelope>;
        refuses [&[Code::AccessDenied, Code::WireFieldMissing, Code::WireFieldValue,
            Code::AgenticInvalidCursor]];
    }

    /// Shows one item with its evidence, its version and what can be done about it.
    pub struct ShowInboxItem("inbox_item", Get "/accord/v1/inbox/{item}") of Agentic {
        path OfItem;
        query Acting;
        needs Need::Read;
        answers 200 "The item.", Json<InboxItemEnvelope>;
        refuses [&[Code::AccessDenied, Code::InboxItemNotFound, Code::IdAmbiguous,
            Code::WireFieldValue]];
    }

    /// A person marks an item: claims, assigns or puts it off, or takes that back. A mark ends no
    /// item.
    pub struct MarkInboxItem("mark_inbox_item", Post "/accord/v1/inbox/{item}/mark") of Agentic {
        path OfItem;
        query Acting;
        body Json<MarkInboxRequest>;
        needs Need::Decide(Decision::PersonAnswer);
        answers 200 "The item.", Json<InboxItemEnvelope>;
        refuses [&[
            Code::AccessDenied,
            Code::NotForWorkers,
            Code::AofPersonRequired,
            Code::XchainConfirmationNeeded,
            Code::InboxItemNotFound,
            Code::IdAmbiguous,
            Code::WireFieldMissing,
            Code::WireFieldValue,
            Code::AgenticProjectArchived,
        ]];
    }

    /// Follows the inbox: a first event with the counts, then one each time that something may have
    /// changed in it, with what is new. A client then reads the list again.
    pub struct FollowInbox("follow_inbox", Get "/accord/v1/inbox/events") of Agentic {
        query FollowInboxQuery;
        needs Need::Read;
        answers 200 "The changes.", Events<InboxChange>;
        refuses [&[Code::AccessDenied, Code::HttpTooManyStreams, Code::HostClosing]];
    }
}
