//! Who acts in a request, and whether the caller may act so.
//!
//! The policy decides ([`accord_base::policy`]). What an actor may do to a task depends on its
//! kind, so the actor is proven, not claimed: a worker acts as an agent, not as a person, nor as a
//! script, which may change every task.

use accord_api::parameter::{Acting, ParamSet as _, Params};
use accord_base::{Author, By, Caller, Door, Need, ProjectId};
use accord_contract::{Code, Failure};

/// Who acts in a request: the actor that it names, else that of the key, else `fallback`, which the
/// request says in another way. Fails with `unauthorized` when the key does not cover the project,
/// the verb or the actor; `person_required` when a key of no person acts as one; `not_for_workers`
/// when a worker acts as a person or a script; `field_missing` without an actor.
pub fn acting(
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

/// Who reads, or passes something on, without being anyone in particular.
pub fn service(door: Door) -> By {
    By::parse(SERVICE, door).expect("the name of the service is valid")
}

/// The service's own name.
pub const SERVICE: &str = "script:accord";

/// The door of a request that names one. A client on the network cannot be the command on this
/// machine.
pub fn door_of(caller: &Caller, named: Option<Door>) -> Door {
    match named {
        Some(Door::Mcp) => Door::Mcp,
        Some(Door::Cli) if caller.is_owner() || caller.is_worker() => Door::Cli,
        _ => Door::Http,
    }
}

/// Who acts, as the parameters of a request say.
pub struct Who {
    named: Option<String>,
    door: Door,
}

impl Who {
    pub fn read(caller: &Caller, params: &Params<'_>) -> Result<Self, Failure> {
        Ok(Self::of(caller, Acting::read(params)?))
    }

    pub fn of(caller: &Caller, Acting { actor, door }: Acting) -> Self {
        Self { named: actor, door: door_of(caller, door) }
    }

    /// Who acts. `fallback` is the actor that the body names in another way.
    pub fn acting(
        &self,
        caller: &Caller,
        project: &ProjectId,
        needs: Need,
        fallback: Option<&str>,
    ) -> Result<By, Failure> {
        acting(caller, project, needs, self.named.as_deref(), fallback, self.door)
    }
}
