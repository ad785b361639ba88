//! `state.json` 1.1: where a run stands.
//!
//! Invariants:
//! - the status is one of six, and every active turn has an id, a role and a sequence;
//! - members that we do not know survive, in their place;
//! - `blocked_reason` says something only while the run is blocked;
//! - one clock, `turn_sequence`, ticks at every assignment and every acceptance, so that the
//!   two can be put in order; it never goes back.

mod blocked;
mod pending;
mod turn;
mod upgrade;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Object, Value};
use accord_contract::wire_enum;

pub use blocked::{Block, Category};
pub use pending::{Pending, PendingCompletion, PendingTransition};
pub use turn::{Baseline, Turn, TurnStatus};

use crate::config::Config;
use crate::members::{self, build, number};
use crate::rule;
use crate::{RunId, TurnId};

/// The version of the document.
pub const STATE_VERSION: &str = "1.1";

wire_enum! {
    /// How a run stands.
    pub enum Status("RunStatus", closed) {
        /// It has not begun.
        Idle = "idle",
        /// Turns can be assigned.
        Active = "active",
        /// A person must approve a gate.
        Paused = "paused",
        /// A person must resolve something.
        Blocked = "blocked",
        /// It is over.
        Completed = "completed",
        /// It cannot be finished.
        Failed = "failed",
    }
}

impl Status {
    /// Whether a run may ever go from this status to that one.
    pub fn may_become(self, next: Self) -> bool {
        use Status::{Active, Blocked, Completed, Idle, Paused};
        matches!(
            (self, next),
            (Idle, Active)
                | (Active, Active | Paused | Blocked | Completed)
                | (Paused, Active | Blocked | Completed)
                // A blocked run that never began begins; one with a gate to approve ends.
                | (Blocked, Active | Blocked | Completed)
                // Only as a new run.
                | (Completed, Active)
        )
    }
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    run_id: Option<RunId>,
    status: Status,
    phase: String,
    turns: Vec<Turn>,
    turn_sequence: u64,
    accepted_sequence: u64,
    /// Every member, those above as they came in.
    members: Object,
}

impl State {
    /// The state of a repository in which no run has begun.
    pub fn idle(config: &Config) -> Self {
        let members = build([
            ("schema_version", STATE_VERSION.into()),
            ("run_id", Value::Null),
            ("project_id", config.project_id().into()),
            ("status", Status::Idle.as_str().into()),
            ("phase", config.first_phase().into()),
            ("accepted_integration_ref", Value::Null),
            ("active_turns", Object::new().into()),
            ("turn_sequence", 0.into()),
            ("last_completed_turn_id", Value::Null),
            ("blocked_on", Value::Null),
            ("blocked_reason", Value::Null),
            ("escalation", Value::Null),
            ("pending_phase_transition", Value::Null),
            ("pending_run_completion", Value::Null),
            ("queued_phase_transition", Value::Null),
            ("queued_run_completion", Value::Null),
            ("last_gate_failure", Value::Null),
            ("phase_gate_status", Object::new().into()),
            ("budget_reservations", Object::new().into()),
            ("budget_status", Object::new().into()),
        ]);
        Self {
            run_id: None,
            status: Status::Idle,
            phase: config.first_phase().to_owned(),
            turns: Vec::new(),
            turn_sequence: 0,
            accepted_sequence: 0,
            members,
        }
    }

    /// Reads a state, whatever earlier version wrote it.
    ///
    /// # Errors
    /// With `state_invalid` when a member that decisions depend on is not sound.
    pub fn read(document: Value) -> Result<Self, Failure> {
        upgrade::read(document)
    }

    /// The document to write.
    pub fn document(&self) -> Object {
        let mut members = self.members.clone();
        let turns = self.turns.iter();
        let turns: Object = turns
            .map(|turn| (turn.id().to_string(), turn.document().into()))
            .collect();
        for (name, value) in build([
            ("schema_version", STATE_VERSION.into()),
            ("run_id", self.run_id.as_ref().map(RunId::as_str).into()),
            ("status", self.status.as_str().into()),
            ("phase", self.phase.as_str().into()),
            ("active_turns", turns.into()),
            ("turn_sequence", self.turn_sequence.into()),
        ]) {
            members.insert(name, value);
        }
        if self.accepted_sequence > 0 || members.contains_key("accepted_sequence") {
            members.insert("accepted_sequence".into(), self.accepted_sequence.into());
        }
        if self.status != Status::Blocked {
            members.insert("blocked_reason".into(), Value::Null);
        }
        members
    }

    /// The run, once it has begun.
    pub fn run_id(&self) -> Option<&RunId> {
        self.run_id.as_ref()
    }

    /// How the run stands.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The phase that the run is in.
    pub fn phase(&self) -> &str {
        &self.phase
    }

    /// The last tick of the run's clock.
    pub fn turn_sequence(&self) -> u64 {
        self.turn_sequence
    }

    /// The tick of the last acceptance; zero before the first.
    pub fn accepted_sequence(&self) -> u64 {
        self.accepted_sequence
    }

    /// The active turns, in the order of their assignment.
    pub fn turns(&self) -> impl ExactSizeIterator<Item = &Turn> {
        self.turns.iter()
    }

    /// An active turn.
    pub fn turn(&self, id: &TurnId) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.id() == id)
    }

    /// The only active turn, where there is exactly one.
    pub fn only_turn(&self) -> Option<&Turn> {
        match self.turns.as_slice() {
            [turn] => Some(turn),
            _ => None,
        }
    }

    /// The turn that is meant: the one that is named, or the only one.
    ///
    /// # Errors
    /// With `turn_not_active` when there is none, with `target_required` when there are
    /// several and none is named.
    pub fn target(&self, id: Option<&TurnId>) -> Result<&Turn, Failure> {
        let found = match id {
            Some(id) => self.turn(id),
            None => self.only_turn(),
        };
        found.ok_or_else(|| match id {
            None if self.turns.len() > 1 => {
                let names: Vec<&str> = self.turns.iter().map(|turn| turn.id().as_str()).collect();
                let message = format!("{} turns are active; name one", names.len());
                Failure::new(Code::XchainTargetRequired, message)
                    .with("active_turns", members::array(&names))
            }
            _ => {
                let message = match id {
                    Some(id) => format!("{id} is not active"),
                    None => "no turn is active".to_owned(),
                };
                Failure::new(Code::XchainTurnNotActive, message)
            }
        })
    }

    /// The turn of that id, while it is at that try.
    ///
    /// # Errors
    /// As [`State::target`], and with `attempt_over` when it is at another by now.
    pub fn target_at(&self, id: &TurnId, attempt: u64) -> Result<&Turn, Failure> {
        let turn = self.target(Some(id))?;
        if turn.attempt() == attempt {
            return Ok(turn);
        }
        let message = format!("{id} is at try {}, not {attempt} any more", turn.attempt());
        Err(Failure::new(Code::XchainAttemptOver, message)
            .with("turn_id", id.as_str())
            .with("attempt", attempt))
    }

    /// Why the run waits: `human:…`, `escalation:…`, `human_approval:…` and so on.
    pub fn blocked_on(&self) -> Option<&str> {
        members::text(&self.members, "blocked_on")
    }

    /// The phase transition that waits for a person.
    pub fn pending_transition(&self) -> Option<PendingTransition> {
        PendingTransition::read(self.members.get("pending_phase_transition")?)
    }

    /// The completion that waits for a person.
    pub fn pending_completion(&self) -> Option<PendingCompletion> {
        PendingCompletion::read(self.members.get("pending_run_completion")?)
    }

    /// What the run has cost, in dollars.
    pub fn spent_usd(&self) -> f64 {
        members::object(&self.members, "budget_status")
            .and_then(|budget| number(budget, "spent_usd"))
            .unwrap_or(0.0)
    }

    /// What is set aside for active turns, in dollars.
    pub fn reserved_usd(&self) -> f64 {
        members::entries(&self.members, "budget_reservations")
            .filter_map(|(_, value)| value.get("reserved_usd").unwrap_or(value).as_f64())
            .sum()
    }

    /// Any member, as it would be written; `null` where there is none.
    pub fn member(&self, name: &str) -> Value {
        match name {
            "active_turns" | "turn_sequence" | "status" | "phase" | "run_id"
            | "accepted_sequence" => self.document().remove(name).unwrap_or(Value::Null),
            _ => self.members.get(name).cloned().unwrap_or(Value::Null),
        }
    }

    pub(crate) fn members(&self) -> &Object {
        &self.members
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    pub(crate) fn set_status(&mut self, status: Status) {
        debug_assert!(
            self.status.may_become(status),
            "{} to {status}",
            self.status
        );
        self.status = status;
        if status != Status::Blocked {
            self.set("blocked_reason", Value::Null);
        }
    }

    pub(crate) fn set_phase(&mut self, phase: &str) {
        phase.clone_into(&mut self.phase);
    }

    pub(crate) fn begin_run(&mut self, run_id: RunId) {
        self.run_id = Some(run_id);
        self.turns.clear();
    }

    /// The clock's next tick.
    pub(crate) fn tick(&mut self) -> u64 {
        self.turn_sequence += 1;
        self.turn_sequence
    }

    /// The clock's next tick, for an acceptance.
    pub(crate) fn tick_acceptance(&mut self) -> u64 {
        self.accepted_sequence = rule!(self.tick(); SequenceRestarts => 1);
        self.accepted_sequence
    }

    pub(crate) fn add_turn(&mut self, turn: Turn) {
        self.turns.push(turn);
    }

    pub(crate) fn turn_mut(&mut self, id: &TurnId) -> Option<&mut Turn> {
        self.turns.iter_mut().find(|turn| turn.id() == id)
    }

    pub(crate) fn remove_turn(&mut self, id: &TurnId) -> Option<Turn> {
        let at = self.turns.iter().position(|turn| turn.id() == id)?;
        Some(self.turns.remove(at))
    }
}
