//! Gates that wait for a person.

use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};

use crate::members::{build, text};

/// A phase transition that waits for a person.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PendingTransition {
    /// The phase that ends.
    pub from: String,
    /// The phase that begins.
    pub to: String,
    /// The gate between them.
    pub gate: String,
    /// The turn that asked.
    pub requested_by_turn: Option<String>,
}

/// The end of the run, waiting for a person.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PendingCompletion {
    /// The gate before it.
    pub gate: Option<String>,
    /// The turn that asked.
    pub requested_by_turn: Option<String>,
    /// When it asked.
    pub requested_at: Option<String>,
}

/// What waits for a person.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Pending {
    /// A phase transition.
    Transition(PendingTransition),
    /// The end of the run.
    Completion(PendingCompletion),
}

impl PendingTransition {
    pub(super) fn read(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        Some(Self {
            from: text(members, "from")?.to_owned(),
            to: text(members, "to")?.to_owned(),
            gate: text(members, "gate")?.to_owned(),
            requested_by_turn: text(members, "requested_by_turn").map(str::to_owned),
        })
    }

    pub(crate) fn document(&self) -> Object {
        build([
            ("from", self.from.as_str().into()),
            ("to", self.to.as_str().into()),
            ("gate", self.gate.as_str().into()),
            ("requested_by_turn", self.requested_by_turn.clone().into()),
        ])
    }
}

impl PendingCompletion {
    /// A request of now.
    pub(crate) fn new(gate: Option<&str>, turn: Option<&str>, now: Time) -> Self {
        Self {
            gate: gate.map(str::to_owned),
            requested_by_turn: turn.map(str::to_owned),
            requested_at: Some(now.to_string()),
        }
    }

    pub(super) fn read(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let member = |name: &str| text(members, name).map(str::to_owned);
        Some(Self {
            gate: member("gate"),
            requested_by_turn: member("requested_by_turn"),
            requested_at: member("requested_at"),
        })
    }

    pub(crate) fn document(&self) -> Object {
        build([
            ("gate", self.gate.clone().into()),
            ("requested_by_turn", self.requested_by_turn.clone().into()),
            ("requested_at", self.requested_at.clone().into()),
        ])
    }
}
