//! The authenticated caller of a request.
//!
//! A worker has the rights of the person who started it, so a caller without a key can be a worker
//! that gives the name of a person. A door that knows the process of its caller says how it is
//! examined. [`Caller::attribute`] is the one place that refuses a worker to act as a person.

use std::fmt;
use std::sync::Arc;

use accord_contract::codes::Failure;

use crate::worker::{Ancestry, refuse_worker, unknown_caller};
use crate::{Access, Actor, ActorType, KeyScope};

/// Describes the processes that a caller can be, now. `None` if they cannot be examined.
type Examine = dyn Fn() -> Option<Vec<Ancestry>> + Send + Sync;

/// What a worker does instead.
const AS_AN_AGENT: &str = "a worker acts as an agent, for example agent:builder (ACCORD_ACTOR); \
                           what only a person may do, a person does in a shell that no worker \
                           started, and a worker asks for it in its report or result";

/// The caller of a request, as a door has authenticated it.
#[derive(Clone)]
pub struct Caller {
    access: Access,
    kind: Kind,
    examine: Option<Arc<Examine>>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Kind {
    /// A process that can read the data folder: this one, or a client of the folder's socket.
    Owner,
    /// A client on this machine, on a host without keys.
    Local,
    /// The holder of a key.
    Key(String),
}

impl Caller {
    /// The owner of the data folder.
    pub fn owner() -> Self {
        Self::new(Access::open(), Kind::Owner)
    }

    /// A client on this machine, on a host without keys.
    pub fn local() -> Self {
        Self::new(Access::open(), Kind::Local)
    }

    /// The holder of a key.
    pub fn key(key_id: impl Into<String>, scope: &KeyScope) -> Self {
        Self::new(Access::of(scope), Kind::Key(key_id.into()))
    }

    fn new(access: Access, kind: Kind) -> Self {
        Self { access, kind, examine: None }
    }

    /// The same caller, with a way to examine its process. It is asked when the caller acts as a
    /// person, and not before: it reads the process table.
    #[must_use]
    pub fn examined_by(
        mut self,
        examine: impl Fn() -> Option<Vec<Ancestry>> + Send + Sync + 'static,
    ) -> Self {
        self.examine = Some(Arc::new(examine));
        self
    }

    /// What the caller may do.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// The author of a write, as [`Access::attribute`] decides. A worker is not a person.
    ///
    /// # Errors
    /// `unauthorized` as there; `not_for_workers` if a worker would act as a person.
    pub fn attribute(&self, named: Option<Actor>, pointer: &str) -> Result<Option<Actor>, Failure> {
        let actor = self.access.attribute(named, pointer)?;
        if actor.as_ref().is_some_and(|actor| actor.kind == ActorType::Human) {
            self.refuse_worker().map_err(|refused| refused.at(pointer))?;
        }
        Ok(actor)
    }

    /// Refuses a caller that a worker started, or that cannot be examined although it must be.
    ///
    /// # Errors
    /// `not_for_workers`.
    pub fn refuse_worker(&self) -> Result<(), Failure> {
        let Some(examine) = &self.examine else { return Ok(()) };
        let found = examine().ok_or_else(unknown_caller)?;
        let refused = found.iter().try_for_each(|caller| refuse_worker(caller, &[]));
        refused.map_err(|refused| refused.suggesting(AS_AN_AGENT))
    }

    /// Whether the caller owns the data folder, and so may name files on this machine.
    pub fn is_owner(&self) -> bool {
        self.kind == Kind::Owner
    }

    /// The id of the caller's key, if it has one.
    pub fn key_id(&self) -> Option<&str> {
        match &self.kind {
            Kind::Key(id) => Some(id),
            Kind::Owner | Kind::Local => None,
        }
    }

    /// Whether the caller was accepted without a key because the host has none.
    pub fn is_local(&self) -> bool {
        self.kind == Kind::Local
    }

    /// The caller's name in the log. It is never the key itself.
    pub fn label(&self) -> &str {
        match &self.kind {
            Kind::Owner => "owner",
            Kind::Local => "local",
            Kind::Key(id) => id,
        }
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { access, kind, .. } = self;
        let mut shown = formatter.debug_struct("Caller");
        shown.field("access", access).field("kind", kind).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use accord_contract::codes::Code;

    use super::*;
    use crate::ActorKey;
    use crate::worker::Ancestor;

    fn actor(text: &str) -> Option<Actor> {
        let key = ActorKey::parse(text).unwrap();
        Some(Actor::new(key.id, key.kind))
    }

    fn process(marks: &[(&str, &str)]) -> Ancestry {
        let marks = marks.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let processes = vec![Ancestor { pid: 7, marks: marks.collect(), is_supervisor: false }];
        Ancestry { processes }
    }

    #[test]
    fn a_worker_acts_as_an_agent_and_not_as_a_person() {
        let worker = || process(&[("ACCORD_TASK_ID", "TASK-2026-02-09-001")]);
        // One of the processes that share the connection is enough.
        let caller = Caller::owner().examined_by(move || Some(vec![process(&[]), worker()]));
        caller.attribute(actor("agent:dev"), "/actor").expect("an agent");
        caller.attribute(None, "/actor").expect("no actor");
        let refused = caller.attribute(actor("human:lead"), "/actor").unwrap_err();
        assert_eq!(refused.code, Code::XchainNotForWorkers);
    }

    #[test]
    fn a_process_that_cannot_be_examined_is_no_person() {
        let caller = Caller::local().examined_by(|| None);
        caller.attribute(actor("agent:dev"), "/actor").expect("an agent");
        let refused = caller.attribute(actor("human:lead"), "/actor").unwrap_err();
        assert_eq!(refused.code, Code::XchainNotForWorkers);
        assert!(refused.message.contains("cannot be examined"), "{}", refused.message);
    }

    #[test]
    fn a_person_is_a_person() {
        let caller = Caller::owner().examined_by(|| Some(vec![process(&[])]));
        caller.attribute(actor("human:lead"), "/actor").expect("a person");
        Caller::owner().attribute(actor("human:lead"), "/actor").expect("in tests");
    }
}
