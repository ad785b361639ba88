//! Who acts, through which door, and how it is known that a person is there.

use accord_contract::{Code, Failure, Time, wire_enum};

use crate::decision::DecisionId;
use crate::{Actor, ActorId, ActorKey, ActorType};

wire_enum! {
    /// The door of a request. Its names stand in stored records.
    pub enum Door("Door", closed) {
        /// A command.
        Cli = "cli",
        /// A loop of a command: the person decided when the loop was started.
        Loop = "loop",
        /// A program that uses the library.
        Api = "api",
        /// A route of a host.
        Http = "http",
        /// A tool of the Model Context Protocol.
        Mcp = "mcp",
        /// A message of AOF/1.
        Message = "message",
        /// A page of the host, for the person who signed in there.
        Page = "page",
        /// The channel of a live session.
        Channel = "channel",
        /// A tool that a page of a live session calls. Older records name it.
        Tool = "tool",
        /// The frame of a live session in an MCP Apps host.
        McpApp = "mcp-app",
    }
}

wire_enum! {
    /// How it is known that a person is there. The names stand in stored records.
    pub enum KnownBy("KnownBy", closed) {
        /// By the login of a page.
        Login = "login",
        /// By the key of the person.
        Key = "key",
        /// By a terminal, at which the person was asked.
        Terminal = "terminal",
        /// It is not known: a process without a terminal, or the holder of a key of no person,
        /// named the person.
        Nothing = "none",
    }
}

/// How it is known that a person is there.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Presence {
    /// `None` if no person decides.
    pub known_by: Option<KnownBy>,
    /// The key behind the request or the login.
    pub key_id: Option<String>,
    /// The user of the operating system, for a process on this machine.
    pub os_user: Option<String>,
    /// The processes of workers that still ran, in spite of which the person decided.
    pub left_running: Option<String>,
    /// The hub where the person decided, for an edge that applies it.
    pub hub: Option<Box<DecidedOnHub>>,
}

/// A decision that a person took on a hub.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DecidedOnHub {
    /// The hub, by the incarnation of its store.
    pub hub: String,
    /// The id of the decision. The records of the hub and of the edge have the same.
    pub decision_id: DecisionId,
    /// When the person decided, by the clock of the hub.
    pub decided_at: Time,
    /// How the hub knew the person.
    pub known_by: KnownBy,
    /// The key behind the request or the login.
    pub key_id: Option<String>,
}

/// Who acts, through which door.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct By {
    pub actor: Actor,
    pub door: Door,
    pub presence: Presence,
    name: String,
}

impl Presence {
    /// How the record of a decision says that the person is known.
    pub fn known_by(&self) -> KnownBy {
        self.known_by.unwrap_or(KnownBy::Nothing)
    }

    /// What the files of a protocol say about it; nothing where it is known.
    pub fn recorded(&self) -> Option<&'static str> {
        (self.known_by == Some(KnownBy::Nothing)).then_some("no terminal")
    }
}

impl From<KnownBy> for Presence {
    fn from(known_by: KnownBy) -> Self {
        Self { known_by: Some(known_by), ..Self::default() }
    }
}

impl By {
    pub fn new(actor: Actor, door: Door) -> Self {
        let name = match actor.kind {
            ActorType::Agent if actor.key().check_distinct().is_ok() => actor.id.to_string(),
            kind => format!("{kind}:{}", actor.id),
        };
        Self { actor, door, presence: Presence::default(), name }
    }

    /// The same, with how it is known that a person is there.
    #[must_use]
    pub fn present(mut self, presence: Presence) -> Self {
        self.presence = presence;
        self
    }

    /// Reads an actor: its type, a colon and its id, or the id of an agent alone.
    pub fn parse(text: &str, door: Door) -> Result<Self, Failure> {
        let key = match text.split_once(':') {
            Some((kind, _)) if ActorType::parse(kind).is_some() => ActorKey::parse(text),
            _ => ActorId::new(text)
                .map(|id| ActorKey { id, kind: ActorType::Agent })
                .map_err(|error| error.to_string()),
        };
        let key = key.and_then(|key| key.check_distinct().map(|()| key));
        let key = key.map_err(|why| {
            Failure::new(Code::WireFieldValue, format!("{text:?} is not an actor: {why}"))
        })?;
        Ok(Self::new(Actor::new(key.id, key.kind), door))
    }

    /// The name in files and events: an agent's own name, unless it looks like another actor, else
    /// `human:NAME`, `script:NAME`, `agent:NAME`.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn is_person(&self) -> bool {
        self.actor.kind == ActorType::Human
    }

    pub fn is_agent(&self) -> bool {
        self.actor.kind == ActorType::Agent
    }

    /// Checks that a person acts. Fails with `person_required`.
    pub fn check_person(&self, verb: &str) -> Result<(), Failure> {
        if self.is_person() {
            return Ok(());
        }
        let message = format!("{} is not a person, and only a person can {verb}", self.name);
        Err(Failure::new(Code::AofPersonRequired, message).with("actor", self.name.as_str()))
    }

    /// The agent that a request names, else the caller. An agent acts for itself alone.
    pub fn agent<'a>(&'a self, named: Option<&'a str>) -> Result<&'a str, Failure> {
        match named {
            Some(named) if self.is_agent() && named != self.name => {
                let message = format!("{} cannot act as {named}", self.name);
                Err(Failure::new(Code::AofUnauthorizedAgent, message)
                    .with("expected", self.name.as_str())
                    .with("received", named))
            }
            Some(named) => Ok(named),
            None if self.is_agent() => Ok(&self.name),
            None => {
                let message = format!("{} is not an agent; name the agent", self.name);
                Err(Failure::new(Code::WireFieldMissing, message).at("/agent"))
            }
        }
    }
}
