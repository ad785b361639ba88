//! Who may do what: the one place that decides about a caller.
//!
//! A door describes its caller ([`Caller`](crate::Caller)), the operation says what it needs
//! ([`Need`]), and [`decide`] answers. What a key covers (verbs, projects, actors) is checked by
//! [`Access`](crate::Access) before.
//!
//! Invariants:
//! - a worker administers nothing, in any name;
//! - a worker, the scheduler, a process that cannot be examined, and a process of another user of
//!   the operating system are never a person;
//! - a connection over the loopback interface decides and administers nothing without a key or a
//!   login, unless the command `accord` has it open: a worker can open one and hand it over;
//! - without a login, a key or a terminal, a process decides only if it names the person, and the
//!   record says so ([`KnownBy`]).

use accord_contract::{Code, Failure};

use crate::worker::SeenWorker;
use crate::{Actor, ActorType, Decision, KnownBy, Need};

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CallerKind {
    /// A person who signed in on a page.
    Login,
    PersonKey,
    /// A key that may act as others.
    ActAsKey {
        is_person: bool,
    },
    /// The key of an agent or a script.
    AgentKey,
    /// A key without an actor.
    PlainKey,
    /// The bearer of a token of a live session.
    SessionToken,
    /// A process of the same user, without a key.
    LocalProcess {
        /// Whether a person can be asked there.
        at_terminal: bool,
    },
    /// A connection over the loopback interface, without a key, that a program of this user has
    /// open.
    Loopback,
    /// A process of another user of the operating system, or of another machine, without a key.
    OtherUser,
    /// A process of the same user that applies what a person decided on a hub.
    Hub(KnownBy),
    Worker(SeenWorker),
    Scheduler,
    /// A process that has ended, or that the system does not show.
    Unexamined,
}

/// How the author of a write is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Attribution {
    /// The holder of a key without an actor, or with `act_as`, names the author. The Agentic
    /// Protocol identifies authors and leaves their authentication to the transport.
    Claimed,
    /// The kind of the author decides, so a person needs the key of a person.
    Proven,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DecisionRules {
    /// Whether a decision without a login or key needs a terminal (`decide.terminal`).
    pub terminal_required: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub need: Need,
    pub caller: &'a CallerKind,
    pub actor: Option<&'a Actor>,
    pub attribution: Attribution,
    pub rules: DecisionRules,
}

/// Whether [`decide`] depends on the process of the caller, whose examination is slow.
pub fn needs_examination(need: Need, actor: Option<&Actor>, attribution: Attribution) -> bool {
    matches!(need, Need::Create | Need::Join | Need::Admin)
        || needs_known_process(need, actor, attribution)
}

/// Whether the process of the caller must be known.
fn needs_known_process(need: Need, actor: Option<&Actor>, attribution: Attribution) -> bool {
    let kind = actor.map(|actor| actor.kind);
    match need {
        Need::Read => false,
        Need::Write
        | Need::Create
        | Need::Join
        | Need::Admin
        | Need::Decide(Decision::PeerReview) => match kind {
            Some(ActorType::Human) => true,
            Some(ActorType::Script) => attribution == Attribution::Proven,
            Some(ActorType::Agent) | None => false,
        },
        Need::Decide(_) => true,
    }
}

/// Whether a caller may do it, and how the person is known who decides it, if one does.
pub fn decide(question: &Question<'_>) -> Result<Option<KnownBy>, Failure> {
    let Question { need, caller, actor, attribution, rules } = *question;
    if need == Need::Read {
        return Ok(None);
    }
    let kind = actor.map(|actor| actor.kind);
    if needs_known_process(need, actor, attribution) {
        check_process(caller)?;
    }
    let is_deciding = match need {
        Need::Admin => true,
        // A page of ggui acts in nobody's name, and agents review each other.
        Need::Decide(Decision::PeerReview | Decision::Answer) => kind == Some(ActorType::Human),
        Need::Decide(_) => true,
        Need::Read | Need::Write | Need::Create | Need::Join => false,
    };
    if is_deciding && *caller == CallerKind::Loopback {
        return Err(handed_over());
    }
    // In nobody's name either: it could change which tasks and records there are.
    if matches!(need, Need::Create | Need::Join | Need::Admin) && *caller != CallerKind::Scheduler {
        check_process(caller)?;
    }
    if need == Need::Join {
        check_key(caller)?;
    }
    let is_proven = attribution == Attribution::Proven || need.is_for_people();
    // A key with `act_as` is given to a service that signs people in. The record names the key.
    let signs_in =
        need == Need::Decide(Decision::SignIn) && matches!(caller, CallerKind::ActAsKey { .. });
    if kind == Some(ActorType::Human) && is_proven && !signs_in {
        check_person(caller, actor)?;
    }
    let is_person = kind == Some(ActorType::Human);
    let known_by = (is_person && matches!(need, Need::Decide(_))).then(|| known_by(caller));
    if !need.is_for_people() {
        return Ok(known_by);
    }
    if !is_person {
        return Err(no_person(actor));
    }
    match caller {
        CallerKind::LocalProcess { at_terminal: false } | CallerKind::Hub(KnownBy::Nothing)
            if rules.terminal_required =>
        {
            let message = "this host takes decisions only at a terminal, with a login or with a \
                           key (the setting decide.terminal)";
            Err(Failure::new(Code::XchainConfirmationNeeded, message).suggesting(
                "run the command in a terminal, or give the person a key (`accord key create`)",
            ))
        }
        _ => Ok(known_by),
    }
}

/// How a person is known in whose name a caller decides.
fn known_by(caller: &CallerKind) -> KnownBy {
    match caller {
        CallerKind::Login => KnownBy::Login,
        CallerKind::PersonKey | CallerKind::ActAsKey { is_person: true } => KnownBy::Key,
        CallerKind::LocalProcess { at_terminal: true } => KnownBy::Terminal,
        CallerKind::Hub(known_by) => *known_by,
        _ => KnownBy::Nothing,
    }
}

/// Refuses a process that is, or may be, no person's.
fn check_process(caller: &CallerKind) -> Result<(), Failure> {
    match caller {
        CallerKind::Worker(worker) => Err(worker.refusal()),
        CallerKind::Unexamined => Err(unexamined()),
        CallerKind::OtherUser => Err(other_user()),
        CallerKind::Scheduler => {
            let message = "the scheduler is not a person";
            Err(Failure::new(Code::AofPersonRequired, message))
        }
        _ => Ok(()),
    }
}

/// Checks that a caller with a key acts as a person only if the key is that of a person.
fn check_person(caller: &CallerKind, actor: Option<&Actor>) -> Result<(), Failure> {
    match caller {
        CallerKind::AgentKey
        | CallerKind::PlainKey
        | CallerKind::ActAsKey { is_person: false }
        | CallerKind::SessionToken => {
            let id = actor.map_or("", |actor| actor.id.as_str());
            let message = format!("this key is not that of a person, and cannot act as {id}");
            Err(Failure::new(Code::AofPersonRequired, message))
        }
        _ => Ok(()),
    }
}

/// Refuses a key that is not that of a person, for what is done in nobody's name.
fn check_key(caller: &CallerKind) -> Result<(), Failure> {
    match caller {
        CallerKind::AgentKey
        | CallerKind::PlainKey
        | CallerKind::ActAsKey { is_person: false }
        | CallerKind::SessionToken => {
            let message = "this key is not that of a person, and only a person can do this";
            Err(Failure::new(Code::AofPersonRequired, message).suggesting(
                "use a key of a person: accord key create --actor human:NAME --verb read --verb \
                 write --project ID",
            ))
        }
        _ => Ok(()),
    }
}

fn no_person(actor: Option<&Actor>) -> Failure {
    let message = match actor {
        Some(actor) => {
            format!(
                "{}:{} is not a person, and only a person can decide this",
                actor.kind, actor.id
            )
        }
        None => "the request names no person, and only a person can decide this".to_owned(),
    };
    Failure::new(Code::AofPersonRequired, message)
}

/// The refusal of a caller that cannot be examined: it may be a worker.
fn unexamined() -> Failure {
    let message = "the process that asks has ended or cannot be examined, so it may be that of a \
                   worker, and what only a person may do is refused";
    Failure::new(Code::NotForWorkers, message).suggesting(
        "use the command `accord` on this machine, in a shell that no worker started; over HTTP, \
         give the person a key (`accord key create`). If /tmp/accord-supervisor-NUMBER-PID has \
         another number than `readlink /proc/self/ns/pid`, a process of this user starts workers \
         in another PID namespace, for example in a container: decide there, or end it",
    )
}

/// The refusal of a connection that a worker may have opened and handed over.
fn handed_over() -> Failure {
    let message = "it is not known which process opened this connection, so it may be that of a \
                   worker, and what only a person may do is refused";
    Failure::new(Code::NotForWorkers, message).suggesting(
        "use the command `accord` of this host, sign in with a link of `accord live open`, or \
         give the person a key (`accord key create`)",
    )
}

/// The refusal of a caller of another user: it may be a worker that changed its user.
fn other_user() -> Failure {
    let message = "the process that asks belongs to another user of the operating system or to \
                   another machine, so it may be that of a worker, and what only a person may do \
                   is refused";
    Failure::new(Code::NotForWorkers, message)
        .suggesting("sign in, or give the person a key (`accord key create`)")
}
