//! One call of a tool: its arguments, and what is known about who calls.

use accord_base::{Actor, ActorId, ActorKey, ActorType, SessionId};
use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};

use super::outcome::OpenSession;

/// A call of a tool, whose arguments passed the check.
#[derive(Debug)]
pub struct Call<'a> {
    arguments: &'a Object,
    standing: &'a Standing,
    now: Time,
}

/// What is known about who calls, beside the arguments.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// The project of calls that name none.
    pub project: Option<String>,
    /// Who calls: the actor of the key, or the one that the server was started for.
    pub actor: Option<ActorKey>,
    /// What the client calls itself.
    pub client: Option<String>,
    /// The session that was started over this connection, and not ended.
    pub session: Option<OpenSession>,
}

impl<'a> Call<'a> {
    pub(super) fn new(arguments: &'a Object, standing: &'a Standing, now: Time) -> Self {
        Self {
            arguments,
            standing,
            now,
        }
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// An argument, as it was sent.
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.arguments.get(name)
    }

    /// An argument that is a text.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.value(name).and_then(Value::as_str)
    }

    /// An argument that is a text which a request cannot do without.
    ///
    /// # Errors
    /// When it is missing or empty.
    pub fn demanded(&self, name: &'static str) -> Result<&'a str, Failure> {
        let text = self.text(name).filter(|text| !text.is_empty());
        text.ok_or_else(|| missing(name, format!("{name} is missing")))
    }

    /// An argument that is a whole number.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.value(name).and_then(Value::as_i64)
    }

    /// An argument that is true or false; `Some` when it is true.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.value(name).and_then(Value::as_bool).filter(|set| *set)
    }

    /// The arguments that are members of a document under the same names, and the members of the
    /// caller's own in `extra`.
    pub fn members(&self, names: &[&str]) -> Object {
        let own = self.value("extra").and_then(Value::as_object);
        let named = self.arguments.iter();
        let named = named.filter(|(name, _)| names.contains(&name.as_str()));
        named
            .chain(own.into_iter().flatten())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// The project that is meant: the one that the call names, that of the session, or that of the
    /// server.
    pub fn known_project(&self) -> Option<&'a str> {
        let session = self.standing.session.as_ref();
        let named = self.text("project_id").filter(|text| !text.is_empty());
        named
            .or(session.map(|session| session.project_id.as_str()))
            .or(self.standing.project.as_deref())
    }

    /// The project that is meant.
    ///
    /// # Errors
    /// When none is known.
    pub fn project(&self) -> Result<&'a str, Failure> {
        self.known_project().ok_or_else(|| {
            let message = "no project is known: the call names none, and no session was started";
            missing("project_id", message.into())
        })
    }

    /// Who calls: the actor that the call names, that of the session, that of the key or the server,
    /// or else an agent of the name that the client gave.
    ///
    /// # Errors
    /// When the argument names no actor, or nothing is known.
    pub fn actor(&self) -> Result<Actor, Failure> {
        let known = match self.text("actor") {
            Some(named) => Some(parse_actor(named).map_err(|failure| failure.at("/actor"))?),
            None => self.known_actor(),
        };
        let known = known.ok_or_else(|| missing("actor", "nobody is known who calls".into()))?;
        Ok(Actor::new(known.id, known.kind))
    }

    /// Who calls, in the session that the call names, or that was started for the project.
    ///
    /// # Errors
    /// When nothing is known, or an argument is not as it must be.
    pub fn author(&self, project: &str) -> Result<Actor, Failure> {
        let actor = self.actor()?;
        let session = self.standing.session.as_ref();
        let started = session.filter(|session| session.project_id == project);
        let session = match self.text("session_id") {
            Some(named) => Some(SessionId::new(named).map_err(|error| {
                Failure::new(Code::McpArgumentInvalid, error.to_string()).at("/session_id")
            })?),
            None => started.map(|session| session.session_id.clone()),
        };
        Ok(match session {
            Some(session) => actor.in_session(session),
            None => actor,
        })
    }

    /// The session that the call names, or that was started over this connection.
    ///
    /// # Errors
    /// When there is neither.
    pub fn session(&self) -> Result<&'a str, Failure> {
        let started = self.standing.session.as_ref();
        let started = started.map(|session| session.session_id.as_str());
        let named = self.text("session_id").filter(|text| !text.is_empty());
        named.or(started).ok_or_else(|| {
            let message = "the call names no session, and none was started over this connection";
            missing("session_id", message.into())
        })
    }

    fn known_actor(&self) -> Option<ActorKey> {
        let session = self.standing.session.as_ref();
        let known = session.map(|session| &session.actor);
        let known = known.or(self.standing.actor.as_ref());
        known.cloned().or_else(|| {
            let id = ActorId::new(self.standing.client.as_ref()?.trim()).ok()?;
            let kind = ActorType::Agent;
            Some(ActorKey { id, kind })
        })
    }
}

/// Reads an actor that is written as its type, a colon and its id, such as `agent:claude-code`.
///
/// # Errors
/// When it is not written so.
pub fn parse_actor(text: &str) -> Result<ActorKey, Failure> {
    ActorKey::parse(text).map_err(|why| {
        let message = format!("{why}; write an actor as human:ID, agent:ID or script:ID");
        Failure::new(Code::McpArgumentInvalid, message)
    })
}

fn missing(name: &str, message: String) -> Failure {
    Failure::new(Code::McpArgumentMissing, message).at(format!("/{name}"))
}
