//! Sessions: a period of work of one actor.
//!
//! Invariants:
//! - the end of a session never changes;
//! - a callsign is for people and is not unique.

use std::collections::BTreeSet;

use accord_contract::{
    Code, Failure, Field, Limits, Object, Time, Timestamp, Value, Wire as _, message,
};

use crate::callsign::callsign;
use crate::limits::{CALLSIGN, MAX_DOCUMENT_BYTES};
use crate::package::Title;
use crate::project::{Project, Writing};
use crate::{Actor, ActorId, ActorType, PackageId, ProjectId, SessionId, refuse, text};

message! {
    /// A period of work of one actor.
    pub struct Session("Session", open) {
        /// The session's id.
        required session_id: SessionId = "session_id", "session-id";
        /// The project of the session.
        required project_id: ProjectId = "project_id", "project-id";
        /// The actor.
        required actor_id: ActorId = "actor_id", "actor-id";
        /// The kind of actor.
        required actor_type: ActorType = "actor_type", "actor-type";
        /// Two words by which people remember it.
        required_or_null callsign: String = "callsign", "callsign", Limits::text(CALLSIGN);
        /// When it began.
        required started_at: Timestamp = "started_at", "time:rfc-3339-utc";
        /// When it ended; null while it is active.
        required_or_null ended_at: Timestamp = "ended_at", "time:rfc-3339-utc";
        /// The packages that were deposited in it.
        required packages_deposited: Vec<PackageId> = "packages_deposited", "package-ids";
    }

    /// Asks for a new session.
    pub struct SessionRequest("SessionRequest", open) {
        /// The project; it must be that of the path.
        nullable project_id: ProjectId = "project_id", "project-id", Limits::read_only();
        /// The actor; the key's actor if absent.
        nullable actor_id: ActorId = "actor_id", "actor-id";
        /// The kind of actor.
        nullable actor_type: ActorType = "actor_type", "actor-type";
        /// Two words by which people remember it; generated if absent.
        nullable callsign: Title = "callsign", "callsign";
    }

    /// Ends a session.
    pub struct SessionEnd("SessionEnd", closed) {
        /// When it ended; now if absent. Never later than now.
        nullable ended_at: Timestamp = "ended_at", "time:rfc-3339-utc";
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Started {
    pub create_project: Option<Project>,
    pub session: Session,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SessionUpdate {
    /// It ended before.
    Unchanged,
    Ended(Box<Session>),
}

impl SessionRequest {
    /// Reads the request for a session of a project. An empty body means the key's actor. Fails
    /// when the body is not such a request, or names another project.
    pub fn parse(body: &[u8], project: &ProjectId) -> Result<Self, Failure> {
        let body = if body.trim_ascii().is_empty() { b"{}" } else { body };
        let mut members = text::object(body, MAX_DOCUMENT_BYTES)?;
        let own = ["session_id", "started_at", "ended_at", "packages_deposited"];
        refuse::not_yours(&mut members, &own)?;
        let asked = Self::from_document(Value::Object(members)).map_err(refuse::decoded)?;
        if asked.project_id.value().is_some_and(|named| named != project) {
            let message = "the session says that it belongs to another project";
            return Err(refuse::schema("/project_id", message));
        }
        Ok(asked)
    }

    /// The actor that the request names, if any. Fails when it names an id without a type, or a
    /// type without an id.
    pub fn actor(&self) -> Result<Option<Actor>, Failure> {
        match (&self.actor_id, &self.actor_type) {
            (Field::Value(id), Field::Value(kind)) => Ok(Some(Actor::new(id.clone(), *kind))),
            (Field::Value(_), _) => Err(refuse::schema("/actor_type", "actor_type is missing")),
            (_, Field::Value(_)) => Err(refuse::schema("/actor_id", "actor_id is missing")),
            _ => Ok(None),
        }
    }
}

impl SessionEnd {
    /// Reads the request that ends a session. An empty body ends it now.
    pub fn parse(body: &[u8]) -> Result<Self, Failure> {
        let body = if body.trim_ascii().is_empty() { b"{}" } else { body };
        let members = text::object(body, MAX_DOCUMENT_BYTES)?;
        Self::from_document(Value::Object(members)).map_err(refuse::decoded)
    }

    /// When the session ended.
    pub fn at(&self, now: Time) -> Time {
        let named = self.ended_at.value().map(Timestamp::time);
        named.map_or(now, |named| named.min(now))
    }
}

/// Starts a session of the actor that writes, with an id and a callsign made from 32 random bytes.
/// Fails with `invalid_schema` when no actor is known, with `project_archived` or
/// `project_not_found`.
/// Clauses: AGENTIC-R-122.
pub fn start(
    asked: SessionRequest,
    writing: &Writing<'_>,
    random: [u8; 32],
) -> Result<Started, Failure> {
    let Some(actor) = writing.actor else {
        return Err(refuse::schema("/actor_id", "actor_id and actor_type are missing"));
    };
    let create_project = writing.admit()?;
    let (for_id, for_callsign) = random.split_at(16);
    let for_id = for_id.try_into().expect("sixteen of 32 bytes");
    let made_up = || callsign(u16::from_le_bytes([for_callsign[0], for_callsign[1]]));
    let session = Session {
        session_id: SessionId::mint(for_id),
        project_id: writing.project_id.clone(),
        actor_id: actor.id.clone(),
        actor_type: actor.kind,
        callsign: Some(match asked.callsign {
            Field::Value(named) => named.as_str().to_owned(),
            Field::Absent | Field::Null => made_up(),
        }),
        started_at: Timestamp::emit(writing.now),
        ended_at: None,
        packages_deposited: Vec::new(),
        extra: asked.extra,
    };
    Ok(Started { create_project, session })
}

impl Session {
    /// Reads a session as it is exported or stored: as [`Session`] writes it, or
    /// without the members that have a default.
    pub fn read(mut members: Object) -> Result<Self, Failure> {
        for (name, default) in [
            ("callsign", Value::Null),
            ("ended_at", Value::Null),
            ("packages_deposited", Value::Array(Vec::new())),
        ] {
            let member = members.entry(name).or_insert(Value::Null);
            if member.is_null() {
                *member = default;
            }
        }
        Self::from_document(Value::Object(members)).map_err(refuse::decoded)
    }

    /// The session with the packages that name it, by `created_at`, after those that were imported
    /// with it.
    /// Clauses: AGENTIC-R-123.
    #[must_use]
    pub fn with_packages(mut self, deposited: impl IntoIterator<Item = PackageId>) -> Self {
        let mut listed: BTreeSet<_> = self.packages_deposited.iter().cloned().collect();
        for package in deposited {
            if listed.insert(package.clone()) {
                self.packages_deposited.push(package);
            }
        }
        self
    }

    /// The session, ended now.
    #[must_use]
    pub fn ended(&self, now: Time) -> SessionUpdate {
        if self.ended_at.is_some() {
            return SessionUpdate::Unchanged;
        }
        let mut session = self.clone();
        // An imported session may begin later than the clock of this host.
        session.ended_at = Some(if now < self.started_at.time() {
            self.started_at.clone()
        } else {
            Timestamp::emit(now)
        });
        SessionUpdate::Ended(Box::new(session))
    }
}

pub fn not_found(session: &SessionId) -> Failure {
    let message = format!("there is no session {:?}", session.as_str());
    Failure::new(Code::AgenticSessionNotFound, message)
}
