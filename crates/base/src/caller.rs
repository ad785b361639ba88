//! The authenticated caller of a request. A worker has the rights of the person who started it, so
//! a caller without a key can be a worker that gives the name of a person. [`Caller::authorize`]
//! asks the policy ([`crate::policy`]).

use std::fmt;
use std::sync::Arc;

use accord_contract::Failure;

use crate::policy::{self, Attribution, CallerKind, DecisionRules, Question};
use crate::worker::{Ancestry, Attempt, RunningWorker, SeenWorker, find_worker};
use crate::{
    Access, Actor, ActorType, By, DecidedOnHub, Decision, Door, KeyScope, Need, Presence, ProjectId,
};

/// Describes the process of a caller, now.
type Examine = dyn Fn() -> CallerProcess + Send + Sync;

/// What a worker does instead.
const AS_AN_AGENT: &str = "a worker acts as an agent, for example agent:builder (ACCORD_ACTOR); \
                           what only a person may do, a person does in a shell that no worker \
                           started, and a worker asks for it in its report or result";

/// The process of a caller, as the system describes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CallerProcess {
    /// The processes that share the connection.
    Seen(Vec<Ancestry>),
    /// The processes that have a connection over the loopback interface open now. Another one may
    /// have opened it, and handed it over.
    Loopback(Vec<Ancestry>),
    /// A process of another user, or of another machine.
    OtherUser,
    /// It has ended, or the system does not show it.
    Unknown,
}

/// The caller of a request, as a door has authenticated it.
#[derive(Clone)]
#[must_use]
pub struct Caller {
    access: Access,
    credential: Credential,
    through: Through,
    /// The worker through whose socket the request came.
    worker: Option<SeenWorker>,
    /// The attempt of that worker.
    attempt: Option<Box<Attempt>>,
    examine: Option<Arc<Examine>>,
    rules: DecisionRules,
    says_terminal: bool,
    /// What a person decided on a hub, which this process applies.
    applies: Option<Box<DecidedOnHub>>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Credential {
    /// A process that can read the data folder: this one, or a client of the folder's socket.
    Owner,
    /// A client on this machine, on a host without keys.
    Local,
    Key(String),
    /// A person who was given a link to one thing that waits.
    Guest,
    /// The host itself, in what it does by its schedule.
    Scheduler,
}

/// What stands between the credential and the request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Through {
    Nothing,
    Login,
    SessionToken,
}

/// In whose name a request is.
#[derive(Clone, Debug)]
pub struct Author<'a> {
    pub named: Option<Actor>,
    /// The member or parameter that names it.
    pub pointer: &'a str,
    pub attribution: Attribution,
}

/// In whose name a request is allowed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Authorized {
    pub actor: Option<Actor>,
    pub presence: Presence,
}

impl Authorized {
    /// Who acts, through a door; `None` without an actor.
    pub fn by(self, door: Door) -> Option<By> {
        let Self { actor, presence } = self;
        Some(By::new(actor?, door).present(presence))
    }
}

impl<'a> Author<'a> {
    /// An author whom the holder of a key may name.
    pub fn claimed(named: Option<Actor>, pointer: &'a str) -> Self {
        Self { named, pointer, attribution: Attribution::Claimed }
    }

    /// An author whose kind decides what it may do.
    pub fn proven(named: Option<Actor>, pointer: &'a str) -> Self {
        Self { named, pointer, attribution: Attribution::Proven }
    }

    /// Nobody in particular.
    pub fn unnamed() -> Self {
        Self::claimed(None, "")
    }
}

impl Caller {
    /// The owner of the data folder.
    pub fn owner() -> Self {
        Self::new(Access::open(), Credential::Owner)
    }

    /// A client on this machine, on a host without keys.
    pub fn local() -> Self {
        Self::new(Access::open(), Credential::Local)
    }

    pub fn key(key_id: impl Into<String>, scope: &KeyScope) -> Self {
        Self::new(Access::of(scope), Credential::Key(key_id.into()))
    }

    /// A person who was given a link to one thing that waits, with the rights for it.
    pub fn guest(scope: &KeyScope) -> Self {
        Self::new(Access::of(scope), Credential::Guest)
    }

    pub fn scheduler() -> Self {
        Self::new(Access::open(), Credential::Scheduler)
    }

    fn new(access: Access, credential: Credential) -> Self {
        Self {
            access,
            credential,
            through: Through::Nothing,
            worker: None,
            attempt: None,
            examine: None,
            rules: DecisionRules::default(),
            says_terminal: false,
            applies: None,
        }
    }

    /// The same caller, with a way to examine its process, which is slow and so asked if needed.
    pub fn examined_by(mut self, by: impl Fn() -> CallerProcess + Send + Sync + 'static) -> Self {
        self.examine = Some(Arc::new(by));
        self
    }

    /// The same caller, whose process is examined now, and not again.
    pub fn examined_now(mut self) -> Self {
        if let Some(examine) = self.examine.take() {
            let seen = examine();
            self.examine = Some(Arc::new(move || seen.clone()));
        }
        self
    }

    /// The bearer of a token of a live session, at the other end of the connection of `other`. The
    /// login of a page is proof enough, whatever process shows the page.
    pub fn with_process_of(mut self, other: &Self) -> Self {
        if self.through == Through::SessionToken {
            self.examine.clone_from(&other.examine);
        }
        self
    }

    /// The same caller for the worker of an attempt, with what is left of its rights. Fails if it
    /// does not cover the project or the agent.
    pub fn for_worker(mut self, attempt: &Attempt) -> Result<Self, Failure> {
        self.access = self.access.narrowed(attempt)?;
        self.worker = Some(SeenWorker::from(attempt));
        self.attempt = Some(Box::new(attempt.clone()));
        Ok(self)
    }

    /// The attempt through whose socket the request came.
    pub fn attempt(&self) -> Option<&Attempt> {
        self.attempt.as_deref()
    }

    /// The same caller, on a page on which a person signed in.
    pub fn signed_in(mut self) -> Self {
        self.through = Through::Login;
        self
    }

    /// The same caller, as the bearer of a token of a live session.
    pub fn by_token(mut self) -> Self {
        self.through = Through::SessionToken;
        self
    }

    /// The same caller, under the rules of an operator.
    pub fn under(mut self, rules: DecisionRules) -> Self {
        self.rules = rules;
        self
    }

    /// The same caller, who says that a terminal was asked. It counts if its process has one.
    pub fn saying_terminal(mut self, says: bool) -> Self {
        self.says_terminal = says;
        self
    }

    /// The same caller, who applies what a person decided on a hub. Its process is examined all the
    /// same.
    pub fn applying(mut self, decided: DecidedOnHub) -> Self {
        self.applies = Some(Box::new(decided));
        self
    }

    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Checks that the caller may do something in a project, and in whose name: by its key, then by
    /// [`policy::decide`].
    pub fn authorize(
        &self,
        need: Need,
        project: &ProjectId,
        author: Author<'_>,
    ) -> Result<Authorized, Failure> {
        self.check_worker(need, &author)?;
        self.access.may(need.verb(), project)?;
        self.attribute(need, author)
    }

    /// Refuses what only others than a worker may do, and their names.
    fn check_worker(&self, need: Need, author: &Author<'_>) -> Result<(), Failure> {
        let Some(worker) = &self.worker else { return Ok(()) };
        let named = author.named.as_ref();
        match need {
            Need::Decide(decision) if decision != Decision::PeerReview => Err(worker.refusal()),
            Need::Read => Ok(()),
            _ if named.is_some_and(|actor| actor.kind != ActorType::Agent) => {
                Err(worker.refusal().suggesting(AS_AN_AGENT).at(author.pointer))
            }
            _ => Ok(()),
        }
    }

    /// As [`Caller::authorize`], without the check of the verb and the project.
    pub fn attribute(&self, need: Need, author: Author<'_>) -> Result<Authorized, Failure> {
        self.attribute_beside(need, author, &[])
    }

    /// The same, where these workers run. Fails as [`Caller::attribute`].
    pub fn attribute_beside(
        &self,
        need: Need,
        author: Author<'_>,
        workers: &[RunningWorker],
    ) -> Result<Authorized, Failure> {
        self.check_worker(need, &author)?;
        let Author { named, pointer, attribution } = author;
        let actor = self.access.attribute(named, pointer)?;
        let (acting, rules) = (actor.as_ref(), self.rules);
        let (kind, os_user) = match policy::needs_examination(need, acting, attribution) {
            true => self.kind_beside(workers),
            false => (self.unexamined_kind(), None),
        };
        let question = Question { need, caller: &kind, actor: acting, attribution, rules };
        let known_by = policy::decide(&question).map_err(|mut refused| {
            if matches!((&kind, need), (CallerKind::Worker(_), Need::Write)) {
                refused = refused.suggesting(AS_AN_AGENT);
            }
            let is_person = acting.is_some_and(|actor| actor.kind == ActorType::Human);
            // A value that names an agent is right; the agent may not do it.
            let is_about = !pointer.is_empty() && (is_person || !need.is_for_people());
            if is_about { refused.at(pointer) } else { refused }
        })?;
        let presence = match known_by {
            Some(_) if matches!(kind, CallerKind::Hub(_)) => {
                let key_id = self.applies.as_ref().and_then(|decided| decided.key_id.clone());
                let hub = self.applies.clone();
                Presence { known_by, key_id, hub, ..Presence::default() }
            }
            Some(_) => {
                let key_id = self.key_id().map(str::to_owned);
                Presence { known_by, key_id, os_user, ..Presence::default() }
            }
            None => Presence::default(),
        };
        Ok(Authorized { actor, presence })
    }

    /// Refuses a worker, through any door and in any name. It examines the process. Fails with
    /// `not_for_workers`.
    pub fn refuse_worker(&self) -> Result<(), Failure> {
        match self.kind() {
            CallerKind::Worker(worker) => Err(worker.refusal()),
            _ => Ok(()),
        }
    }

    /// What kind of caller it is. It examines the process.
    pub fn kind(&self) -> CallerKind {
        self.kind_beside(&[]).0
    }

    /// What kind of caller it is, where these workers run, and the user of the operating system. It
    /// examines the process.
    fn kind_beside(&self, workers: &[RunningWorker]) -> (CallerKind, Option<String>) {
        if self.worker.is_some() {
            return (self.unexamined_kind(), None);
        }
        let Some(examine) = &self.examine else { return (self.unexamined_kind(), None) };
        let (found, is_certain) = match examine() {
            CallerProcess::Seen(found) if !found.is_empty() => (found, true),
            CallerProcess::Loopback(found) if !found.is_empty() => (found, false),
            CallerProcess::OtherUser => {
                // The token shows a right.
                let has_token = self.through == Through::SessionToken;
                let kind = if has_token { CallerKind::SessionToken } else { CallerKind::OtherUser };
                return (kind, None);
            }
            // A worker can hide a connection, so that a token alone is not enough.
            _ => return (CallerKind::Unexamined, None),
        };
        if let Some(worker) = found.iter().find_map(|process| find_worker(process, workers)) {
            return (CallerKind::Worker(worker), None);
        }
        match self.unexamined_kind() {
            CallerKind::LocalProcess { .. } if !is_certain => (CallerKind::Loopback, None),
            CallerKind::LocalProcess { at_terminal } => {
                let has_terminal = found.iter().all(|process| process.has_terminal);
                let os_user = found.iter().find_map(|process| process.os_user.clone());
                if let Some(decided) = &self.applies {
                    return (CallerKind::Hub(decided.known_by), None);
                }
                (CallerKind::LocalProcess { at_terminal: at_terminal && has_terminal }, os_user)
            }
            kind => (kind, None),
        }
    }

    /// What kind of caller it is by its credential.
    fn unexamined_kind(&self) -> CallerKind {
        if let Some(worker) = &self.worker {
            return CallerKind::Worker(worker.clone());
        }
        match (self.through, &self.credential) {
            (Through::Login, _) => CallerKind::Login,
            // Without its login, a link shows that it is nobody in particular.
            (Through::SessionToken, _) | (_, Credential::Guest) => CallerKind::SessionToken,
            (_, Credential::Scheduler) => CallerKind::Scheduler,
            (_, Credential::Owner | Credential::Local) => {
                CallerKind::LocalProcess { at_terminal: self.says_terminal }
            }
            (_, Credential::Key(_)) => {
                let own = self.access.actor().map(|actor| actor.kind);
                let is_person = own == Some(ActorType::Human);
                match own {
                    None => CallerKind::PlainKey,
                    _ if self.access.may_act_as_others() => CallerKind::ActAsKey { is_person },
                    _ if is_person => CallerKind::PersonKey,
                    _ => CallerKind::AgentKey,
                }
            }
        }
    }

    /// The processes that the caller can be, as far as they can be examined.
    pub fn processes(&self) -> Vec<Ancestry> {
        match self.examine.as_ref().map(|examine| examine()) {
            Some(CallerProcess::Seen(found) | CallerProcess::Loopback(found)) => found,
            _ => Vec::new(),
        }
    }

    /// Whether the caller owns the data folder, and so may name files on this machine.
    pub fn is_owner(&self) -> bool {
        self.credential == Credential::Owner && !self.is_worker()
    }

    /// Whether the request came through the socket of an attempt.
    pub fn is_worker(&self) -> bool {
        self.worker.is_some()
    }

    pub fn key_id(&self) -> Option<&str> {
        match &self.credential {
            Credential::Key(id) => Some(id),
            Credential::Owner | Credential::Local | Credential::Guest | Credential::Scheduler => {
                None
            }
        }
    }

    /// Whether it is a person who was given a link.
    pub fn is_guest(&self) -> bool {
        self.credential == Credential::Guest
    }

    /// Whether the caller was accepted without a key because the host has none.
    pub fn is_local(&self) -> bool {
        self.credential == Credential::Local
    }

    /// The caller's name in the log. It is never the key itself.
    pub fn label(&self) -> &str {
        match &self.credential {
            Credential::Owner => "owner",
            Credential::Local => "local",
            Credential::Key(id) => id,
            Credential::Guest => "link",
            Credential::Scheduler => "scheduler",
        }
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { access, credential, through, .. } = self;
        let mut shown = formatter.debug_struct("Caller");
        shown.field("access", access).field("credential", credential).field("through", through);
        shown.finish_non_exhaustive()
    }
}
