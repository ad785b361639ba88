//! Decisions of a person: who decided, through which door, and about what.
//!
//! The actor is what the person says about themselves, the user of the operating system is what the
//! host saw. Both are recorded.

use accord_base::decision::{Decided, DecisionId, DecisionProtocol, DecisionRecord};
use accord_base::{By, Door, Presence};
use accord_contract::{Object, Time, Timestamp};

use crate::evidence::{EvidenceDigest, ExpectedDigest, LastDecision, SHOWN_BY};
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
    /// Whether the person decides although processes of workers still run.
    pub despite_leftovers: bool,
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
    /// The record in the form of every protocol.
    pub decision: Option<DecisionRecord>,
}

/// What is decided, for the record of the decision.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decision<'a> {
    pub kind: &'a str,
    pub subject: &'a str,
    pub outcome: &'a str,
    pub asked_at: Option<Time>,
    /// The sandboxes in which the work was done.
    pub sandbox: Option<String>,
}

impl Person {
    /// A person without a note, through a door.
    pub fn new(actor: impl Into<String>, door: Door) -> Self {
        let presence = Presence::default();
        let (actor, os_user, note) = (actor.into(), None, None);
        Self { actor, os_user, note, door, presence, despite_leftovers: false }
    }
}

impl Consent {
    /// A decision about whatever the evidence is.
    pub fn of(person: Person) -> Self {
        Self { person, expect: None }
    }

    /// The decision about this evidence. Fails with `decision_stale` when somebody else decided
    /// since the person looked, with `evidence_changed` when only the evidence is another one.
    pub fn about(&self, evidence: EvidenceDigest, last: Option<&LastDecision>) -> Result<Approval> {
        if let Some(expected) = &self.expect {
            expected.check(Some((&evidence, true)), last, SHOWN_BY)?;
        }
        Ok(Approval { person: self.person.clone(), evidence, decision: None })
    }
}

impl Person {
    /// The record of a decision of this person. `chance` makes its id unique.
    pub fn decision(
        &self,
        decision: Decision<'_>,
        evidence: Option<&EvidenceDigest>,
        chance: &str,
        now: Time,
    ) -> Result<DecisionRecord> {
        let Decision { kind, subject, outcome, asked_at, sandbox } = decision;
        let by = By::parse(&self.actor, self.door)?.present(self.presence.clone());
        let (protocol, at) = (DecisionProtocol::Runs, now.to_string());
        let id = DecisionId::of(&[protocol.as_str(), kind, subject, outcome, &at, chance]);
        let record =
            DecisionRecord::new(id, Decided { protocol, kind, subject, outcome }, &by, now);
        Ok(DecisionRecord {
            os_user: self.os_user.clone().or(record.os_user),
            evidence: evidence.map(ToString::to_string),
            note: self.note.clone(),
            asked_at: asked_at.map(Timestamp::emit),
            sandbox,
            ..record
        })
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
        let Some(decision) = &self.decision else { return };
        doc::HumanDecision::DECISION_ID.set(record, decision.decision_id.as_str());
        doc::HumanDecision::KNOWN_BY.set(record, decision.known_by.as_str());
        if let Some(hub) = &decision.hub {
            doc::HumanDecision::HUB.set(record, hub.as_str());
        }
        if let Some(asked) = &decision.asked_at {
            doc::HumanDecision::ASKED_AT.set(record, asked.time());
        }
        doc::HumanDecision::DECIDED_AT.set(record, decision.decided_at.time());
        if let Some(sandbox) = &decision.sandbox {
            doc::HumanDecision::SANDBOX.set(record, sandbox.as_str());
        }
        if let Some(left) = &decision.left_running {
            doc::HumanDecision::LEFT_RUNNING.set(record, left.as_str());
        }
    }
}
