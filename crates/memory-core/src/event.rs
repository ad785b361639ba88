//! What happened in a project, as its stream tells it.
//!
//! Invariants:
//! - an event is written with the state that it is about, or not at all;
//! - an event that a reader may not see keeps its number and says nothing else; so does one that is damaged.

use accord_contract::time::{Time, Timestamp};
use accord_contract::wire::{Object, Value, Wire as _};
use accord_contract::wire_enum;

use crate::access::Access;
use crate::lifecycle::Revision;
use crate::package::Status;
use crate::{Actor, ActorKey, Fact, FactId, Package, Project, ProjectId, Session};

wire_enum! {
    /// What kind of thing happened.
    pub enum EventKind("ContextEventType", closed) {
        /// A project was created.
        ProjectCreated = "project.created",
        /// The words about a project changed.
        ProjectUpdated = "project.updated",
        /// A project takes no more writes.
        ProjectArchived = "project.archived",
        /// A project takes writes again.
        ProjectRestored = "project.restored",
        /// A package came in.
        PackageDeposited = "package.deposited",
        /// A package went to another state.
        PackageTransitioned = "package.transitioned",
        /// A fact was asserted.
        FactAsserted = "fact.asserted",
        /// A fact ceased to hold, and nothing took its place.
        FactInvalidated = "fact.invalidated",
        /// A session began.
        SessionStarted = "session.started",
        /// A session ended.
        SessionEnded = "session.ended",
    }
}

/// The type that an event has for a reader who may not see it.
pub const HIDDEN: &str = "hidden";

/// An event that has no number yet.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct NewEvent {
    /// The project in whose stream it stands.
    pub project_id: ProjectId,
    /// What kind of thing happened.
    pub kind: EventKind,
    /// When.
    pub at: Timestamp,
    /// What it was about.
    pub data: Value,
    /// The only actor who may see it; `None` when every reader of the project may.
    pub only_for: Option<ActorKey>,
}

/// The type of an event that is damaged: that something happened is all that is left of it.
pub const DAMAGED: &str = "damaged";

/// An event in its project's stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// What happened; `None` where that can no longer be read.
    pub event: Option<NewEvent>,
}

impl Event {
    /// The event's type as this reader sees it.
    pub fn type_for(&self, access: &Access) -> &'static str {
        match &self.event {
            None => DAMAGED,
            Some(event) if event.is_visible_to(access) => event.kind.as_str(),
            Some(_) => HIDDEN,
        }
    }

    /// The document that this reader gets.
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
    /// A package came in.
    pub fn deposited(package: &Package, now: Time) -> Self {
        Self::about_package(EventKind::PackageDeposited, package, Object::new(), now)
    }

    /// A package went to the state of its last revision.
    pub fn transitioned(package: &Package, revision: &Revision, now: Time) -> Self {
        let mut more = Object::new();
        more.insert("revision".into(), revision.encode());
        Self::about_package(EventKind::PackageTransitioned, package, more, now)
    }

    /// A fact was asserted, and another one ended for it.
    pub fn asserted(fact: &Fact, ended: Option<&FactId>, now: Time) -> Self {
        let mut data = Object::new();
        data.insert("fact".into(), fact.encode());
        if let Some(ended) = ended {
            data.insert("superseded".into(), ended.encode());
        }
        Self::new(EventKind::FactAsserted, &fact.project_id, data, now)
    }

    /// A fact ceased to hold, as somebody said; `fact` has its end.
    pub fn invalidated(fact: &Fact, by: Option<&Actor>, now: Time) -> Self {
        let mut data = Object::from_iter([("fact".into(), fact.encode())]);
        if let Some(by) = by {
            data.insert("invalidated_by".into(), by.encode());
        }
        Self::new(EventKind::FactInvalidated, &fact.project_id, data, now)
    }

    /// A session began.
    pub fn session_started(session: &Session, now: Time) -> Self {
        Self::about_session(EventKind::SessionStarted, session, now)
    }

    /// A session ended.
    pub fn session_ended(session: &Session, now: Time) -> Self {
        Self::about_session(EventKind::SessionEnded, session, now)
    }

    /// A project was created.
    pub fn project_created(project: &Project, now: Time) -> Self {
        Self::about_project(EventKind::ProjectCreated, project, now)
    }

    /// The words about a project changed.
    pub fn project_updated(project: &Project, now: Time) -> Self {
        Self::about_project(EventKind::ProjectUpdated, project, now)
    }

    /// A project takes no more writes.
    pub fn project_archived(project: &Project, now: Time) -> Self {
        Self::about_project(EventKind::ProjectArchived, project, now)
    }

    /// A project takes writes again.
    pub fn project_restored(project: &Project, now: Time) -> Self {
        Self::about_project(EventKind::ProjectRestored, project, now)
    }

    /// An event as an engine stored it.
    pub fn from_stored(
        project_id: ProjectId,
        kind: EventKind,
        at: Timestamp,
        data: Value,
        only_for: Option<ActorKey>,
    ) -> Self {
        Self {
            project_id,
            kind,
            at,
            data,
            only_for,
        }
    }

    fn is_visible_to(&self, access: &Access) -> bool {
        let author = self.only_for.as_ref();
        author.is_none_or(|author| access.sees_drafts_of(author))
    }

    fn about_session(kind: EventKind, session: &Session, now: Time) -> Self {
        let data = Object::from_iter([("session".into(), session.encode())]);
        Self::new(kind, &session.project_id, data, now)
    }

    fn about_project(kind: EventKind, project: &Project, now: Time) -> Self {
        let data = Object::from_iter([("project".into(), project.encode())]);
        Self::new(kind, &project.project_id, data, now)
    }

    fn about_package(kind: EventKind, package: &Package, more: Object, now: Time) -> Self {
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
        let mut event = Self::new(kind, &fields.project_id, data, now);
        // A package never becomes a draft again, so that only its deposit is one's own.
        if fields.status == Status::Draft {
            event.only_for = Some(fields.created_by.key());
        }
        event
    }

    fn new(kind: EventKind, project: &ProjectId, data: Object, now: Time) -> Self {
        Self {
            project_id: project.clone(),
            kind,
            at: Timestamp::emit(now),
            data: Value::Object(data),
            only_for: None,
        }
    }
}
