//! Who acts on tasks, and whether the caller may act so.
//!
//! Invariants:
//! - a key that is bound to an actor acts as that actor, unless it may act as others;
//! - through a key, only a key of a person acts as a person;
//! - a worker acts as an agent: not as a person, nor as a script, which may change every task;
//! - what only a person may do needs the verb `review`.

use accord_base::{Actor, ActorType, Caller, ProjectId, Verb};
use accord_contract::codes::{Code, Failure};
use accord_tasks_core::{By, Door};

/// What a request needs of its caller.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Needs {
    /// Nothing is changed.
    Read,
    /// An agent or a person changes something.
    Write,
    /// A person decides.
    Person,
    /// The settings of the tree are changed.
    Settings,
}

impl Needs {
    /// The verb that a key must have.
    pub(crate) fn verb(self) -> Verb {
        match self {
            Self::Read => Verb::Read,
            Self::Write => Verb::Write,
            Self::Person => Verb::Review,
            Self::Settings => Verb::Admin,
        }
    }
}

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
    needs: Needs,
    named: Option<&str>,
    fallback: Option<&str>,
    door: Door,
) -> Result<By, Failure> {
    caller.access().may(needs.verb(), project)?;
    // What is due is done in the name of the service, for every caller.
    let is_service = named.is_none() && fallback == Some(SERVICE);
    let named = named.map(|named| By::parse(named, door)).transpose();
    let named = named.map_err(|failure| failure.at("/actor"))?;
    let own = caller.access().actor();
    let named = match (named, own, fallback) {
        (None, None, Some(fallback)) => Some(By::parse(fallback, door)?),
        (named, ..) => named,
    };
    let actor = caller.attribute(named.map(|by| by.actor), "/actor")?;
    let actor = actor.ok_or_else(|| {
        let message = "the request does not say who acts: name an actor, such as human:NAME or \
                       agent:NAME";
        Failure::new(Code::WireFieldMissing, message).at("/actor")
    })?;
    check_person(caller, &actor)?;
    if actor.kind == ActorType::Script && !is_service {
        caller.refuse_worker()?;
    }
    Ok(By::new(actor, door))
}

/// Who passes a message on. An agent's key sends only as that agent, which the service checks, so
/// that an event records a refusal. Others pass on the messages of agents that they may act as.
///
/// # Errors
/// `unauthorized` when the key does not cover the project, the verb or the sender.
pub(crate) fn sending(
    caller: &Caller,
    project: &ProjectId,
    sender: Option<&str>,
) -> Result<By, Failure> {
    let access = caller.access();
    access.may(Verb::Write, project)?;
    if let Some(own) = access.actor() {
        let own = Actor::new(own.id.clone(), own.kind);
        let is_agent = own.kind == ActorType::Agent;
        let sender = sender.filter(|sender| !sender.is_empty());
        let named = sender.map(|sender| By::parse(sender, Door::Message)).transpose()?;
        match named {
            Some(named) if access.attribute(Some(named.actor.clone()), "/fromAgent").is_ok() => {
                return Ok(named);
            }
            Some(named) if !is_agent => {
                access.attribute(Some(named.actor), "/fromAgent")?;
            }
            _ => {}
        }
        return Ok(By::new(own, Door::Message));
    }
    Ok(service(Door::Message))
}

/// Who reads, or passes something on, without being anyone in particular.
pub(crate) fn service(door: Door) -> By {
    By::parse(SERVICE, door).expect("the name of the service is valid")
}

/// The service's own name.
pub(crate) const SERVICE: &str = "script:accord";

/// Checks that a caller with a key acts as a person only if the key is that of a person.
fn check_person(caller: &Caller, actor: &Actor) -> Result<(), Failure> {
    let own = caller.access().actor();
    if actor.kind != ActorType::Human
        || caller.key_id().is_none()
        || own.is_some_and(|own| own.kind == ActorType::Human)
    {
        return Ok(());
    }
    let message = format!("this key is not that of a person, and cannot act as {}", actor.id);
    Err(Failure::new(Code::AofPersonRequired, message).at("/actor"))
}
