//! What a key may do. Project scope is checked here, below every door, and nowhere else. A key that
//! names an actor writes as that actor, unless it may act as others, and sees only its drafts.

use std::collections::BTreeSet;

use accord_contract::{Code, Failure, Value, Wire as _, message, wire_enum};

use crate::worker::Attempt;
use crate::{Actor, ActorId, ActorKey, ActorType, ProjectId, refuse};

wire_enum! {
    /// What a key may do in a project.
    pub enum Verb("Verb", closed) {
        /// Read.
        Read = "read",
        /// Deposit, flag, resubmit, assert, invalidate, start and end sessions.
        Write = "write",
        /// End reviews.
        Review = "review",
        /// Open gates, end blocks, merge, and take over what Accord refused.
        Approve = "approve",
        /// All of that, and projects, export, import, keys and retention.
        Admin = "admin",
    }
}

message! {
    /// What a key covers.
    pub struct KeyScope("KeyScope", open) {
        /// What it may do.
        required verbs: Vec<Verb> = "verbs", "verbs";
        /// The projects that it covers; null for all of them.
        required_or_null projects: Vec<ProjectId> = "projects", "project-ids";
        /// The actor whose key it is; null for a key of no particular actor.
        required_or_null actor: KeyActor = "actor", "actor";
        /// Whether it may write as another actor.
        required act_as: bool = "act_as", "permission";
    }

    /// The actor whose key it is.
    pub struct KeyActor("KeyActor", closed) {
        /// The actor's id.
        required id: ActorId = "id", "actor-id";
        /// What kind of actor it is.
        required kind: ActorType = "type", "actor-type";
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Access {
    verbs: BTreeSet<Verb>,
    projects: Option<BTreeSet<ProjectId>>,
    actor: Option<ActorKey>,
    act_as: bool,
    /// Whether it is that of a worker.
    is_worker: bool,
}

impl Access {
    /// Full access, for the owner of the data folder and for a host without keys.
    pub fn open() -> Self {
        let verbs = BTreeSet::from([Verb::Admin]);
        Self { verbs, projects: None, actor: None, act_as: true, is_worker: false }
    }

    /// What is left of it for a worker: one project, one agent, and no administration. Fails if
    /// it does not cover the project or the agent.
    pub fn narrowed(&self, attempt: &Attempt) -> Result<Self, Failure> {
        let agent = Actor::new(attempt.agent.clone(), ActorType::Agent);
        let own = ActorKey { id: attempt.agent.clone(), kind: ActorType::Agent };
        self.attribute(Some(agent), "")?;
        if !self.covers(&attempt.project) {
            return Err(self.refused("does not cover the project"));
        }
        let verbs = [Verb::Read, Verb::Write, Verb::Review];
        Ok(Self {
            verbs: verbs.into_iter().filter(|verb| self.may_anywhere(*verb).is_ok()).collect(),
            projects: Some(BTreeSet::from([attempt.project.clone()])),
            actor: Some(own),
            act_as: false,
            is_worker: true,
        })
    }

    pub fn of(scope: &KeyScope) -> Self {
        let projects = scope.projects.as_ref();
        Self {
            verbs: scope.verbs.iter().copied().collect(),
            projects: projects.map(|projects| projects.iter().cloned().collect()),
            actor: scope
                .actor
                .as_ref()
                .map(|actor| ActorKey { id: actor.id.clone(), kind: actor.kind }),
            act_as: scope.act_as,
            is_worker: false,
        }
    }

    /// Clauses: AGENTIC-R-049, AGENTIC-R-112.
    pub fn may(&self, verb: Verb, project: &ProjectId) -> Result<(), Failure> {
        if !self.covers(project) {
            return Err(self.refused("does not cover the project"));
        }
        self.may_anywhere(verb)
    }

    /// Checks that the key has a verb, whichever projects it covers.
    pub fn may_anywhere(&self, verb: Verb) -> Result<(), Failure> {
        if self.verbs.contains(&verb) || self.verbs.contains(&Verb::Admin) {
            return Ok(());
        }
        let refused = self.refused(&format!("does not have the `{verb}` scope"));
        Err(match self.is_worker {
            true => refused,
            false => refused.suggesting(format!(
                "an administrator of the server makes a key with it: accord key create --verb \
                 {verb}"
            )),
        })
    }

    pub fn covers(&self, project: &ProjectId) -> bool {
        let projects = self.projects.as_ref();
        projects.is_none_or(|projects| projects.contains(project))
    }

    /// What it may do.
    pub fn verbs(&self) -> impl Iterator<Item = Verb> {
        self.verbs.iter().copied()
    }

    /// The projects that the key covers; `None` for all of them.
    pub fn projects(&self) -> Option<&BTreeSet<ProjectId>> {
        self.projects.as_ref()
    }

    pub fn actor(&self) -> Option<&ActorKey> {
        self.actor.as_ref()
    }

    /// The author of a write: the actor that the request names in `pointer`, or else the key's own.
    /// Refuses another actor than the key's, unless it has `act_as`, and one whose id looks like
    /// another actor. Clauses: AGENTIC-R-113.
    pub fn attribute(&self, named: Option<Actor>, pointer: &str) -> Result<Option<Actor>, Failure> {
        match (named, &self.actor) {
            (Some(named), Some(own)) if !named.is(own) && !self.act_as => {
                let id = named.id.as_str();
                let message = format!("may not write as {id:?} without `act_as`");
                Err(self.refused(&message).at(pointer))
            }
            (Some(named), _) => {
                named.key().check_distinct().map_err(|why| refuse::schema(pointer, why))?;
                Ok(Some(named))
            }
            (None, own) => {
                let own = own.as_ref();
                Ok(own.map(|own| Actor::new(own.id.clone(), own.kind)))
            }
        }
    }

    fn refused(&self, what: &str) -> Failure {
        if !self.is_worker {
            return Failure::new(Code::AccessDenied, format!("this key {what}"));
        }
        Failure::new(Code::AccessDenied, format!("a worker {what}"))
            .suggesting("a worker acts as its own agent, in the project of its attempt")
    }

    /// Whether the key may write as others than its actor.
    pub fn may_act_as_others(&self) -> bool {
        self.act_as
    }

    /// The only actor whose drafts the key sees; `None` when it sees all of them.
    pub fn drafts_only_of(&self) -> Option<&ActorKey> {
        // Also with `act_as`, which is about writing.
        self.actor.as_ref()
    }

    /// Clauses: AGENTIC-R-064.
    pub fn sees_drafts_of(&self, author: &ActorKey) -> bool {
        self.actor.as_ref().is_none_or(|own| own == author)
    }
}

impl KeyScope {
    /// Reads a scope, such as a stored one. Fails when the value is not a scope, or has no verb.
    pub fn read(value: Value) -> Result<Self, Failure> {
        let scope = Self::from_document(value).map_err(refuse::decoded)?;
        if scope.verbs.is_empty() {
            return Err(refuse::schema("/verbs", "a key needs at least one verb"));
        }
        Ok(scope)
    }

    pub fn new(verbs: Vec<Verb>, projects: Option<Vec<ProjectId>>) -> Self {
        Self {
            verbs,
            projects,
            actor: None,
            act_as: false,
            extra: accord_contract::wire::Object::new(),
        }
    }

    #[must_use]
    pub fn bound_to(mut self, actor: ActorKey, act_as: bool) -> Self {
        self.actor = Some(KeyActor { id: actor.id, kind: actor.kind });
        self.act_as = act_as;
        self
    }
}
