//! Units of work: the access of a job to the store within its transaction.

use crate::{
    Audit, BlobWrites, Blobs, Briefings, DecisionWrites, Decisions, EdgeWrites, Edges,
    EmbeddingWrites, Embeddings, EventWrites, Events, FactWrites, Facts, Inbox, InboxWrites,
    KeyWrites, Keys, LiveSessionWrites, LiveSessions, NoticeWrites, Notices, PackageWrites,
    Packages, People, PersonWrites, ProjectWrites, Projects, Repair, Search, SessionWrites,
    Sessions, SettingWrites, Settings, Totals,
};

/// Declares a unit: a trait of everything that has these traits.
macro_rules! unit {
    ($(#[doc = $about:literal])+ $name:ident: $($part:ident),+) => {
        $(#[doc = $about])+
        pub trait $name: $($part +)+ {}

        impl<U: $($part +)+> $name for U {}
    };
}

unit! {
    /// A snapshot of the store.
    ///
    /// Later writes do not change what a unit sees.
    ReadUnit: Audit, Blobs, Briefings, Decisions, Edges, Embeddings, Events, Facts, Inbox, Keys,
        LiveSessions, Notices, Packages, People, Projects, Search, Sessions, Settings, Totals
}

unit! {
    /// A transaction. It sees its own writes, and is committed as a whole or not at all.
    WriteUnit: ReadUnit, BlobWrites, DecisionWrites, EdgeWrites, EmbeddingWrites, EventWrites,
        FactWrites, InboxWrites, KeyWrites, LiveSessionWrites, NoticeWrites, PackageWrites,
        PersonWrites,
        ProjectWrites, Repair, SessionWrites, SettingWrites
}
