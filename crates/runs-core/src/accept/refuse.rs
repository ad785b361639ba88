//! Records a refusal. The turn stays active and keeps the reason.

use accord_contract::{Code, Failure, Object};

use super::{Commit, Conclusion, Context, Inputs, Next, Step, Want, append, run_record};
use crate::accept::Record;
use crate::conflict::Conflict;
use crate::ledger::governance;
use crate::policy::{self, Violation};
use crate::run::{Change, block_payload};
use crate::{
    Block, Emitter, EventType, HookPhase, HookReport, LedgerDecision, Result, State, TurnStatus,
    array, build, doc,
};

#[derive(Clone, Debug)]
pub(super) enum Refusal {
    /// The result is refused. The turn can be retried.
    Result(Failure),
    /// A hook refused or tampered. The run is blocked until a person resolves that.
    Hook { failure: Failure, phase: HookPhase, hook: String },
    /// A policy blocks the run.
    Policy(Violation),
    /// Another turn changed the same files.
    Conflict(Conflict),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Result(failure)
    }
}

impl Refusal {
    /// Requests the commit that records the refusal. Fails with `invalid_state_transition` when the
    /// run cannot be blocked from its status.
    pub(super) fn record(self, context: &mut Context) -> Result<Next> {
        let (turn, now) = (&context.turn, context.now);
        let mut next = context.inputs.state.clone();
        let mut ledger = Vec::new();
        let mut events = Vec::new();
        let mut block = None;
        let failure = match self {
            Self::Result(failure) => failure,
            Self::Hook { failure, phase, hook } => {
                // The turn stays active, because resolving the block removes the reason from the
                // run. The turn keeps it.
                let stopped = Block::hook(phase, &hook, &failure.message);
                block =
                    Some(Block { turn: Some(turn.id().clone()), turn_retained: true, ..stopped });
                failure
            }
            Self::Policy(violation) => {
                block = Some(Block::policy(&violation.id, &violation.message, turn.id()));
                let details = build([
                    ("turn_id", turn.id().as_str().into()),
                    ("role", turn.role().into()),
                    ("policy_id", violation.id.as_str().into()),
                    ("message", violation.message.as_str().into()),
                ]);
                let decision = LedgerDecision::PolicyEscalation;
                ledger.push(governance(decision, &context.inputs.state, now, details));
                policy::refusal(&violation)
            }
            Self::Conflict(conflict) => {
                let failure = conflict_failure(&conflict);
                let document = conflict.document(now);
                if let Some(turn) = next.turn_mut(turn.id()) {
                    turn.set_status(TurnStatus::Conflicted);
                    turn.set(doc::Turn::CONFLICT_STATE, document.clone());
                }
                let mut details =
                    build([("turn_id", turn.id().as_str().into()), ("role", turn.role().into())]);
                details.extend(document.clone());
                ledger.push(governance(LedgerDecision::ConflictDetected, &next, now, details));
                events.push((EventType::TurnConflicted, document));
                block =
                    conflict.is_loop().then(|| Block::conflict_loop(turn.id(), &failure.message));
                failure
            }
        };
        // A conflict is not a fault of the result, so the turn is not `failed_acceptance` then.
        if events.is_empty() {
            fail_turn(&mut next, context, &failure);
            events.push((EventType::AcceptanceFailed, payload(&failure)));
        }
        if let Some(block) = block {
            next.block(&block, now)?;
            events.push((EventType::RunBlocked, block_payload(&block)));
        }
        let about = Some((turn.id().as_str(), turn.role()));
        let mut change = Change { ledger, ..Change::new(next, Vec::new()) };
        // Before a run begins there are no events. The refusal is recorded without one.
        if let Ok(mut emitter) = Emitter::new(&change.state, &mut context.ids, now) {
            for (kind, payload) in events {
                emitter.emit(kind, &change.state, about, payload);
            }
            change.events = emitter.finish();
        }
        let before = context.inputs.state.clone();
        let want = context.record(&before, &change);
        let conclusion = Conclusion::Refused { failure, state: Box::new(change.state) };
        Ok((Step::Recording(conclusion), want))
    }
}

impl Context {
    pub(super) fn record(&mut self, before: &State, change: &Change) -> Want {
        // A blocked run gets a line in the run history, like a completed one.
        let Inputs { config, index, .. } = &self.inputs;
        let ended = run_record(&change.state, config, index, self.now);
        let writes = ended.iter().map(|line| append(Record::RunHistory, line)).collect();
        let commit = Commit::of_change_with(before, change, writes, &mut self.ids, self.now);
        Want::Commit(Box::new(commit))
    }
}

fn fail_turn(state: &mut State, context: &Context, failure: &Failure) {
    if let Some(turn) = state.turn_mut(context.turn.id()) {
        turn.set_status(TurnStatus::FailedAcceptance);
        let mut document = payload(failure);
        document.insert("failed_at".into(), context.now.to_string().into());
        turn.set(doc::Turn::LAST_ACCEPTANCE_FAILURE, document);
    }
}

fn conflict_failure(conflict: &Conflict) -> Failure {
    let files = conflict.files.join(", ");
    let message = format!("{} changed {files} concurrently", conflict.turns.join(", "));
    Failure::new(Code::XchainConflict, message)
        .with("files", array(&conflict.files))
        .with("accepted_since_turn_ids", array(&conflict.turns))
        .with("suggested_resolution", conflict.suggestion())
}

fn payload(failure: &Failure) -> Object {
    let mut payload = build([
        ("error_code", failure.code.as_str().into()),
        ("message", failure.message.as_str().into()),
    ]);
    for name in ["failed_stage", "error_type", "errors"] {
        let details = failure.details.as_ref();
        if let Some(detail) = details.and_then(|details| details.get(name)) {
            payload.insert(name.to_owned(), detail.clone());
        }
    }
    payload
}

pub(super) fn check_hooks(report: &HookReport) -> Result<(), Refusal> {
    match report.failure() {
        None => Ok(()),
        Some(failure) => Err(Refusal::Hook {
            failure,
            phase: report.phase,
            hook: report.stopper().unwrap_or_default().to_owned(),
        }),
    }
}
