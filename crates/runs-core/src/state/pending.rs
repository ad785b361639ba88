//! Gates that need approval by a person.

use accord_contract::{Object, Time, Value};

use crate::doc::{self, Member, Text};
use crate::{GateType, build};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PendingTransition {
    pub from: String,
    pub to: String,
    pub gate: String,
    pub requested_by_turn: Option<String>,
    /// The time of the request; requests of other runners do not say it.
    pub requested_at: Option<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PendingCompletion {
    /// The final gate, where one is declared.
    pub gate: Option<String>,
    pub requested_by_turn: Option<String>,
    pub requested_at: Option<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Pending {
    Transition(PendingTransition),
    Completion(PendingCompletion),
}

impl Pending {
    pub fn gate_type(&self) -> GateType {
        match self {
            Self::Transition(_) => GateType::PhaseTransition,
            Self::Completion(_) => GateType::RunCompletion,
        }
    }

    pub fn gate(&self) -> Option<&str> {
        match self {
            Self::Transition(pending) => Some(&pending.gate),
            Self::Completion(pending) => pending.gate.as_deref(),
        }
    }

    /// The phase that is requested; `None` for the completion of the run.
    pub fn to(&self) -> Option<&str> {
        match self {
            Self::Transition(pending) => Some(&pending.to),
            Self::Completion(_) => None,
        }
    }

    pub fn requested_by_turn(&self) -> Option<&str> {
        let (Self::Transition(PendingTransition { requested_by_turn, .. })
        | Self::Completion(PendingCompletion { requested_by_turn, .. })) = self;
        requested_by_turn.as_deref()
    }

    pub fn requested_at(&self) -> Option<Time> {
        let (Self::Transition(PendingTransition { requested_at, .. })
        | Self::Completion(PendingCompletion { requested_at, .. })) = self;
        requested_at.as_deref().and_then(Time::parse_iso)
    }
}

impl PendingTransition {
    pub(super) fn read(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        Some(Self {
            from: doc::PendingGate::FROM.get(members)?.to_owned(),
            to: doc::PendingGate::TO.get(members)?.to_owned(),
            gate: doc::PendingGate::GATE.get(members)?.to_owned(),
            requested_by_turn: doc::PendingGate::REQUESTED_BY_TURN.get(members).map(str::to_owned),
            requested_at: doc::PendingGate::REQUESTED_AT.get(members).map(str::to_owned),
        })
    }

    pub(crate) fn document(&self) -> Object {
        build([
            doc::PendingGate::FROM.to(self.from.as_str()),
            doc::PendingGate::TO.to(self.to.as_str()),
            doc::PendingGate::GATE.to(self.gate.as_str()),
            doc::PendingGate::REQUESTED_BY_TURN.to(self.requested_by_turn.clone()),
            doc::PendingGate::REQUESTED_AT.to(self.requested_at.clone()),
        ])
    }
}

impl PendingCompletion {
    pub(crate) fn new(gate: Option<&str>, turn: Option<&str>, now: Time) -> Self {
        Self {
            gate: gate.map(str::to_owned),
            requested_by_turn: turn.map(str::to_owned),
            requested_at: Some(now.to_string()),
        }
    }

    pub(super) fn read(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let member = |member: Member<Text>| member.get(members).map(str::to_owned);
        Some(Self {
            gate: member(doc::PendingGate::GATE),
            requested_by_turn: member(doc::PendingGate::REQUESTED_BY_TURN),
            requested_at: member(doc::PendingGate::REQUESTED_AT),
        })
    }

    pub(crate) fn document(&self) -> Object {
        build([
            doc::PendingGate::GATE.to(self.gate.clone()),
            doc::PendingGate::REQUESTED_BY_TURN.to(self.requested_by_turn.clone()),
            doc::PendingGate::REQUESTED_AT.to(self.requested_at.clone()),
        ])
    }
}
