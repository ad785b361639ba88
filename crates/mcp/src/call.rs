//! One call of a tool: its arguments and its context.

use std::str::FromStr;

use accord_base::{Actor, ActorId, ActorKey, ActorType, IdError, SessionId};
use accord_base::{agent_name, refuse::schema};
use accord_contract::{Code, Failure, Object, Time, Value};

use super::tool_result::OpenSession;

#[derive(Debug)]
pub struct Call<'a> {
    arguments: &'a Object,
    context: &'a CallContext,
    now: Time,
}

/// What is known about a call in addition to its arguments.
#[derive(Clone, Debug, Default)]
pub struct CallContext {
    pub project: Option<String>,
    /// The actor of the key, or the one that the server was started for.
    pub actor: Option<ActorKey>,
    pub client: Option<String>,
    /// The session that was started over this connection and has not ended, or that the call names.
    pub session: Option<OpenSession>,
    /// Whether the client has no connection, so that each call is independent.
    pub stateless: bool,
    /// Whether the host knows the caller by a key, so that the key decides who may be named.
    pub has_key: bool,
    /// Whether the connection knows when a reply was written, and then confirms it.
    pub confirms: bool,
    /// The task or turn that the client works on, if the server was started for one.
    pub work: Option<String>,
    /// What the client says about the call beside its arguments (`_meta`).
    pub meta: Object,
}

impl<'a> Call<'a> {
    pub fn new(arguments: &'a Object, context: &'a CallContext, now: Time) -> Self {
        Self { arguments, context, now }
    }

    /// A member of what the client says about the call beside its arguments (`_meta`).
    pub fn meta(&self, name: &str) -> Option<&'a Value> {
        self.context.meta.get(name)
    }

    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether the connection knows when a reply was written, and then confirms it.
    pub fn confirms(&self) -> bool {
        self.context.confirms
    }

    /// The task or turn that the client works on, if the server was started for one.
    pub fn work(&self) -> Option<&'a str> {
        self.context.work.as_deref()
    }

    pub fn arguments(&self) -> &'a Object {
        self.arguments
    }

    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.arguments.get(name)
    }

    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.value(name).and_then(Value::as_str)
    }

    /// A text argument that must not be missing or empty.
    pub fn required(&self, name: &'static str) -> Result<&'a str, Failure> {
        let text = self.text(name).filter(|text| !text.is_empty());
        text.ok_or_else(|| missing(name, &format!("{name} is missing")))
    }

    pub fn number(&self, name: &str) -> Option<i64> {
        self.value(name).and_then(Value::as_i64)
    }

    /// A boolean argument; `Some` if it is true.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.value(name).and_then(Value::as_bool).filter(|set| *set)
    }

    /// The arguments with these names as members of a document, and the members of `extra`.
    pub fn members(&self, names: &[&str]) -> Object {
        let own = self.value("extra").and_then(Value::as_object);
        let named = self.arguments.iter().filter(|(name, _)| names.contains(&name.as_str()));
        let chosen = named.chain(own.into_iter().flatten());
        chosen.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The project of the call: the argument, else that of the session, else the default.
    pub fn known_project(&self) -> Option<&'a str> {
        let session = self.context.session.as_ref().map(|session| session.project_id.as_str());
        let named = self.text("project_id").filter(|text| !text.is_empty());
        named.or(session).or(self.context.project.as_deref())
    }

    pub fn project(&self) -> Result<&'a str, Failure> {
        let message = "no project: the call has no project_id, and no session was started";
        self.known_project().ok_or_else(|| missing("project_id", message))
    }

    /// The actor of the call: the argument, else that of the session, of the key or of the server,
    /// else an agent with the name of the client.
    ///
    /// The name of a client without a connection is not used: its calls would be recorded under a
    /// name that differs from that of its session.
    pub fn actor(&self) -> Result<Actor, Failure> {
        if self.context.stateless && self.known_actor()?.is_none() {
            let message = "no actor: this client has no MCP session, its key has no actor, and the \
                           call has neither actor nor session_id";
            return Err(Failure::new(Code::McpSessionNeeded, message).at("/session_id"));
        }
        self.starter()
    }

    /// As [`Call::actor`], for tools in which an agent is written as its name alone.
    pub fn agent(&self) -> Result<Actor, Failure> {
        let is_bare = |text: &&str| {
            let kind = text.split_once(':').and_then(|(kind, _)| ActorType::parse(kind));
            !text.is_empty() && kind.is_none()
        };
        let Some(text) = self.text("actor").map(str::trim).filter(is_bare) else {
            return self.actor();
        };
        let id = ActorId::new(text).map_err(|error| invalid("actor", &error))?;
        let named = self.by_one_name(ActorKey { id, kind: ActorType::Agent });
        Ok(Actor::new(named.id, named.kind))
    }

    /// The actor that starts a session: as [`Call::actor`], or an agent with the name of the
    /// client. The receipt of the session names it.
    pub fn starter(&self) -> Result<Actor, Failure> {
        let client = || {
            let id = ActorId::new(agent_name(self.context.client.as_ref()?.trim())).ok()?;
            Some(ActorKey { id, kind: ActorType::Agent })
        };
        let message = "no actor: the call has none, and no session was started";
        let actor = self.known_actor()?.or_else(client).ok_or_else(|| missing("actor", message))?;
        Ok(Actor::new(actor.id, actor.kind))
    }

    /// The actor of the call, with the session that the call names or that was started for the
    /// project.
    pub fn author(&self, project: &str) -> Result<Actor, Failure> {
        let actor = self.actor()?;
        let session = self.context.session.as_ref();
        let started = session.filter(|session| session.project_id == project);
        let session = match self.text("session_id") {
            Some(named) => {
                Some(SessionId::new(named).map_err(|error| invalid("session_id", &error))?)
            }
            None => started.map(|session| session.session_id.clone()),
        };
        Ok(match session {
            Some(session) => actor.in_session(session),
            None => actor,
        })
    }

    /// The session that the call names, or that was started over this connection.
    pub fn session(&self) -> Result<&'a str, Failure> {
        let started = self.context.session.as_ref().map(|session| session.session_id.as_str());
        let named = self.text("session_id").filter(|text| !text.is_empty());
        let message =
            "no session: the call has no session_id, and none was started over this connection";
        named.or(started).ok_or_else(|| missing("session_id", message))
    }

    /// The actor that a model named, by the name under which its agent is recorded: a model does
    /// not know it. The key or the person who started the server can have chosen another one.
    fn by_one_name(&self, named: ActorKey) -> ActorKey {
        let own = self.context.actor.as_ref() == Some(&named);
        match ActorId::new(agent_name(named.id.as_str())) {
            Ok(id) if named.kind == ActorType::Agent && !own => ActorKey { id, ..named },
            _ => named,
        }
    }

    /// The actor of the call, unless only the client has a name. Without a key, a person is the one
    /// for whom the server was started: an agent that may name others could review its own work.
    fn known_actor(&self) -> Result<Option<ActorKey>, Failure> {
        let named = self.text("actor").map(parse_actor).transpose();
        let named = named.map(|named| named.map(|actor| self.by_one_name(actor)));
        let session = self.context.session.as_ref().map(|session| &session.actor);
        let own = self.context.actor.as_ref();
        let known = || session.or(own).cloned();
        let actor = named.map_err(|failure| failure.at("/actor"))?.or_else(known);
        let is_person = |actor: &&ActorKey| actor.kind == ActorType::Human;
        match actor.as_ref().filter(is_person) {
            Some(person) if !self.context.has_key && own != Some(person) => {
                let message = format!(
                    "this server has no key, and cannot act as the person {}",
                    person.id.as_str()
                );
                Err(Failure::new(Code::AofPersonRequired, message).at("/actor").suggesting(
                    "leave actor out and act as an agent; a person decides in a terminal or on a \
                     page, or gives the server a key of their own",
                ))
            }
            _ => Ok(actor),
        }
    }
}

/// Parses an actor such as `agent:claude-code`.
pub fn parse_actor(text: &str) -> Result<ActorKey, Failure> {
    ActorKey::parse(text).map_err(|why| {
        let message = format!("{why}; write an actor as human:ID, agent:ID or script:ID");
        Failure::new(Code::McpArgumentInvalid, message)
    })
}

fn missing(name: &str, message: &str) -> Failure {
    Failure::new(Code::McpArgumentMissing, message).at(format!("/{name}"))
}

fn invalid(name: &str, error: &IdError) -> Failure {
    Failure::new(Code::McpArgumentInvalid, error.to_string()).at(format!("/{name}"))
}

/// An id in the arguments of a call, which is refused as a host refuses it.
pub fn id<T: FromStr<Err = IdError>>(name: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error: IdError| schema(format!("/{name}"), error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_key_only_the_person_of_the_server_is_a_person() {
        let arguments = |actor: &str| Object::from_iter([("actor".to_owned(), actor.into())]);
        let acting = |context: &CallContext, arguments: &Object| {
            let call = Call::new(arguments, context, Time::MIN);
            call.actor().map(|actor| actor.id.to_string()).map_err(|failure| failure.code)
        };
        let (lead, agent) = (parse_actor("human:lead"), parse_actor("agent:claude"));
        let (lead, agent) = (lead.expect("a person"), agent.expect("an agent"));
        let of =
            |actor: &ActorKey| CallContext { actor: Some(actor.clone()), ..CallContext::default() };
        let (none, named) = (Object::new(), arguments("human:lead"));
        let refused = Err(Code::AofPersonRequired);
        assert_eq!(acting(&of(&agent), &named), refused);
        assert_eq!(acting(&CallContext::default(), &named), refused);
        assert_eq!(acting(&of(&lead), &named), Ok("lead".to_owned()));
        assert_eq!(acting(&of(&lead), &arguments("human:other")), refused);
        let with_key = CallContext { has_key: true, ..of(&agent) };
        assert_eq!(acting(&with_key, &named), Ok("lead".to_owned()));
        // The session that a client without a connection names.
        let session = OpenSession {
            session_id: SessionId::new("sess_1").expect("an id"),
            project_id: "shop".to_owned(),
            actor: lead,
        };
        let in_session = CallContext { session: Some(session), ..of(&agent) };
        assert_eq!(acting(&in_session, &none), refused);
    }
}
