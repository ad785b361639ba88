//! What an accepted turn's requests lead to: the run goes on, waits for a person, or ends.

use std::collections::BTreeMap;

use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};

use crate::config::{Config, Gate};
use crate::doc;
use crate::event::{Emitter, EventType};
use crate::gate::{self, Completion, Failures, PhaseExit, View};
use crate::history::RunIndex;
use crate::members::build;
use crate::result::TurnResult;
use crate::rule;
use crate::run::{complete, enter_phase, pass_gate, set_gate, set_pending};
use crate::state::{PendingCompletion, PendingTransition, State, Status, Turn};
use crate::{RepoPath, approval, delegation, ledger, progress};

/// Who asks, and what is known about it.
pub(crate) struct Asking<'a> {
    pub(crate) config: &'a Config,
    pub(crate) files: &'a BTreeMap<String, String>,
    pub(crate) index: &'a RunIndex,
    pub(crate) turn: &'a Turn,
    pub(crate) changed: &'a [RepoPath],
    pub(crate) verification: Option<&'a str>,
    pub(crate) now: Time,
}

/// Carries a completed turn's requests out. While other turns are active, or delegated work
/// is out, they wait.
pub(crate) fn requests(
    state: &mut State,
    result: &TurnResult,
    asking: &Asking<'_>,
    lines: &mut Vec<Object>,
    emitter: &mut Emitter<'_>,
) {
    let turn = asking.turn.id().as_str();
    let beside_others = rule!(state.turns().len() > 0; RequestsJump => false);
    if beside_others || delegation::is_open(state) {
        queue(state, result, turn, asking.now);
        return;
    }
    let queued_end = doc::State::QUEUED_RUN_COMPLETION.given(state.members());
    let queued_end = queued_end.cloned();
    let queued_phase = doc::State::QUEUED_PHASE_TRANSITION.given(state.members());
    let queued_phase = queued_phase.cloned();
    let by = |request: &Option<Value>| {
        let by = request
            .as_ref()
            .and_then(|request| doc::PendingGate::REQUESTED_BY_TURN.get(request));
        by.unwrap_or(turn).to_owned()
    };
    if result.wants_completion() || queued_end.is_some() {
        let by = if result.wants_completion() {
            turn.to_owned()
        } else {
            by(&queued_end)
        };
        state.clear(doc::State::QUEUED_RUN_COMPLETION);
        completion(state, &by, queued_end.is_some(), asking, lines, emitter);
        return;
    }
    let from_queue = queued_phase.as_ref().and_then(|request| {
        let request = request.as_object()?;
        let current = doc::PendingGate::FROM
            .get(request)
            .is_none_or(|from| from == state.phase());
        current
            .then(|| doc::PendingGate::TO.get(request).map(str::to_owned))
            .flatten()
    });
    let wanted = result.phase_request().map(str::to_owned);
    let by = if wanted.is_some() {
        turn.to_owned()
    } else {
        by(&queued_phase)
    };
    let was_queued = wanted.is_none() && from_queue.is_some();
    if let Some(to) = wanted.or(from_queue) {
        state.clear(doc::State::QUEUED_PHASE_TRANSITION);
        phase_exit(state, &to, &by, was_queued, asking, lines, emitter);
    }
}

/// Takes back the requests that wait, when a review found required decisions missing: what is
/// not decided can neither end a phase nor the run, whoever asked for it.
pub(crate) fn withdraw_unfounded(
    state: &mut State,
    asking: &Asking<'_>,
    lines: &mut Vec<Object>,
    emitter: &mut Emitter<'_>,
) {
    let review = asking.turn.delegation_review();
    let missing = review.map_or_else(Vec::new, delegation::missing_decisions);
    if missing.is_empty() {
        return;
    }
    let reason = format!("required decisions are missing: {}", missing.join(", "));
    let phase = state.phase().to_owned();
    for (member, gate_type) in [
        (doc::State::QUEUED_RUN_COMPLETION, "run_completion"),
        (doc::State::QUEUED_PHASE_TRANSITION, "phase_transition"),
    ] {
        let Some(request) = member.get(state.members()).cloned() else {
            continue;
        };
        state.clear(member);
        let attempt = Attempt {
            gate_type,
            from: &phase,
            to: doc::PendingGate::TO.get(&request),
            by: doc::PendingGate::REQUESTED_BY_TURN
                .get(&request)
                .unwrap_or_default(),
            queued: true,
        };
        let failures = Failures::other(reason.clone());
        note_failure(state, None, &failures, &attempt, asking, lines, emitter);
    }
}

/// A phase that took too long ends as if it had been asked to; whether it did.
pub(crate) fn skip_phase(
    state: &mut State,
    asking: &Asking<'_>,
    lines: &mut Vec<Object>,
    emitter: &mut Emitter<'_>,
) -> bool {
    let next = asking.config.next_phase(state.phase()).map(str::to_owned);
    let (Some(next), 0) = (next, state.turns().len()) else {
        return false;
    };
    let before = state.phase().to_owned();
    let by = asking.turn.id().to_string();
    phase_exit(state, &next, &by, false, asking, lines, emitter);
    state.phase() != before || state.status() != Status::Active
}

fn queue(state: &mut State, result: &TurnResult, turn: &str, now: Time) {
    if result.wants_completion() {
        let request = build([
            doc::PendingGate::REQUESTED_BY_TURN.to(turn),
            doc::PendingGate::REQUESTED_AT.to(now),
        ]);
        state.set(doc::State::QUEUED_RUN_COMPLETION, request);
    }
    if let Some(to) = result.phase_request() {
        let request = build([
            doc::PendingGate::FROM.to(state.phase()),
            doc::PendingGate::TO.to(to),
            doc::PendingGate::REQUESTED_BY_TURN.to(turn),
            doc::PendingGate::REQUESTED_AT.to(now),
        ]);
        state.set(doc::State::QUEUED_PHASE_TRANSITION, request);
    }
}

fn view<'a>(asking: &Asking<'a>, phase: &'a str) -> View<'a> {
    View {
        config: asking.config,
        phase,
        verification: asking.verification,
        files: asking.files,
        index: asking.index,
        asking_role: Some(asking.turn.role()),
    }
}

fn completion(
    state: &mut State,
    by: &str,
    queued: bool,
    asking: &Asking<'_>,
    lines: &mut Vec<Object>,
    emitter: &mut Emitter<'_>,
) {
    let phase = state.phase().to_owned();
    let attempt = Attempt {
        gate_type: "run_completion",
        from: &phase,
        to: None,
        by,
        queued,
    };
    match gate::evaluate_completion(true, &view(asking, &phase)) {
        Completion::NoRequest => {}
        Completion::NotFinal(reason) => {
            let failures = Failures::other(reason);
            failed(state, None, &failures, &attempt, asking, lines, emitter);
        }
        Completion::Failed { gate, failures } => {
            failed(
                state,
                Some(&gate),
                &failures,
                &attempt,
                asking,
                lines,
                emitter,
            );
        }
        Completion::Awaiting { gate } => {
            if approved(state, &gate, &attempt, asking, lines, emitter) {
                complete(state, asking.now);
                return;
            }
            state.set_status(Status::Paused);
            state.set(doc::State::BLOCKED_ON, format!("human_approval:{gate}"));
            let pending = PendingCompletion::new(Some(&gate), Some(by), asking.now);
            state.set(doc::State::PENDING_RUN_COMPLETION, pending.document());
            emitter.emit(
                EventType::GatePending,
                state,
                None,
                attempt.payload(Some(&gate)),
            );
        }
        Completion::Complete { gate } => {
            if let Some(gate) = gate {
                pass_gate(state, &gate);
                emitter.emit(
                    EventType::GateApproved,
                    state,
                    None,
                    attempt.payload(Some(&gate)),
                );
            }
            complete(state, asking.now);
        }
    }
}

fn phase_exit(
    state: &mut State,
    to: &str,
    by: &str,
    queued: bool,
    asking: &Asking<'_>,
    lines: &mut Vec<Object>,
    emitter: &mut Emitter<'_>,
) {
    let phase = state.phase().to_owned();
    let attempt = Attempt {
        gate_type: "phase_transition",
        from: &phase,
        to: Some(to),
        by,
        queued,
    };
    match gate::evaluate_phase_exit(Some(to), &view(asking, &phase)) {
        PhaseExit::NoRequest => {}
        PhaseExit::UnknownPhase(name) => {
            let failures = Failures::other(format!("there is no phase {name}"));
            failed(state, None, &failures, &attempt, asking, lines, emitter);
        }
        PhaseExit::Failed { gate, failures } => {
            failed(
                state,
                gate.as_deref(),
                &failures,
                &attempt,
                asking,
                lines,
                emitter,
            );
        }
        PhaseExit::Awaiting { gate, to } => {
            if approved(state, &gate, &attempt, asking, lines, emitter) {
                enter(state, &to, Some(&gate), &attempt, asking, emitter);
                return;
            }
            let pending = PendingTransition {
                from: phase.clone(),
                to,
                gate: gate.clone(),
                requested_by_turn: Some(by.to_owned()),
            };
            set_pending(state, &pending);
            emitter.emit(
                EventType::GatePending,
                state,
                None,
                attempt.payload(Some(&gate)),
            );
        }
        PhaseExit::Advance { gate, to } => {
            enter(state, &to, gate.as_deref(), &attempt, asking, emitter);
        }
    }
}

/// A try to pass a gate.
struct Attempt<'a> {
    gate_type: &'static str,
    from: &'a str,
    to: Option<&'a str>,
    by: &'a str,
    queued: bool,
}

impl Attempt<'_> {
    fn payload(&self, gate: Option<&str>) -> Object {
        build([
            doc::GateEvent::GATE_TYPE.to(self.gate_type),
            doc::GateEvent::GATE_ID.to(gate),
            doc::GateEvent::FROM.to(self.from),
            doc::GateEvent::TO.to(self.to),
            doc::GateEvent::REQUESTED_BY_TURN.to(self.by),
        ])
    }
}

fn enter(
    state: &mut State,
    to: &str,
    gate: Option<&str>,
    attempt: &Attempt<'_>,
    asking: &Asking<'_>,
    emitter: &mut Emitter<'_>,
) {
    if let Some(gate) = gate {
        pass_gate(state, gate);
    }
    enter_phase(state, asking.config, to, asking.now);
    emitter.emit(EventType::PhaseEntered, state, None, attempt.payload(gate));
}

/// Whether the approval policy passes the gate; then the ledger says so.
fn approved(
    state: &mut State,
    gate: &str,
    attempt: &Attempt<'_>,
    asking: &Asking<'_>,
    lines: &mut Vec<Object>,
    emitter: &mut Emitter<'_>,
) -> bool {
    let passes = asking.config.gate(gate).is_some_and(|gate: &Gate| {
        approval::passes_without_person(
            asking.config,
            gate,
            attempt.from,
            attempt.to,
            asking.index,
            asking.turn.role(),
        )
    });
    if passes {
        pass_gate(state, gate);
        let mut payload = attempt.payload(Some(gate));
        doc::GateEvent::APPROVED_BY.set(&mut payload, "approval_policy");
        lines.push(ledger::typed(
            "approval_policy",
            state,
            asking.now,
            payload.clone(),
        ));
        emitter.emit(EventType::GateApproved, state, None, payload);
    }
    passes
}

/// Writes down that a gate stays shut.
fn note_failure(
    state: &mut State,
    gate: Option<&str>,
    failures: &Failures,
    attempt: &Attempt<'_>,
    asking: &Asking<'_>,
    lines: &mut Vec<Object>,
    emitter: &mut Emitter<'_>,
) {
    let failure = build([
        doc::GateFailure::GATE_TYPE.to(attempt.gate_type),
        doc::GateFailure::GATE_ID.to(gate),
        doc::GateFailure::PHASE.to(attempt.from),
        doc::GateFailure::FROM_PHASE.to(attempt.from),
        doc::GateFailure::TO_PHASE.to(attempt.to),
        doc::GateFailure::REQUESTED_BY_TURN.to(attempt.by),
        doc::GateFailure::FAILED_AT.to(asking.now),
        doc::GateFailure::QUEUED_REQUEST.to(attempt.queued),
        doc::GateFailure::REASONS.to(&failures.reasons),
        doc::GateFailure::MISSING_FILES.to(&failures.missing_files),
        doc::GateFailure::MISSING_VERIFICATION.to(failures.missing_verification),
    ]);
    if let Some(gate) = gate {
        set_gate(state, gate, "failed");
    }
    state.set(doc::State::LAST_GATE_FAILURE, failure.clone());
    lines.push(ledger::typed(
        "gate_failure",
        state,
        asking.now,
        failure.clone(),
    ));
    let about = Some((asking.turn.id().as_str(), asking.turn.role()));
    emitter.emit(EventType::GateFailed, state, about, failure);
}

fn failed(
    state: &mut State,
    gate: Option<&str>,
    failures: &Failures,
    attempt: &Attempt<'_>,
    asking: &Asking<'_>,
    lines: &mut Vec<Object>,
    emitter: &mut Emitter<'_>,
) {
    note_failure(state, gate, failures, attempt, asking, lines, emitter);
    let about = Some((asking.turn.id().as_str(), asking.turn.role()));
    let stuck = progress::gate_failed(
        state,
        gate.unwrap_or(attempt.gate_type),
        failures,
        asking.changed,
    );
    if let Some(block) = stuck {
        state.block(&block, asking.now);
        let details = build([("detail", block.detail.as_str().into())]);
        lines.push(ledger::typed(
            "non_progress_block",
            state,
            asking.now,
            details,
        ));
        emitter.emit(
            EventType::RunBlocked,
            state,
            about,
            crate::run::block_payload(&block),
        );
    }
}
