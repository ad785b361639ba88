//! Who sends an action, as far as the server knows.
//!
//! Only the server writes these members of an action. What a client sends under their names is not
//! stored.

use accord_base::{Actor, ActorKey, Author, Caller, Decision, Door, Need, Presence};
use accord_contract::{Code, Failure, Object, Wire as _};

use super::{ASKED, Content};
use crate::json::put;

/// Who sent it.
pub(crate) const BY: &str = "x-by";
/// Through which door it came.
pub(crate) const DOOR: &str = "x-door";
/// Whether a known person sent it.
pub(crate) const PERSON: &str = "x-person";
/// How it is known that a person is there, where no login, key or terminal shows it.
const PRESENCE: &str = "x-presence";
/// The id of the key behind it.
const KEY: &str = "x-key";

#[derive(Clone, Debug)]
pub struct Sender {
    pub actor: Option<Actor>,
    pub door: Option<Door>,
    pub key_id: Option<String>,
    /// How it is known that a person answers, or why it is not.
    pub person: Result<Presence, Box<Failure>>,
}

impl Default for Sender {
    /// Nobody that is known, through no door: nothing is said about it.
    fn default() -> Self {
        let message = "it is not known who answers, and only a person can answer this";
        let person = Err(Box::new(Failure::new(Code::AofPersonRequired, message)));
        Self { actor: None, door: None, key_id: None, person }
    }
}

impl Sender {
    /// The sender that a caller is, in the name of an actor, else in its own. Fails with
    /// `not_for_workers`; `person_required` when the caller cannot act as the person.
    pub fn of(caller: &Caller, named: Option<&ActorKey>, door: Door) -> Result<Self, Failure> {
        let caller = caller.clone().examined_now();
        let actor = || named.map(|key| Actor::new(key.id.clone(), key.kind));
        let author = match named {
            Some(_) => Author::proven(actor(), "/actor"),
            None => Author::unnamed(),
        };
        let answers = caller.attribute(Need::Decide(Decision::Answer), author)?;
        let person = Need::Decide(Decision::PersonAnswer);
        let person = caller.attribute(person, Author::proven(actor(), "/actor"));
        Ok(Self {
            actor: answers.actor,
            door: Some(door),
            key_id: caller.key_id().map(str::to_owned),
            person: person.map(|person| person.presence).map_err(|refused| {
                Box::new(refused.suggesting(
                    "sign in on the page with a link of `accord live open` or with the key of a \
                     person, or run `accord live answer` in a terminal",
                ))
            }),
        })
    }

    /// The same in the frame of a host. The host, and its agent, can send what they like through
    /// it, so that no person is known.
    #[must_use]
    pub fn in_a_frame(mut self) -> Self {
        let message = "only a person who is signed in can answer this, and an answer through the \
                       frame of a host names nobody";
        let refused = Failure::new(Code::AofPersonRequired, message);
        self.person = Err(Box::new(refused.suggesting("open the page of the session in Accord")));
        self
    }

    /// Says in an action who sent it, and what was asked then.
    pub(super) fn sign(&self, action: &mut Object, content: Option<&Content>) {
        unsign(action);
        put(action, ASKED, content.and_then(Content::asked));
        put(action, BY, self.actor.as_ref().map(|actor| actor.encode()));
        put(action, DOOR, self.door.map(Door::as_str));
        put(action, PERSON, self.door.map(|_| self.person.is_ok()));
        let presence = self.person.as_ref().ok().and_then(|presence| presence.recorded());
        put(action, PRESENCE, presence);
        put(action, KEY, self.key_id.as_deref());
    }
}

/// Takes out of an action who sent it, and what was asked.
pub(super) fn unsign(action: &mut Object) {
    for name in [BY, DOOR, PERSON, PRESENCE, KEY, ASKED] {
        action.shift_remove(name);
    }
}
