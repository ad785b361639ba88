//! What an accepted turn's requests lead to: the run goes on, waits for a person, or ends.

use std::collections::BTreeMap;

use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};

use crate::config::{Config, Gate};
use crate::event::{Emitter, EventType};
use crate::gate::{self, Completion, Failures, PhaseExit, View};
use crate::history::RunIndex;
use crate::members::{self, array, build, given, text};
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
    let queued = |name: &str, state: &State| given(state.members(), name).cloned();
    let queued_end = queued("queued_run_completion", state);
    let queued_phase = queued("queued_phase_transition", state);
    let by = |request: &Option<Value>| {
        let by = request
            .as_ref()
            .and_then(|request| request.get("requested_by_turn")?.as_str());
        by.unwrap_or(turn).to_owned()
    };
    if result.wants_completion() || queued_end.is_some() {
        let by = if result.wants_completion() {
            turn.to_owned()
        } else {
            by(&queued_end)
        };
        state.set("queued_run_completion", Value::Null);
        completion(state, &by, queued_end.is_some(), asking, lines, emitter);
        return;
    }
    let from_queue = queued_phase.as_ref().and_then(|request| {
        let request = request.as_object()?;
        let current = text(request, "from").is_none_or(|from| from == state.phase());
        current
            .then(|| text(request, "to").map(str::to_owned))
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
        state.set("queued_phase_transition", Value::Null);
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
        ("queued_run_completion", "run_completion"),
        ("queued_phase_transition", "phase_transition"),
    ] {
        let Some(request) = members::object(state.members(), member).cloned() else {
            continue;
        };
        state.set(member, Value::Null);
        let attempt = Attempt {
            gate_type,
            from: &phase,
            to: text(&request, "to"),
            by: text(&request, "requested_by_turn").unwrap_or_default(),
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
            ("requested_by_turn", turn.into()),
            ("requested_at", now.to_string().into()),
        ]);
        state.set("queued_run_completion", request);
    }
    if let Some(to) = result.phase_request() {
        let request = build([
            ("from", state.phase().into()),
            ("to", to.into()),
            ("requested_by_turn", turn.into()),
            ("requested_at", now.to_string().into()),
        ]);
        state.set("queued_phase_transition", request);
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
            state.set("blocked_on", format!("human_approval:{gate}"));
            let pending = PendingCompletion::new(Some(&gate), Some(by), asking.now);
            state.set("pending_run_completion", pending.document());
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
            ("gate_type", self.gate_type.into()),
            ("gate_id", gate.into()),
            ("from", self.from.into()),
            ("to", self.to.into()),
            ("requested_by_turn", self.by.into()),
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
        payload.insert("approved_by".into(), "approval_policy".into());
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
        ("gate_type", attempt.gate_type.into()),
        ("gate_id", gate.into()),
        ("phase", attempt.from.into()),
        ("from_phase", attempt.from.into()),
        ("to_phase", attempt.to.into()),
        ("requested_by_turn", attempt.by.into()),
        ("failed_at", asking.now.to_string().into()),
        ("queued_request", attempt.queued.into()),
        ("reasons", array(&failures.reasons)),
        ("missing_files", array(&failures.missing_files)),
        ("missing_verification", failures.missing_verification.into()),
    ]);
    if let Some(gate) = gate {
        set_gate(state, gate, "failed");
    }
    state.set("last_gate_failure", failure.clone());
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
