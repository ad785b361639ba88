//! Who acts in a command: one rule for all commands.
//!
//! It is the actor of `--actor`, else of `ACCORD_ACTOR`, else the agent of the worker that runs the
//! command (`ACCORD_TASK_AGENT`), else the actor of the key. The user of the operating system acts
//! only in a decision at a terminal. A command that finds nobody is refused.

use std::fmt;

use accord_api::body::AnswerBody;
use accord_api::operations::keys::Me;
use accord_api::{Answered, Call, NoParams, Operation};
use accord_base::{ActorKey, ActorType, Author, Caller, Decision, Need};
use accord_contract::Code;
use accord_host::serve::this_process;
use accord_process::os_user;

use super::answer::Answer;
use super::names::setting;
use super::open::Connection;
use super::request::HostRequest;
use super::target::attempt_socket;
use crate::terminal::can_ask;
use crate::{CliError, Result};

/// The actor of a command.
#[derive(Debug, clap::Args)]
pub(crate) struct ActorArg {
    /// Who acts: human:NAME, agent:NAME or script:NAME [default: ACCORD_ACTOR, the agent of this
    /// worker, or the actor of the key]
    #[arg(long, value_name = "TYPE:ID", value_parser = Actor::parse, help_heading = None::<&str>)]
    pub(crate) actor: Option<Actor>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Actor(ActorKey);

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Acting {
    /// The actor that somebody named.
    Named(Actor),
    /// Nobody named one: the actor of the key; in a decision at a terminal, else the user of the
    /// operating system.
    Unnamed,
}

impl ActorArg {
    pub(crate) fn named(&self) -> Result<Option<Actor>> {
        if let Some(actor) = &self.actor {
            return Ok(Some(actor.clone()));
        }
        let (variable, text) = match (setting("ACCORD_ACTOR"), setting("ACCORD_TASK_AGENT")) {
            (Some(actor), _) => ("ACCORD_ACTOR", actor),
            (None, Some(agent)) => ("ACCORD_TASK_AGENT", format!("agent:{agent}")),
            (None, None) => return Ok(None),
        };
        let wrong = |error| CliError::usage(format!("{variable}: {error}"));
        Actor::parse(&text).map(Some).map_err(wrong)
    }

    /// Who acts. In a worker it is an agent: there a command that acts as a person is refused, or
    /// as a script, which may change every task.
    pub(crate) fn acting(&self) -> Result<Acting> {
        let named = self.named()?;
        if named.as_ref().is_none_or(|actor| actor.0.kind != ActorType::Agent) {
            check_person()?;
        }
        Ok(named.map_or(Acting::Unnamed, Acting::Named))
    }
}

impl Actor {
    /// Reads `type:id`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        ActorKey::parse(text).map(Self).map_err(|_| {
            "an actor is human, agent or script, a colon and an id, as in agent:planner".to_owned()
        })
    }

    /// The two members that identify it.
    pub(crate) fn key(&self) -> &ActorKey {
        &self.0
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.kind, self.0.id)
    }
}

impl Connection {
    /// The actor of a document, which names one. It is `None` if only the host knows the actor of
    /// the key, because it is of a version that does not say it.
    pub(crate) fn actor(&self, given: &ActorArg) -> Result<Option<Actor>> {
        if let Some(actor) = given.named()? {
            return Ok(Some(actor));
        }
        if !self.has_key {
            return Err(no_actor());
        }
        match self.ask::<Me>(NoParams, NoParams) {
            Ok(me) => {
                let actor = me.answer.0.actor.ok_or_else(no_actor)?;
                Ok(Some(Actor(ActorKey { id: actor.id, kind: actor.kind })))
            }
            Err(error) if is_unknown_route(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Calls an operation that changes something, by an actor.
    pub(crate) fn call_by<O>(&self, by: &Acting, call: &Call<O>) -> Result<Answered<O::Answer>>
    where
        O: Operation<Answer: AnswerBody>,
    {
        let request = call.encode();
        let answer = self.send_by(by, O::NEED, || request.clone().into())?;
        self.note_if_new(&answer);
        answer.read()
    }

    /// Calls an operation of a person that decides nothing. At a terminal it is the user of the
    /// operating system, unless the command names another person.
    pub(crate) fn call_as_person<O>(
        &self,
        by: &Acting,
        call: &Call<O>,
    ) -> Result<Answered<O::Answer>>
    where
        O: Operation<Answer: AnswerBody>,
    {
        let request = call.encode();
        let need = Need::Decide(Decision::Override);
        self.send_by(by, need, || request.clone().into())?.read()
    }

    /// Sends a change by an actor, and waits for the whole response.
    fn send_by(
        &self,
        by: &Acting,
        need: Need,
        request: impl Fn() -> HostRequest,
    ) -> Result<Answer> {
        let named = |actor: &str| self.send(request().with("actor", Some(actor)));
        if let Acting::Named(actor) = by {
            return named(&actor.to_string());
        }
        let unnamed = || match need {
            Need::Decide(_) if can_ask() => named(&format!("human:{}", os_user())),
            _ => Err(no_actor()),
        };
        if !self.has_key {
            return unnamed();
        }
        // The key has no actor, or the server needs no keys.
        let has_no_actor = |error: &CliError| {
            error.code() == Some(Code::WireFieldMissing) && error.is_about("/actor")
        };
        match self.send(request()) {
            Err(refused) if has_no_actor(&refused) => unnamed(),
            sent => sent,
        }
    }
}

/// Who reads a list of their own: the named actor, else the person at this machine; `None` if the
/// key says it.
pub(crate) fn reader(given: &ActorArg, host: &Connection) -> Result<Option<String>> {
    Ok(match given.named()? {
        Some(actor) => Some(actor.to_string()),
        None if host.has_key || attempt_socket().is_some() => None,
        None => Some(format!("human:{}", os_user())),
    })
}

/// The actor of the key of a connection. None from a host that cannot say it.
pub(crate) fn own_actor(host: &Connection) -> Result<Option<ActorKey>> {
    match host.ask::<Me>(NoParams, NoParams) {
        Ok(me) => {
            let actor = me.answer.0.actor;
            let key = actor.map(|actor| ActorKey::parse(&format!("{}:{}", actor.kind, actor.id)));
            Ok(key.and_then(Result::ok))
        }
        Err(error) if is_unknown_route(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Refuses to act as a person in a worker.
pub(crate) fn check_person() -> Result<()> {
    let decision = Need::Decide(Decision::Override);
    let caller = Caller::owner().examined_by(this_process);
    Ok(caller.attribute(decision, Author::unnamed()).map(drop)?)
}

pub(crate) fn no_actor() -> CliError {
    CliError::usage("no actor given").help(
        "pass --actor or set ACCORD_ACTOR, for example agent:planner, human:lead or \
         script:nightly",
    )
}

/// Whether a server does not have the route: it is of an older version, or another one.
fn is_unknown_route(error: &CliError) -> bool {
    matches!(error.code(), Some(Code::HttpRouteUnknown | Code::HostProtocol))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_are_a_type_and_an_id() {
        let planner = Actor::parse("agent:planner:2").expect("an actor");
        assert_eq!(planner.to_string(), "agent:planner:2");
        for wrong in ["", "planner", "agent:", "bot:x", "Agent:x", ":x"] {
            assert!(Actor::parse(wrong).is_err(), "{wrong}");
        }
    }
}
