//! `state.json` 1.1: the state of a run.
//!
//! Invariants:
//! - every active turn has an id, a role and a sequence;
//! - unknown members are kept in their place;
//! - `blocked_reason` is set only while the run is blocked;
//! - the run's clock, `turn_sequence`, advances with every assignment and every acceptance and
//!   never decreases, so that the two can be compared.

mod blocked;
mod pending;
mod turn;
mod upgrade;

use accord_contract::{Code, Failure, Object, Time, Value, wire_enum};

pub use blocked::{Block, Category};
pub use pending::{Pending, PendingCompletion, PendingTransition};
pub use turn::{Baseline, Turn, TurnStatus};

use crate::doc::{self, Content, Member};
use crate::run::illegal;
use crate::{Config, Result, RunId, TurnId, build, members, rule};

pub(crate) const STATE_VERSION: &str = "1.1";

wire_enum! {
    pub enum Status("RunStatus", closed) {
        Idle = "idle",
        Active = "active",
        /// A person must approve a gate.
        Paused = "paused",
        /// A person must resolve a block.
        Blocked = "blocked",
        Completed = "completed",
        /// The run cannot be completed.
        Failed = "failed",
    }
}

impl Status {
    /// Whether the status of a run may change from this one to `to`.
    ///
    /// Clauses: AX-SM-TERMINAL, AX-SM-ILLEGAL.
    pub fn may_become(self, next: Self) -> bool {
        use Status::{Active, Blocked, Completed, Idle, Paused};
        matches!(
            (self, next),
            (Idle, Active)
                | (Active, Active | Paused | Blocked | Completed)
                | (Paused, Active | Blocked | Completed)
                // A blocked run that has not begun may begin. One with a pending gate may complete.
                | (Blocked, Active | Blocked | Completed)
                // Only by a new run.
                | (Completed, Active)
        )
    }

    pub fn waits_for_person(self) -> bool {
        matches!(self, Self::Paused | Self::Blocked)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct State {
    run_id: Option<RunId>,
    status: Status,
    phase: String,
    turns: Vec<Turn>,
    turn_sequence: u64,
    accepted_sequence: u64,
    /// Every member as it was read. The fields above replace theirs in [`State::document`].
    members: Object,
}

impl State {
    /// The state of a repository before its first run.
    pub fn idle(config: &Config) -> Self {
        let members = build([
            doc::State::SCHEMA_VERSION.to(STATE_VERSION),
            doc::State::RUN_ID.to(Value::Null),
            doc::State::PROJECT_ID.to(config.project_id()),
            doc::State::STATUS.to(Status::Idle.as_str()),
            doc::State::PHASE.to(config.first_phase()),
            doc::State::ACCEPTED_INTEGRATION_REF.to(Value::Null),
            doc::State::ACTIVE_TURNS.to(Object::new()),
            doc::State::TURN_SEQUENCE.to(0_u64),
            doc::State::LAST_COMPLETED_TURN_ID.to(Value::Null),
            doc::State::BLOCKED_ON.to(Value::Null),
            doc::State::BLOCKED_REASON.to(Value::Null),
            doc::State::ESCALATION.to(Value::Null),
            doc::State::PENDING_PHASE_TRANSITION.to(Value::Null),
            doc::State::PENDING_RUN_COMPLETION.to(Value::Null),
            doc::State::QUEUED_PHASE_TRANSITION.to(Value::Null),
            doc::State::QUEUED_RUN_COMPLETION.to(Value::Null),
            doc::State::LAST_GATE_FAILURE.to(Value::Null),
            doc::State::PHASE_GATE_STATUS.to(Object::new()),
            doc::State::BUDGET_RESERVATIONS.to(Object::new()),
            doc::State::BUDGET_STATUS.to(Object::new()),
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

    /// Reads a state of this or an earlier version. Fails with `state_invalid` when a member that
    /// decisions depend on is invalid.
    pub fn read(document: Value) -> Result<Self> {
        upgrade::read(document)
    }

    pub fn document(&self) -> Object {
        let mut members = self.members.clone();
        let turns: Object =
            self.turns.iter().map(|turn| (turn.id().to_string(), turn.document().into())).collect();
        for (name, value) in build([
            doc::State::SCHEMA_VERSION.to(STATE_VERSION),
            doc::State::RUN_ID.to(self.run_id.as_ref().map(RunId::as_str)),
            doc::State::STATUS.to(self.status.as_str()),
            doc::State::PHASE.to(self.phase.as_str()),
            doc::State::ACTIVE_TURNS.to(turns),
            doc::State::TURN_SEQUENCE.to(self.turn_sequence),
        ]) {
            members.insert(name, value);
        }
        // The reference runner has no such member. A state gets it with the first acceptance here.
        if self.accepted_sequence > 0 || doc::State::ACCEPTED_SEQUENCE.is_in(&members) {
            doc::State::ACCEPTED_SEQUENCE.set(&mut members, self.accepted_sequence);
        }
        if self.status != Status::Blocked {
            doc::State::BLOCKED_REASON.set(&mut members, Value::Null);
        }
        members
    }

    /// The id of the run, once it has begun.
    pub fn run_id(&self) -> Option<&RunId> {
        self.run_id.as_ref()
    }

    pub fn status(&self) -> Status {
        self.status
    }

    pub fn phase(&self) -> &str {
        &self.phase
    }

    /// The run's clock.
    pub fn turn_sequence(&self) -> u64 {
        self.turn_sequence
    }

    /// The run's clock at the last acceptance; zero before the first.
    pub fn accepted_sequence(&self) -> u64 {
        self.accepted_sequence
    }

    /// The active turns, in the order of their assignment.
    pub fn turns(&self) -> impl ExactSizeIterator<Item = &Turn> {
        self.turns.iter()
    }

    pub fn turn(&self, id: &TurnId) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.id() == id)
    }

    /// The active turn, if there is exactly one.
    pub fn only_turn(&self) -> Option<&Turn> {
        match self.turns.as_slice() {
            [turn] => Some(turn),
            _ => None,
        }
    }

    /// The named turn, or the only active one. Fails with `turn_not_active` when there is no such
    /// turn, and with `target_required` when several are active and none is named.
    ///
    /// Clauses: AX-HS-NOT-ACTIVE.
    pub fn target(&self, id: Option<&TurnId>) -> Result<&Turn> {
        let found = match id {
            Some(id) => self.turn(id),
            None => self.only_turn(),
        };
        found.ok_or_else(|| match id {
            None if self.turns.len() > 1 => {
                let names: Vec<&str> = self.turns.iter().map(|turn| turn.id().as_str()).collect();
                let turns: Vec<String> = self
                    .turns
                    .iter()
                    .map(|turn| format!("{} of {}", turn.id(), turn.role()))
                    .collect();
                let message = format!("{} turns are active: {}", turns.len(), turns.join(", "));
                Failure::new(Code::XchainTargetRequired, message)
                    .with("active_turns", members::array(&names))
                    .suggesting("name one of them with `--turn ID`")
            }
            _ => {
                let message = match id {
                    Some(id) => format!("{id} is not active"),
                    None => "no turn is active".to_owned(),
                };
                Failure::new(Code::XchainTurnNotActive, message)
                    .suggesting("`accord run status` shows the active turns and what is next")
            }
        })
    }

    /// The active turn with this id, if this is its current attempt. Fails like [`State::target`],
    /// and with `attempt_over` when the attempt is another one.
    pub fn target_at(&self, id: &TurnId, attempt: u64) -> Result<&Turn> {
        let turn = self.target(Some(id))?;
        if turn.attempt() == attempt {
            return Ok(turn);
        }
        let message = format!("{id} is at attempt {}, not {attempt}", turn.attempt());
        Err(Failure::new(Code::XchainAttemptOver, message)
            .with("turn_id", id.as_str())
            .with("attempt", attempt))
    }

    /// What blocks the run: `human:…`, `escalation:…`, `human_approval:…` and so on.
    pub fn blocked_on(&self) -> Option<&str> {
        doc::State::BLOCKED_ON.get(&self.members)
    }

    pub fn pending_transition(&self) -> Option<PendingTransition> {
        PendingTransition::read(doc::State::PENDING_PHASE_TRANSITION.raw(&self.members)?)
    }

    pub fn pending_completion(&self) -> Option<PendingCompletion> {
        PendingCompletion::read(doc::State::PENDING_RUN_COMPLETION.raw(&self.members)?)
    }

    pub fn pending(&self) -> Option<Pending> {
        let transition = self.pending_transition().map(Pending::Transition);
        transition.or_else(|| self.pending_completion().map(Pending::Completion))
    }

    /// Since when a person is needed: for the gate that is pending, else for the block. `None` if
    /// no person is needed or the state does not say it.
    pub fn waiting_since(&self) -> Option<Time> {
        if !self.status.waits_for_person() {
            return None;
        }
        match self.pending() {
            Some(pending) => pending.requested_at(),
            None => doc::Blocked::BLOCKED_AT.get(doc::State::BLOCKED_REASON.get(&self.members)?),
        }
    }

    /// The cost of the run in dollars.
    pub fn spent_usd(&self) -> f64 {
        doc::State::BUDGET_STATUS
            .get(&self.members)
            .and_then(|budget| doc::Budget::SPENT_USD.get(budget))
            .unwrap_or(0.0)
    }

    /// The reservations of active turns, in dollars.
    pub fn reserved_usd(&self) -> f64 {
        doc::State::BUDGET_RESERVATIONS
            .entries(&self.members)
            .filter_map(|(_, value)| {
                doc::Reservation::RESERVED_USD.raw(value).unwrap_or(value).as_f64()
            })
            .sum()
    }

    /// Whether a line of a record, or a session, belongs to this run.
    pub fn owns_line(&self, line: &Object) -> bool {
        let own = doc::History::RUN_ID.raw(line);
        own.is_some_and(|own| match self.run_id() {
            Some(run) => own.as_str() == Some(run.as_str()),
            None => own.is_null(),
        })
    }

    /// Why the run is blocked, in the words of the block.
    pub fn blocked_detail(&self) -> Option<&str> {
        doc::Recovery::DETAIL.get(self.recovery()?)
    }

    /// What a person must do to unblock the run.
    pub fn recovery_action(&self) -> Option<&str> {
        doc::Recovery::RECOVERY_ACTION.get(self.recovery()?)
    }

    fn recovery(&self) -> Option<&Object> {
        doc::Blocked::RECOVERY.get(doc::State::BLOCKED_REASON.get(&self.members)?)
    }

    pub fn gate_failure_reasons(&self) -> Vec<String> {
        let failure = doc::State::LAST_GATE_FAILURE.get(&self.members);
        failure.map(|failure| doc::GateFailure::REASONS.get(failure)).unwrap_or_default()
    }

    /// Any member as it would be written; `null` when it is absent.
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

    /// A member that is not a field of `State`; `null` when it is absent.
    pub(crate) fn value<K>(&self, member: Member<K>) -> Value {
        member.copy(&self.members)
    }

    pub(crate) fn set<K>(&mut self, member: Member<K>, value: impl Content<K>) {
        member.set(&mut self.members, value);
    }

    pub(crate) fn clear<K>(&mut self, member: Member<K>) {
        member.set(&mut self.members, Value::Null);
    }

    pub(crate) fn remove<K>(&mut self, member: Member<K>) {
        member.remove(&mut self.members);
    }

    /// Changes the status. Fails with `invalid_state_transition` unless [`Status::may_become`]
    /// allows the change.
    pub(crate) fn set_status(&mut self, status: Status) -> Result<()> {
        if !self.status.may_become(status) {
            return Err(illegal(self, &format!("become {status}")));
        }
        self.status = status;
        if status != Status::Blocked {
            self.clear(doc::State::BLOCKED_REASON);
        }
        Ok(())
    }

    /// Pauses the run until a person approves a gate.
    pub(crate) fn wait_for_approval(&mut self, gate: &str) -> Result<()> {
        self.set_status(Status::Paused)?;
        self.set(doc::State::BLOCKED_ON, format!("human_approval:{gate}"));
        // The request that failed or was sent back before is obsolete: this one met all conditions.
        self.clear(doc::State::LAST_GATE_FAILURE);
        self.remove(doc::State::SENT_BACK);
        Ok(())
    }

    pub(crate) fn set_phase(&mut self, phase: &str) {
        phase.clone_into(&mut self.phase);
    }

    pub(crate) fn begin_run(&mut self, run_id: RunId) {
        self.run_id = Some(run_id);
        self.turns.clear();
    }

    /// Advances the run's clock.
    pub(crate) fn tick(&mut self) -> u64 {
        self.turn_sequence += 1;
        self.turn_sequence
    }

    /// Advances the run's clock for an acceptance.
    ///
    /// Clauses: AX-HS-SEQUENCE.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_illegal_status_change_is_a_failure_and_changes_nothing() {
        for (from, to) in [
            (Status::Completed, Status::Paused),
            (Status::Idle, Status::Completed),
            (Status::Failed, Status::Active),
        ] {
            let document = json!({"status": from.as_str(), "phase": "planning"});
            let mut state = State::read(document).unwrap();
            let before = state.clone();
            let failure = state.set_status(to).unwrap_err();
            assert_eq!(failure.code, Code::XchainInvalidStateTransition);
            assert_eq!(state, before);
        }
    }
}
