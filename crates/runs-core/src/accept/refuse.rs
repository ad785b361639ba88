//! How a refusal is recorded: the turn stays active and says what happened to it.

use accord_contract::codes::Failure;
use accord_contract::wire::Object;

use super::{Acceptance, Commit, Inputs, Record, Step, Want, Write, run_record};
use crate::conflict::Conflict;
use crate::doc;
use crate::event::{Emitter, EventType};
use crate::hooks::HookOutcome;
use crate::ledger;
use crate::members::{array, build};
use crate::policy::{self, Violation};
use crate::run::Change;
use crate::state::{Block, State, TurnStatus};

impl Acceptance {
    /// The result is refused; the turn can be tried again.
    pub(super) fn refuse(&mut self, failure: Failure) {
        let next = self.failed_state(&failure);
        let events = [(EventType::AcceptanceFailed, payload(&failure))];
        self.record(failure, next, Vec::new(), &events);
    }

    /// A hook refused, or tampered: the run waits for a person.
    pub(super) fn refuse_hook(&mut self, failure: Failure, said: &HookOutcome) {
        let name = said.stopper().unwrap_or_default();
        let mut block = Block::hook(said.phase, name, &failure.message);
        block.turn = Some(self.turn.id().clone());
        block.turn_retained = true;
        let mut next = self.failed_state(&failure);
        next.block(&block, self.now);
        let events = [
            (EventType::AcceptanceFailed, payload(&failure)),
            (EventType::RunBlocked, crate::run::block_payload(&block)),
        ];
        self.record(failure, next, Vec::new(), &events);
    }

    /// A policy asks for a person.
    pub(super) fn refuse_policy(&mut self, violation: &Violation) {
        let failure = policy::refusal(violation);
        let block = Block::policy(&violation.id, &violation.message, self.turn.id());
        let mut next = self.failed_state(&failure);
        next.block(&block, self.now);
        let details = build([
            ("turn_id", self.turn.id().as_str().into()),
            ("role", self.turn.role().into()),
            ("policy_id", violation.id.as_str().into()),
            ("message", violation.message.as_str().into()),
        ]);
        let line = ledger::governance("policy_escalation", &self.inputs.state, self.now, details);
        let events = [
            (EventType::AcceptanceFailed, payload(&failure)),
            (EventType::RunBlocked, crate::run::block_payload(&block)),
        ];
        self.record(failure, next, vec![line], &events);
    }

    /// Another turn changed the same files.
    pub(super) fn refuse_conflict(&mut self, conflict: &Conflict) {
        let files = conflict.files.join(", ");
        let message = format!("{} changed {files} meanwhile", conflict.turns.join(", "));
        let failure = Failure::new(accord_contract::codes::Code::XchainConflict, message)
            .with("files", array(&conflict.files))
            .with("accepted_since_turn_ids", array(&conflict.turns))
            .with("suggested_resolution", conflict.suggestion());
        let document = conflict.document(self.now);
        let mut next = self.inputs.state.clone();
        if let Some(turn) = next.turn_mut(self.turn.id()) {
            turn.set_status(TurnStatus::Conflicted);
            turn.set(doc::Turn::CONFLICT_STATE, document.clone());
        }
        let mut details = build([
            ("turn_id", self.turn.id().as_str().into()),
            ("role", self.turn.role().into()),
        ]);
        details.extend(document.clone());
        let line = ledger::governance("conflict_detected", &next, self.now, details);
        let mut events = vec![(EventType::TurnConflicted, document)];
        if conflict.is_loop() {
            let block = Block::conflict_loop(self.turn.id(), &failure.message);
            next.block(&block, self.now);
            events.push((EventType::RunBlocked, crate::run::block_payload(&block)));
        }
        self.record(failure, next, vec![line], &events);
    }

    fn failed_state(&self, failure: &Failure) -> State {
        let mut next = self.inputs.state.clone();
        if let Some(turn) = next.turn_mut(self.turn.id()) {
            turn.set_status(TurnStatus::FailedAcceptance);
            turn.set(
                doc::Turn::LAST_ACCEPTANCE_FAILURE,
                failed(failure, self.now),
            );
        }
        next
    }

    fn record(
        &mut self,
        failure: Failure,
        next: State,
        ledger: Vec<Object>,
        events: &[(EventType, Object)],
    ) {
        let about = Some((self.turn.id().as_str(), self.turn.role()));
        let mut lines = Vec::new();
        if let Ok(mut emitter) = Emitter::new(&next, &mut self.ids, self.now) {
            for (kind, payload) in events {
                emitter.emit(*kind, &next, about, payload.clone());
            }
            lines = emitter.finish();
        }
        let change = Change {
            state: next.clone(),
            ledger,
            events: lines,
        };
        self.found.refused = Some((failure, Box::new(next)));
        let before = self.inputs.state.clone();
        self.record_change(&before, &change);
    }

    /// Asks for the commit of a change that accepts no turn.
    pub(super) fn record_change(&mut self, before: &State, change: &Change) {
        // A run that is blocked has come to an end for now, which is told as every other end is.
        let Inputs { config, index, .. } = &self.inputs;
        let ended = run_record(&change.state, config, index, self.now);
        let ended = ended.map(|line| Write::Append {
            record: Record::RunHistory,
            line,
        });
        let further = ended.into_iter().collect();
        let commit = Commit::of_change_with(before, change, further, &mut self.ids, self.now);
        self.step = Step::Recording;
        self.want = Want::Commit(Box::new(commit));
    }
}

fn payload(failure: &Failure) -> Object {
    let mut payload = build([
        ("error_code", failure.code.as_str().into()),
        ("message", failure.message.as_str().into()),
    ]);
    for name in ["failed_stage", "error_type", "errors"] {
        let detail = failure
            .details
            .as_ref()
            .and_then(|details| details.get(name));
        if let Some(detail) = detail {
            payload.insert(name.to_owned(), detail.clone());
        }
    }
    payload
}

fn failed(failure: &Failure, now: accord_contract::time::Time) -> Object {
    let mut document = payload(failure);
    document.insert("failed_at".into(), now.to_string().into());
    document
}
