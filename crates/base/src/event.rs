//! Entries of a project's event stream, whichever protocol wrote them.
//!
//! Invariants:
//! - an event is committed together with the change that it reports, or not at all;
//! - an event that a reader may not see keeps its number and shows nothing else, and so does one
//!   that is damaged;
//! - an event of a kind that a reader does not know is passed on unchanged.

use std::borrow::Cow;
use std::fmt;

use accord_contract::{Object, Time, Timestamp, Value, Wire as _};

use crate::{Access, ActorKey, ProjectId};

/// What kind of thing happened: a namespace of a protocol and a name, such as `package.deposited`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EventKind(Cow<'static, str>);

/// A text that is not an event kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "an event kind is a namespace and a name with a dot between them, in lower-case letters, \
     digits, - and _"
)]
pub struct EventKindError;

/// The type of an event that the reader may not see. It has no dot, so it is never a kind.
pub const HIDDEN: &str = "hidden";

/// The type of an event that is damaged. It has no dot, so it is never a kind.
pub const DAMAGED: &str = "damaged";

/// An event without its number, which the store assigns.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewEvent {
    pub project_id: ProjectId,
    pub kind: EventKind,
    pub at: Timestamp,
    /// The details, in the form that the kind defines.
    pub data: Value,
    /// The only actor who may see it; `None` when every reader of the project may.
    pub only_for: Option<ActorKey>,
}

/// An event in its project's stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// What happened; `None` when it can no longer be read.
    pub event: Option<NewEvent>,
}

impl EventKind {
    /// A kind that a protocol declares, of the form that [`EventKind::parse`] accepts.
    pub const fn declared(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    pub fn parse(text: impl Into<String>) -> Result<Self, EventKindError> {
        let text = text.into();
        let is_part = |part: &str| {
            let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            part.starts_with(|first: char| first.is_ascii_lowercase())
                && part.bytes().all(|byte| rest(byte) || b"-_".contains(&byte))
        };
        if text.contains('.') && text.split('.').all(is_part) {
            Ok(Self(Cow::Owned(text)))
        } else {
            Err(EventKindError)
        }
    }

    /// The kind of another program's event in a namespace, such as `task.` and `lease.acquired`. A
    /// type that is no kind is written with the characters that a kind may have.
    pub fn within(namespace: &str, own: &str) -> Self {
        let named = match own.starts_with(namespace) {
            true => own.to_owned(),
            false => format!("{namespace}{own}"),
        };
        Self::parse(named).unwrap_or_else(|_| {
            let plain = |character: char| match character.to_ascii_lowercase() {
                character @ ('a'..='z' | '0'..='9' | '-' | '_') => character,
                _ => '_',
            };
            let name: String = own.chars().map(plain).collect();
            Self(Cow::Owned(format!("{namespace}other.e{name}")))
        })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Event {
    /// The event's type as this reader sees it.
    pub fn type_for(&self, access: &Access) -> &str {
        match &self.event {
            None => DAMAGED,
            Some(event) if event.is_visible_to(access) => event.kind.as_str(),
            Some(_) => HIDDEN,
        }
    }

    /// Whether this reader may not see it.
    pub fn is_hidden_from(&self, access: &Access) -> bool {
        self.event.as_ref().is_some_and(|event| !event.is_visible_to(access))
    }

    /// The event as this reader sees it.
    pub fn document_for(&self, access: &Access) -> Value {
        let mut document = Object::new();
        document.insert("type".into(), self.type_for(access).into());
        let event = self.event.as_ref();
        if let Some(event) = event.filter(|event| event.is_visible_to(access)) {
            document.insert("seq".into(), self.seq.into());
            document.insert("project_id".into(), event.project_id.encode());
            document.insert("at".into(), event.at.encode());
            document.insert("data".into(), event.data.clone());
        }
        Value::Object(document)
    }
}

impl NewEvent {
    /// An event that every reader of the project may see.
    pub fn new(kind: EventKind, project: &ProjectId, data: Object, now: Time) -> Self {
        Self {
            project_id: project.clone(),
            kind,
            at: Timestamp::emit(now),
            data: Value::Object(data),
            only_for: None,
        }
    }

    fn is_visible_to(&self, access: &Access) -> bool {
        let author = self.only_for.as_ref();
        author.is_none_or(|author| access.sees_drafts_of(author))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_other_programs_have_the_namespace_once() {
        for (own, expected) in [
            ("task.transitioned", "task.transitioned"),
            ("lease.acquired", "task.lease.acquired"),
            ("scheduler_alert", "task.scheduler_alert"),
            ("concurrency.platformLimit", "task.other.econcurrency_platformlimit"),
            ("", "task.other.e"),
        ] {
            assert_eq!(EventKind::within("task.", own).as_str(), expected);
        }
    }
}
