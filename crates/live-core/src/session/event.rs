//! The events of live sessions in the stream of their project.
//!
//! An event names the session, its app and the number in the ledger. What a person entered stays
//! in the ledger, whose readers are those of the session. The event of an answer has its actor, its
//! door and a digest of what was entered, which outlast the session.

use accord_base::{EventKind, NewEvent, ProjectId};
use accord_contract::{Object, Time};

use super::{BY, DOOR, LedgerName, LedgerRow, PERSON, Session};
use crate::contract::digest;
use crate::json::{members, put};

macro_rules! kinds {
    ($($(#[doc = $about:literal])* $name:ident = $text:literal;)*) => {
        $($(#[doc = $about])* pub const $name: EventKind = EventKind::declared($text);)*

        /// Every kind of event of live sessions.
        pub const KINDS: &[EventKind] = &[$($name),*];
    };
}

kinds! {
    SESSION_STARTED = "live.session.started";
    SESSION_EXPIRED = "live.session.expired";
    UI_CREATED = "live.ui.created";
    UI_UPDATED = "live.ui.updated";
    UI_COMMITTED = "live.ui.committed";
    UI_REMINTED = "live.ui.reminted";
    TOOL_CALLED = "live.tool.called";
    TOOL_RESULT = "live.tool.result";
    USER_SUBMITTED = "live.user.submitted";
    CUSTOM = "live.custom";
}

pub(super) fn started(session: &Session, project: &ProjectId, now: Time) -> NewEvent {
    NewEvent::new(SESSION_STARTED, project, about(session), now)
}

pub(super) fn expired(session: &Session, project: &ProjectId, now: Time) -> NewEvent {
    NewEvent::new(SESSION_EXPIRED, project, about(session), now)
}

pub(super) fn of_ledger(session: &Session, row: &LedgerRow, project: &ProjectId) -> NewEvent {
    let kind = match row.kind.known() {
        Some(LedgerName::UiCreated) => UI_CREATED,
        Some(LedgerName::UiUpdated) => UI_UPDATED,
        Some(LedgerName::UiCommitted) => UI_COMMITTED,
        Some(LedgerName::UiReminted) => UI_REMINTED,
        Some(LedgerName::ToolCalled) => TOOL_CALLED,
        Some(LedgerName::ToolResult) => TOOL_RESULT,
        Some(LedgerName::UserSubmitted) => USER_SUBMITTED,
        None => CUSTOM,
    };
    let mut data = about(session);
    data.insert("sequence".into(), row.seq.into());
    if kind == CUSTOM {
        data.insert("type".into(), row.kind.as_str().into());
    }
    put(&mut data, "action", row.action());
    if kind == USER_SUBMITTED {
        // What was entered goes with the session. Who decided what stays.
        for (name, member) in [("actor", BY), ("door", DOOR), ("person", PERSON)] {
            put(&mut data, name, row.data.get(member).cloned());
        }
        put(&mut data, "digest", entered(row));
    }
    NewEvent::new(kind, project, data, row.at)
}

/// The digest of what was entered.
pub(super) fn entered(row: &LedgerRow) -> Option<String> {
    let digest = digest(row.data.get("payload")?).ok()?;
    Some(format!("sha256:{}", digest.hex()))
}

fn about(session: &Session) -> Object {
    members([
        ("session_id", session.id.as_str().into()),
        ("app_id", session.app_id.as_str().into()),
    ])
}
