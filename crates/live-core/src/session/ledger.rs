//! The ledger of a session: what happened in it, numbered without gaps.

use accord_contract::{Extensible, Object, Time, Value, rule, wire_enum};

use crate::json::members;

wire_enum! {
    /// The types of ledger events.
    pub enum LedgerName("GguiLedgerEvent", closed) {
        /// A UI was created.
        UiCreated = "ui.created",
        /// The props of a UI changed.
        UiUpdated = "ui.updated",
        /// A UI was committed.
        UiCommitted = "ui.committed",
        /// A UI got a new epoch.
        UiReminted = "ui.reminted",
        /// A tool was called.
        ToolCalled = "tool.called",
        /// A tool answered.
        ToolResult = "tool.result",
        /// A person submitted something.
        UserSubmitted = "user.submitted",
    }
}

/// The type of a ledger event. An implementation can add types with the prefix `x-` or `ext:`.
pub type LedgerKind = Extensible<LedgerName>;

#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRow {
    /// Its number, from 1.
    pub seq: u64,
    pub at: Time,
    pub kind: LedgerKind,
    pub data: Value,
    /// Its id in the pipe. Without it the event is not in the pipe.
    pub event_id: Option<String>,
    /// What recognises it if it is sent again, unique in the session.
    pub key: Option<DedupKey>,
}

/// What recognises an action that is sent again.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct DedupKey(String);

impl DedupKey {
    pub(super) fn numbered(client_id: &str, client_seq: u64) -> Self {
        Self(format!("client:{client_seq}:{client_id}"))
    }

    pub fn identified(action_id: &str) -> Self {
        Self(format!("action:{action_id}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The id in the pipe of an event that came without one: eight digits from its number, which no
/// other event of the session has.
pub(super) fn minted_event_id(seq: u64) -> String {
    format!("{:08x}", seq & 0xffff_ffff)
}

/// The type of a ledger event of this text, if it is one.
///
/// Clauses: GGUI-LEDGER-TYPES.
pub fn ledger_kind(text: &str) -> Option<LedgerKind> {
    let kind = LedgerKind::from_text(text);
    let mut prefixes = ["x-", "ext:"].iter();
    let is_custom = prefixes.any(|it| text.strip_prefix(it).is_some_and(|rest| !rest.is_empty()));
    let is_type = rule!(kind.known().is_some() || is_custom; AnyEventType => true);
    is_type.then_some(kind)
}

impl LedgerRow {
    pub fn document(&self) -> Object {
        members([
            ("seq", self.seq.into()),
            ("type", self.kind.as_str().into()),
            ("timestamp", self.at.to_string().into()),
            ("data", self.data.clone()),
        ])
    }

    pub(super) fn action(&self) -> Option<&str> {
        self.data.get("payload")?.get("action")?.as_str()
    }
}
