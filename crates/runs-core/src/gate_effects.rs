//! The effects of the requests of an accepted turn: the run continues, waits for approval, or ends.

use std::collections::BTreeMap;

use accord_contract::{Object, Time, Value};

use crate::config::{Config, Gate};
use crate::event::{About, Emitter, EventType};
use crate::gate::{self, Completion, Failures, GateStatus, GateType, PhaseExit, View};
use crate::run::{block_payload, complete, enter_phase, pass_gate, set_gate, set_pending};
use crate::state::{Block, PendingCompletion, PendingTransition, State, Status, Turn};
use crate::{
    LedgerType, Result, RunIndex, TurnResult, approval, build, delegation, doc, ledger, progress,
    rule,
};

/// The state, ledger lines and events of an acceptance under construction.
pub(crate) struct Draft<'a> {
    pub(crate) state: State,
    pub(crate) ledger: Vec<Object>,
    pub(crate) emitter: Emitter<'a>,
}

/// The accepted turn, and the inputs of its gate.
pub(crate) struct GateInputs<'a> {
    pub(crate) config: &'a Config,
    pub(crate) files: &'a BTreeMap<String, String>,
    pub(crate) index: &'a RunIndex,
    pub(crate) turn: &'a Turn,
    pub(crate) verification: Option<&'a str>,
    pub(crate) now: Time,
}

pub(crate) struct Request<'a> {
    pub(crate) gate_type: GateType,
    pub(crate) from: &'a str,
    pub(crate) to: Option<&'a str>,
    pub(crate) by: Option<&'a str>,
    pub(crate) was_queued: bool,
}

impl Draft<'_> {
    pub(crate) fn emit(&mut self, kind: EventType, about: About<'_>, payload: Object) {
        self.emitter.emit(kind, &self.state, about, payload);
    }

    pub(crate) fn note(&mut self, kind: LedgerType, now: Time, details: Object) {
        self.ledger.push(ledger::typed(kind, &self.state, now, details));
    }

    pub(crate) fn block(&mut self, block: &Block, turn: &Turn, now: Time) -> Result<()> {
        self.state.block(block, now)?;
        self.emit(EventType::RunBlocked, turn.about(), block_payload(block));
        Ok(())
    }
}

impl GateInputs<'_> {
    fn view<'a>(&'a self, phase: &'a str) -> View<'a> {
        View {
            config: self.config,
            phase,
            verification: self.verification,
            files: self.files,
            index: self.index,
            asking_role: Some(self.turn.role()),
        }
    }
}

impl Request<'_> {
    fn payload(&self, gate: Option<&str>) -> Object {
        build([
            doc::GateEvent::GATE_TYPE.to(self.gate_type),
            doc::GateEvent::GATE_ID.to(gate),
            doc::GateEvent::FROM.to(self.from),
            doc::GateEvent::TO.to(self.to),
            doc::GateEvent::REQUESTED_BY_TURN.to(self.by),
        ])
    }

    pub(crate) fn failure(&self, gate: Option<&str>, failures: &Failures, now: Time) -> Object {
        build([
            doc::GateFailure::GATE_TYPE.to(self.gate_type),
            doc::GateFailure::GATE_ID.to(gate),
            doc::GateFailure::PHASE.to(self.from),
            doc::GateFailure::FROM_PHASE.to(self.from),
            doc::GateFailure::TO_PHASE.to(self.to),
            doc::GateFailure::REQUESTED_BY_TURN.to(self.by),
            doc::GateFailure::FAILED_AT.to(now),
            doc::GateFailure::QUEUED_REQUEST.to(self.was_queued),
            doc::GateFailure::REASONS.to(&failures.reasons),
            doc::GateFailure::MISSING_FILES.to(&failures.missing_files),
            doc::GateFailure::MISSING_VERIFICATION.to(failures.missing_verification),
        ])
    }
}

/// Executes the requests of a completed turn. While other turns are active or delegations are open,
/// the requests are queued.
///
/// Clauses: AX-HS-LEAVES.
pub(crate) fn apply_requests(
    draft: &mut Draft<'_>,
    result: &TurnResult,
    inputs: &GateInputs<'_>,
) -> Result<()> {
    let state = &mut draft.state;
    let turn = inputs.turn.id().as_str();
    let has_others = rule!(state.turns().len() > 0; RequestsJump => false);
    // A gate that passes now would end the phase while others still work in it.
    if has_others || delegation::is_open(state) {
        queue(state, result, turn, inputs.now);
        return Ok(());
    }
    let queued_end = doc::State::QUEUED_RUN_COMPLETION.given(state.members()).cloned();
    let queued_phase = doc::State::QUEUED_PHASE_TRANSITION.given(state.members()).cloned();
    let requester = |request: &Option<Value>| {
        let by = |request| doc::PendingGate::REQUESTED_BY_TURN.get(request);
        request.as_ref().and_then(by).unwrap_or(turn).to_owned()
    };
    // The protocol evaluates the completion before the phase exit.
    if result.wants_completion() || queued_end.is_some() {
        let by = if result.wants_completion() { turn.to_owned() } else { requester(&queued_end) };
        state.clear(doc::State::QUEUED_RUN_COMPLETION);
        return end_run(draft, &by, queued_end.is_some(), inputs);
    }
    // A request that was queued in another phase is obsolete.
    let is_current =
        |it: &&Value| doc::PendingGate::FROM.get(*it).is_none_or(|from| from == state.phase());
    let from_queue = queued_phase.as_ref().filter(is_current);
    let from_queue = from_queue.and_then(|request| doc::PendingGate::TO.get(request));
    let wanted = result.phase_request();
    let by = if wanted.is_some() { turn.to_owned() } else { requester(&queued_phase) };
    let Some(to) = wanted.or(from_queue) else {
        return count_dropped(draft, result, inputs);
    };
    state.clear(doc::State::QUEUED_PHASE_TRANSITION);
    leave_phase(draft, to, &by, wanted.is_none(), inputs)
}

/// Counts a request that was dropped, because the gate fails on files that the turn did not touch,
/// like one that failed.
fn count_dropped(
    draft: &mut Draft<'_>,
    result: &TurnResult,
    inputs: &GateInputs<'_>,
) -> Result<()> {
    let phase = draft.state.phase().to_owned();
    match gate::evaluate_phase_exit(result.dropped_request(), &inputs.view(&phase)) {
        PhaseExit::Failed { gate, failures } => {
            block_without_progress(draft, gate.as_deref(), &failures, inputs)
        }
        _ => Ok(()),
    }
}

/// Withdraws the queued requests when a review reports missing decisions. Without these neither the
/// phase nor the run can end.
pub(crate) fn withdraw_undecided(draft: &mut Draft<'_>, inputs: &GateInputs<'_>) {
    let review = inputs.turn.delegation_review();
    let missing = review.map_or_else(Vec::new, delegation::missing_decisions);
    if missing.is_empty() {
        return;
    }
    let reason = format!("required decisions are missing: {}", missing.join(", "));
    let phase = draft.state.phase().to_owned();
    for (member, gate_type) in [
        (doc::State::QUEUED_RUN_COMPLETION, GateType::RunCompletion),
        (doc::State::QUEUED_PHASE_TRANSITION, GateType::PhaseTransition),
    ] {
        let Some(queued) = member.get(draft.state.members()).cloned() else { continue };
        draft.state.clear(member);
        let request = Request {
            gate_type,
            from: &phase,
            to: doc::PendingGate::TO.get(&queued),
            by: Some(doc::PendingGate::REQUESTED_BY_TURN.get(&queued).unwrap_or_default()),
            was_queued: true,
        };
        note_failure(draft, None, &Failures::other(reason.clone()), &request, inputs);
    }
}

/// Ends a phase that exceeded its time limit, as if a turn had requested it. Returns whether the
/// gate allowed that.
pub(crate) fn skip_phase(draft: &mut Draft<'_>, inputs: &GateInputs<'_>) -> Result<bool> {
    let state = &draft.state;
    let before = state.phase().to_owned();
    let (Some(next), 0) = (inputs.config.next_phase(&before), state.turns().len()) else {
        return Ok(false);
    };
    leave_phase(draft, next, inputs.turn.id().as_str(), false, inputs)?;
    // A gate that waits for approval also counts: the phase ends without further turns.
    Ok(draft.state.phase() != before || draft.state.status() != Status::Active)
}

fn queue(state: &mut State, result: &TurnResult, turn: &str, now: Time) {
    let by = build([
        doc::PendingGate::REQUESTED_BY_TURN.to(turn),
        doc::PendingGate::REQUESTED_AT.to(now),
    ]);
    if result.wants_completion() {
        state.set(doc::State::QUEUED_RUN_COMPLETION, &by);
    }
    if let Some(to) = result.phase_request() {
        let from = doc::PendingGate::FROM.to(state.phase());
        let mut request = build([from, doc::PendingGate::TO.to(to)]);
        request.extend(by);
        state.set(doc::State::QUEUED_PHASE_TRANSITION, request);
    }
}

fn end_run(
    draft: &mut Draft<'_>,
    by: &str,
    was_queued: bool,
    inputs: &GateInputs<'_>,
) -> Result<()> {
    let phase = draft.state.phase().to_owned();
    let gate_type = GateType::RunCompletion;
    let request = Request { gate_type, from: &phase, to: None, by: Some(by), was_queued };
    let (gate, failures) = match gate::evaluate_completion(true, &inputs.view(&phase)) {
        Completion::NoRequest => return Ok(()),
        Completion::NotFinal(reason) => (None, Failures::other(reason)),
        Completion::Failed { gate, failures } => (Some(gate), failures),
        Completion::Awaiting { gate } if approve(draft, &gate, &request, inputs) => {
            return complete(&mut draft.state, inputs.now);
        }
        Completion::Awaiting { gate } => {
            let pending = PendingCompletion::new(Some(&gate), Some(by), inputs.now);
            draft.state.wait_for_approval(&gate)?;
            draft.state.set(doc::State::PENDING_RUN_COMPLETION, pending.document());
            draft.emit(EventType::GatePending, None, request.payload(Some(&gate)));
            return Ok(());
        }
        Completion::Complete { gate } => {
            if let Some(gate) = gate {
                pass_gate(&mut draft.state, &gate);
                draft.emit(EventType::GateApproved, None, request.payload(Some(&gate)));
            }
            return complete(&mut draft.state, inputs.now);
        }
    };
    fail(draft, gate.as_deref(), &failures, &request, inputs)
}

fn leave_phase(
    draft: &mut Draft<'_>,
    to: &str,
    by: &str,
    was_queued: bool,
    inputs: &GateInputs<'_>,
) -> Result<()> {
    let phase = draft.state.phase().to_owned();
    let gate_type = GateType::PhaseTransition;
    let request = Request { gate_type, from: &phase, to: Some(to), by: Some(by), was_queued };
    let (gate, failures) = match gate::evaluate_phase_exit(Some(to), &inputs.view(&phase)) {
        PhaseExit::NoRequest => return Ok(()),
        PhaseExit::UnknownPhase(name) => {
            (None, Failures::other(format!("there is no phase {name}")))
        }
        PhaseExit::Failed { gate, failures } => (gate, failures),
        PhaseExit::Awaiting { gate, to } if approve(draft, &gate, &request, inputs) => {
            enter(draft, &to, Some(&gate), &request, inputs);
            return Ok(());
        }
        PhaseExit::Awaiting { gate, to } => {
            let payload = request.payload(Some(&gate));
            let pending = PendingTransition {
                from: phase.clone(),
                to,
                gate,
                requested_by_turn: Some(by.to_owned()),
                requested_at: Some(inputs.now.to_string()),
            };
            set_pending(&mut draft.state, &pending)?;
            draft.emit(EventType::GatePending, None, payload);
            return Ok(());
        }
        PhaseExit::Advance { gate, to } => {
            enter(draft, &to, gate.as_deref(), &request, inputs);
            return Ok(());
        }
    };
    fail(draft, gate.as_deref(), &failures, &request, inputs)
}

fn enter(
    draft: &mut Draft<'_>,
    to: &str,
    gate: Option<&str>,
    request: &Request<'_>,
    inputs: &GateInputs<'_>,
) {
    if let Some(gate) = gate {
        pass_gate(&mut draft.state, gate);
    }
    enter_phase(&mut draft.state, inputs.config, to, inputs.now);
    draft.emit(EventType::PhaseEntered, None, request.payload(gate));
}

/// Whether the approval policy passes the gate. The ledger records it.
fn approve(
    draft: &mut Draft<'_>,
    gate: &str,
    request: &Request<'_>,
    inputs: &GateInputs<'_>,
) -> bool {
    let (config, role) = (inputs.config, inputs.turn.role());
    let (from, to) = (request.from, request.to);
    let passes = config.gate(gate).is_some_and(|gate: &Gate| {
        approval::passes_without_person(config, gate, from, to, inputs.index, role)
    });
    if passes {
        pass_gate(&mut draft.state, gate);
        let mut payload = request.payload(Some(gate));
        doc::GateEvent::APPROVED_BY.set(&mut payload, "approval_policy");
        draft.note(LedgerType::ApprovalPolicy, inputs.now, payload.clone());
        draft.emit(EventType::GateApproved, None, payload);
    }
    passes
}

fn note_failure(
    draft: &mut Draft<'_>,
    gate: Option<&str>,
    failures: &Failures,
    request: &Request<'_>,
    inputs: &GateInputs<'_>,
) {
    let failure = request.failure(gate, failures, inputs.now);
    if let Some(gate) = gate {
        set_gate(&mut draft.state, gate, GateStatus::Failed);
    }
    draft.state.set(doc::State::LAST_GATE_FAILURE, failure.clone());
    draft.note(LedgerType::GateFailure, inputs.now, failure.clone());
    draft.emit(EventType::GateFailed, inputs.turn.about(), failure);
}

/// Records that a gate failed, and blocks a run that makes no progress.
fn fail(
    draft: &mut Draft<'_>,
    gate: Option<&str>,
    failures: &Failures,
    request: &Request<'_>,
    inputs: &GateInputs<'_>,
) -> Result<()> {
    note_failure(draft, gate, failures, request, inputs);
    block_without_progress(draft, gate, failures, inputs)
}

fn block_without_progress(
    draft: &mut Draft<'_>,
    gate: Option<&str>,
    failures: &Failures,
    inputs: &GateInputs<'_>,
) -> Result<()> {
    let Some(block) = progress::gate_failed(&mut draft.state, gate, failures) else {
        return Ok(());
    };
    draft.block(&block, inputs.turn, inputs.now)?;
    let details = build([("detail", block.detail.as_str().into())]);
    draft.note(LedgerType::NonProgressBlock, inputs.now, details);
    Ok(())
}
