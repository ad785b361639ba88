//! Asks: what a session waits for a person to answer.
//!
//! A session asks from the moment that an agent renders a UI with actions, or waits for events of
//! one, until a person acts, or the session expires.

use accord_base::ActorKey;
use accord_contract::{Object, Time, Value};

use super::Session;
use crate::{contract::AnswerRules, json::members};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Ask {
    pub asked_by: Option<ActorKey>,
    pub intent: String,
    pub since: Time,
}

impl Ask {
    /// Until when the contract takes answers, if it says so.
    pub(crate) fn deadline(&self, rules: AnswerRules) -> Option<Time> {
        rules.within.map(|seconds| self.since.add_seconds(seconds))
    }

    /// When the contract stopped taking answers, if it did.
    pub fn ended(&self, rules: AnswerRules, now: Time) -> Option<Time> {
        self.deadline(rules).filter(|until| *until <= now)
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AskChange {
    Begin(Ask),
    End,
}

/// An ask that waits for an answer, as an inbox lists it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PendingAsk {
    pub session: Session,
    pub ask: Ask,
    pub until: Time,
    /// Whom the question is for, if its contract says so.
    pub to: Option<ActorKey>,
}

impl PendingAsk {
    /// The ask of a session, if it waits for an answer. `ui` are the members of its UI.
    ///
    /// Clauses: GGUI-ASK-PENDING.
    pub fn of(session: &Session, ask: Option<&Ask>, ui: &Object, now: Time) -> Option<Self> {
        let ask = ask.filter(|_| session.is_active(now) && session.head.is_asking)?;
        let until = ask.deadline(AnswerRules::of_ui(ui)).unwrap_or(session.head.expires_at);
        let pending = Self { session: session.clone(), ask: ask.clone(), until, to: asked_of(ui) };
        (until > now).then_some(pending)
    }
}

/// The member of a UI that says who rendered it.
pub(crate) const ASKED_BY: &str = "x-askedBy";

/// Who rendered a UI, if that is known.
///
/// Clauses: GGUI-ASK-PENDING.
pub fn asked_by(ui: &Object) -> Option<ActorKey> {
    let text = |name: &str| ui.get(ASKED_BY)?.get(name)?.as_str();
    ActorKey::parse(&format!("{}:{}", text("type")?, text("id")?)).ok()
}

/// The member of a contract that says whom a question is for. It is a hint for people.
pub(crate) const TO: &str = "x-to";

/// Whom a question is for, if its contract says so.
pub fn asked_of(ui: &Object) -> Option<ActorKey> {
    ActorKey::parse(ui.get(TO)?.as_str()?).ok()
}

pub(crate) fn actor_document(actor: &ActorKey) -> Value {
    Value::Object(members([("id", actor.id.as_str().into()), ("type", actor.kind.as_str().into())]))
}
