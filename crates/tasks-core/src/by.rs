//! Who acts, and through which door.

use accord_base::{Actor, ActorId, ActorKey, ActorType};
use accord_contract::codes::{Code, Failure};
use accord_contract::wire_enum;

use crate::lease::unauthorized;
use crate::task::Task;

wire_enum! {
    /// The door of a request.
    pub enum Door("TaskDoor", closed) {
        /// A command.
        Cli = "cli",
        /// A route of a host.
        Http = "http",
        /// A tool of the Model Context Protocol.
        Mcp = "mcp",
        /// A message of AOF/1.
        Message = "message",
    }
}

/// Who acts, and through which door.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct By {
    /// The actor.
    pub actor: Actor,
    /// The door.
    pub door: Door,
    name: String,
}

impl By {
    /// An actor, through a door.
    pub fn new(actor: Actor, door: Door) -> Self {
        let name = name_of(&actor.key());
        Self { actor, door, name }
    }

    /// An actor that is written as its type, a colon and its id, or an agent that is written as
    /// its id alone.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn parse(text: &str, door: Door) -> Result<Self, Failure> {
        let key = match text.split_once(':') {
            Some((kind, _)) if ActorType::parse(kind).is_some() => ActorKey::parse(text),
            _ => ActorId::new(text)
                .map(|id| ActorKey { id, kind: ActorType::Agent })
                .map_err(|error| error.to_string()),
        };
        let key = key.map_err(|why| {
            Failure::new(Code::WireFieldValue, format!("{text:?} is not an actor: {why}"))
        })?;
        Ok(Self::new(Actor::new(key.id, key.kind), door))
    }

    /// The name in task files and events: an agent's own name, `human:NAME`, `script:NAME`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a person acts.
    pub fn is_person(&self) -> bool {
        self.actor.kind == ActorType::Human
    }

    /// Whether an agent acts.
    pub fn is_agent(&self) -> bool {
        self.actor.kind == ActorType::Agent
    }

    /// Checks that a person acts.
    ///
    /// # Errors
    /// `person_required`.
    pub fn check_person(&self, verb: &str) -> Result<(), Failure> {
        if self.is_person() {
            return Ok(());
        }
        let message = format!("{} is not a person, and only a person can {verb}", self.name);
        Err(Failure::new(Code::AofPersonRequired, message).with("actor", self.name.as_str()))
    }

    /// Checks that the actor may change a task: an agent only one that it holds, that is routed
    /// to it or that it created.
    ///
    /// # Errors
    /// `unauthorized_agent`.
    pub fn check_may_change(&self, task: &Task) -> Result<(), Failure> {
        if !self.is_agent() || task.agent() == Some(&self.name) || task.created_by == self.name {
            return Ok(());
        }
        Err(unauthorized(task.id, task.agent().unwrap_or(&task.created_by), &self.name))
    }

    /// The agent that a request is about: the one that it names, else the caller. An agent acts
    /// for itself alone.
    ///
    /// # Errors
    /// `unauthorized_agent`; `field_missing` if a person names no agent.
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

/// The name of an actor in task files and events.
fn name_of(actor: &ActorKey) -> String {
    match actor.kind {
        ActorType::Agent => actor.id.to_string(),
        kind => format!("{kind}:{}", actor.id),
    }
}
