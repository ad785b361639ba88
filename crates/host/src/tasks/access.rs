//! Who acts on tasks, and whether the caller may act so.
//!
//! The policy decides ([`accord_base::policy`]). What an actor may do to a task depends on its
//! kind, so the actor is proven, not claimed: a worker acts as an agent, not as a person, nor as a
//! script, which may change every task.

use accord_base::{Actor, ActorType, Author, By, Caller, Door, Need, ProjectId, Verb};
use accord_contract::codes::{Code, Failure};

/// Who acts in a request: the actor that it names, else that of the key, else `fallback`, which
/// the request says in another way.
///
/// # Errors
/// `unauthorized` when the key does not cover the project, the verb or the actor;
/// `person_required` when a key of no person acts as one; `not_for_workers` when a worker acts as
/// a person or a script; `field_missing` without an actor.
pub(crate) fn acting(
    caller: &Caller,
    project: &ProjectId,
    need: Need,
    named: Option<&str>,
    fallback: Option<&str>,
    door: Door,
) -> Result<By, Failure> {
    let named = named.map(|named| By::parse(named, door)).transpose();
    let named = named.map_err(|failure| failure.at("/actor"))?.map(|by| by.actor);
    if named.is_none() && fallback == Some(SERVICE) && caller.access().actor().is_none() {
        // What is due is done in the name of the service, for every caller.
        caller.authorize(need, project, Author::unnamed())?;
        return Ok(service(door));
    }
    let named = match (named, caller.access().actor(), fallback) {
        (None, None, Some(fallback)) => Some(By::parse(fallback, door)?.actor),
        (named, ..) => named,
    };
    let authorized = caller.authorize(need, project, Author::proven(named, "/actor"))?;
    authorized.by(door).ok_or_else(|| {
        let message = "the request does not say who acts: name an actor, such as human:NAME or \
                       agent:NAME";
        Failure::new(Code::WireFieldMissing, message).at("/actor")
    })
}

/// Who passes a message on. An agent's key sends only as that agent, which the service checks, so
/// that an event records a refusal. Others pass on the messages of agents that they may act as.
///
/// # Errors
/// `unauthorized` when the key does not cover the project, the verb or the sender; those of the
/// policy when the sender is a person or a script.
pub(crate) fn sending(
    caller: &Caller,
    project: &ProjectId,
    sender: Option<&str>,
) -> Result<By, Failure> {
    let access = caller.access();
    access.may(Verb::Write, project)?;
    let sender = sender.filter(|sender| !sender.is_empty());
    let prove = |named: &By| {
        let author = Author::proven(Some(named.actor.clone()), "/fromAgent");
        caller.attribute(Need::Write, author)
    };
    if let Some(own) = access.actor() {
        let own = Actor::new(own.id.clone(), own.kind);
        let is_agent = own.kind == ActorType::Agent;
        let named = sender.map(|sender| By::parse(sender, Door::Message)).transpose()?;
        match named {
            Some(named) if access.attribute(Some(named.actor.clone()), "/fromAgent").is_ok() => {
                prove(&named)?;
                return Ok(named);
            }
            Some(named) if !is_agent => {
                access.attribute(Some(named.actor), "/fromAgent")?;
            }
            _ => {}
        }
        return Ok(By::new(own, Door::Message));
    }
    // What is no name of an actor is that of an agent, which the service looks for.
    if let Some(named) = sender.and_then(|sender| By::parse(sender, Door::Message).ok()) {
        prove(&named)?;
    }
    Ok(service(Door::Message))
}

/// Who reads, or passes something on, without being anyone in particular.
pub(crate) fn service(door: Door) -> By {
    By::parse(SERVICE, door).expect("the name of the service is valid")
}

/// The service's own name.
pub(crate) const SERVICE: &str = "script:accord";
