//! Decisions of a person: who decided, through which door, and about what.
//!
//! The actor is what the person says about themselves, the user of the operating system is what the
//! host saw. Both are recorded.

use accord_base::{Door, Presence};
use accord_contract::Object;

use crate::evidence::{EvidenceDigest, ExpectedDigest, SHOWN_BY};
use crate::{Result, doc};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Person {
    /// Who it is, for example `human:lead`.
    pub actor: String,
    /// The user of the operating system that ran the command, if it is known.
    pub os_user: Option<String>,
    pub note: Option<String>,
    pub door: Door,
    pub presence: Presence,
}

/// A person's decision before the evidence is known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Consent {
    pub person: Person,
    /// The evidence that the person saw; the decision is refused if it has changed since.
    pub expect: Option<ExpectedDigest>,
}

/// A person's decision about evidence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Approval {
    pub person: Person,
    pub evidence: EvidenceDigest,
}

impl Person {
    /// A person without a note, through a door.
    pub fn new(actor: impl Into<String>, door: Door) -> Self {
        let presence = Presence::default();
        Self { actor: actor.into(), os_user: None, note: None, door, presence }
    }
}

impl Consent {
    /// A decision about whatever the evidence is.
    pub fn of(person: Person) -> Self {
        Self { person, expect: None }
    }

    /// The decision about this evidence. Fails with `evidence_changed` when the person saw other
    /// evidence.
    pub fn about(&self, evidence: EvidenceDigest) -> Result<Approval> {
        if let Some(expected) = &self.expect {
            expected.check(&evidence, SHOWN_BY)?;
        }
        Ok(Approval { person: self.person.clone(), evidence })
    }
}

impl Approval {
    pub(crate) fn add_to(&self, record: &mut Object) {
        let person = &self.person;
        doc::HumanDecision::ACTOR.set(record, person.actor.as_str());
        if let Some(user) = &person.os_user {
            doc::HumanDecision::OS_USER.set(record, user.as_str());
        }
        if let Some(note) = &person.note {
            doc::HumanDecision::NOTE.set(record, note.as_str());
        }
        doc::HumanDecision::DOOR.set(record, person.door.as_str());
        if let Some(presence) = person.presence.recorded() {
            doc::HumanDecision::PRESENCE.set(record, presence);
        }
        doc::HumanDecision::EVIDENCE_DIGEST.set(record, self.evidence.as_str());
    }
}
