//! Actors: who did something.

use std::fmt;

use accord_contract::wire::{DecodeError, Pointer, Shape};
use accord_contract::{Failure, Field, Object, TextForm, Value, Wire, message, wire_enum};

use crate::refuse;
use crate::{ActorId, MAX_ID_CHARS, SessionId};

wire_enum! {
    /// The kinds of actors.
    pub enum ActorType("ActorType", closed) {
        /// A person.
        Human = "human",
        /// A program that decides for itself.
        Agent = "agent",
        /// A program that follows fixed rules.
        Script = "script",
    }
}

message! {
    // Clauses: AGENTIC-R-009.
    /// Who did something, and in which session.
    pub struct Actor("Actor", open) {
        /// The actor's id.
        required id: ActorId = "id", "actor-id";
        /// What kind of actor it is.
        required kind: ActorType = "type", "actor-type";
        /// The session in which it was done.
        nullable session_id: SessionReference = "session_id", "session-id";
    }
}

/// A session's id, or the empty text for no session. Clauses: AGENTIC-R-010.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionReference(Option<SessionId>);

/// The two members that identify an actor. Clauses: AGENTIC-R-024.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ActorKey {
    pub id: ActorId,
    pub kind: ActorType,
}

impl ActorKey {
    /// Reads an actor that is written as its type, a colon and its id, such as `agent:planner`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, id) = text.split_once(':').ok_or("the type is missing")?;
        let kind = ActorType::parse(kind).ok_or("unknown type")?;
        let id = ActorId::new(id.trim()).map_err(|error| error.to_string())?;
        Ok(Self { id, kind })
    }

    /// Checks that no one can take it for another actor, as where an agent is shown by its id
    /// alone. Requests name no such actor; older records can have one.
    pub fn check_distinct(&self) -> Result<(), String> {
        let id = self.id.as_str();
        let begins = |kind: &ActorType| {
            let (start, rest) = id.trim_start().split_once(':').unwrap_or_default();
            start.eq_ignore_ascii_case(kind.as_str()) && !rest.is_empty()
        };
        if self.kind == ActorType::Human || !ActorType::ALL.iter().any(begins) {
            return Ok(());
        }
        Err(format!(
            "the id {id:?} looks like another actor: that of an agent or a script does not begin \
             with human:, agent: or script:"
        ))
    }
}

/// Its type, a colon and its id, as [`ActorKey::parse`] reads it.
impl fmt::Display for ActorKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.kind, self.id)
    }
}

impl Actor {
    /// An actor outside any session.
    pub fn new(id: ActorId, kind: ActorType) -> Self {
        Self { id, kind, session_id: Field::Absent, extra: Object::new() }
    }

    #[must_use]
    pub fn in_session(mut self, session: SessionId) -> Self {
        self.session_id = Field::Value(SessionReference(Some(session)));
        self
    }

    /// Reads an actor from a JSON document, such as a stored one.
    pub fn read(value: Value) -> Result<Self, Failure> {
        Self::from_document(value).map_err(refuse::decoded)
    }

    /// The members that identify the actor.
    pub fn key(&self) -> ActorKey {
        ActorKey { id: self.id.clone(), kind: self.kind }
    }

    /// Whether it is the actor that `key` names, in any session.
    pub fn is(&self, key: &ActorKey) -> bool {
        self.id == key.id && self.kind == key.kind
    }

    pub fn session(&self) -> Option<&SessionId> {
        self.session_id.value().and_then(|named| named.0.as_ref())
    }
}

impl Wire for SessionReference {
    fn shape() -> Shape {
        Shape::Form(TextForm::ANY.chars(0, MAX_ID_CHARS).without_nul())
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        if value == "" {
            return Ok(Self(None));
        }
        SessionId::decode(value, at).map(Some).map(Self)
    }

    fn write(&self, _: accord_contract::wire::Form) -> Value {
        self.0.as_ref().map_or("", SessionId::as_str).into()
    }
}
