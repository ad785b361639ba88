//! The events of the Agentic Protocol.

use accord_contract::{Object, Time, Wire as _};

use crate::lifecycle::Revision;
use crate::package::Status;
use crate::{Actor, EventKind, Fact, FactId, NewEvent, Package, Project, ProjectId, Session};

macro_rules! kinds {
    ($($(#[doc = $about:literal])* $name:ident = $text:literal;)*) => {
        $($(#[doc = $about])* pub const $name: EventKind = EventKind::declared($text);)*

        /// Every kind of this protocol.
        pub const KINDS: &[EventKind] = &[$($name),*];
    };
}

kinds! {
    /// A project was created.
    PROJECT_CREATED = "project.created";
    /// The name, description or other members of a project changed.
    PROJECT_UPDATED = "project.updated";
    /// A project was archived.
    PROJECT_ARCHIVED = "project.archived";
    /// A project was restored from the archive.
    PROJECT_RESTORED = "project.restored";
    /// A project was removed. It is the last event of its stream.
    PROJECT_REMOVED = "project.removed";
    /// A package was deposited.
    PACKAGE_DEPOSITED = "package.deposited";
    /// A package changed its status or reviewer.
    PACKAGE_TRANSITIONED = "package.transitioned";
    /// A fact was asserted.
    FACT_ASSERTED = "fact.asserted";
    /// A fact was invalidated, and no other fact replaced it.
    FACT_INVALIDATED = "fact.invalidated";
    /// A session began.
    SESSION_STARTED = "session.started";
    /// A session ended.
    SESSION_ENDED = "session.ended";
}

pub fn deposited(package: &Package, now: Time) -> NewEvent {
    about_package(PACKAGE_DEPOSITED, package, Object::new(), now)
}

/// A package moved to the state of its last revision.
pub fn transitioned(package: &Package, revision: &Revision, now: Time) -> NewEvent {
    let more = Object::from_iter([("revision".into(), revision.encode())]);
    about_package(PACKAGE_TRANSITIONED, package, more, now)
}

/// A fact was asserted; `ended` is the fact that it replaced.
pub fn asserted(fact: &Fact, ended: Option<&FactId>, now: Time) -> NewEvent {
    let mut data = Object::from_iter([("fact".into(), fact.encode())]);
    if let Some(ended) = ended {
        data.insert("superseded".into(), ended.encode());
    }
    NewEvent::new(FACT_ASSERTED, &fact.project_id, data, now)
}

/// A fact was invalidated; `fact` has its end.
pub fn invalidated(fact: &Fact, by: Option<&Actor>, now: Time) -> NewEvent {
    let mut data = Object::from_iter([("fact".into(), fact.encode())]);
    if let Some(by) = by {
        data.insert("invalidated_by".into(), by.encode());
    }
    NewEvent::new(FACT_INVALIDATED, &fact.project_id, data, now)
}

/// A project was removed; nothing but its id is left.
pub fn project_removed(project: &ProjectId, at: Time) -> NewEvent {
    let data = Object::from_iter([("project_id".into(), project.encode())]);
    NewEvent::new(PROJECT_REMOVED, project, data, at)
}

pub fn about_session(kind: EventKind, session: &Session, now: Time) -> NewEvent {
    let data = Object::from_iter([("session".into(), session.encode())]);
    NewEvent::new(kind, &session.project_id, data, now)
}

pub fn about_project(kind: EventKind, project: &Project, now: Time) -> NewEvent {
    let data = Object::from_iter([("project".into(), project.encode())]);
    NewEvent::new(kind, &project.project_id, data, now)
}

fn about_package(kind: EventKind, package: &Package, more: Object, now: Time) -> NewEvent {
    let fields = package.fields();
    let mut data = Object::new();
    for (name, value) in [
        ("package_id", fields.package_id.encode()),
        ("title", fields.title.encode()),
        ("package_type", fields.package_type.encode()),
        ("status", fields.status.encode()),
        ("review_type", fields.review_type.encode()),
        ("created_at", fields.created_at.encode()),
        ("created_by", fields.created_by.encode()),
        ("content_hash", package.content_hash().encode()),
    ] {
        data.insert(name.into(), value);
    }
    data.extend(more);
    let mut event = NewEvent::new(kind, &fields.project_id, data, now);
    // A package never becomes a draft again, so only its deposit can be hidden from others.
    if fields.status == Status::Draft {
        event.only_for = Some(fields.created_by.key());
    }
    event
}
