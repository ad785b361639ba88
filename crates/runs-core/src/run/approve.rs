//! A person passes a gate.

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};

use super::{Change, Refused, illegal};
use crate::Ids;
use crate::config::{Config, GateAction};
use crate::event::{Emitter, EventType};
use crate::hooks::{self, HookBatch, HookPhase};
use crate::ledger;
use crate::members::build;
use crate::rule;
use crate::state::{Block, Pending, State, Status};

/// What happens before an approval takes effect, in this order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalPlan {
    /// What is approved.
    pub pending: Pending,
    /// Hooks that have a say.
    pub hooks: Option<HookBatch>,
    /// Commands that must succeed.
    pub actions: Vec<GateAction>,
    /// What those commands find in their environment.
    pub environment: Vec<(String, String)>,
}

/// What came of a gate's command.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ActionRun {
    /// The command.
    pub run: String,
    /// How it ended; `None` when it was ended.
    pub exit_code: Option<i64>,
    /// Whether its time was over.
    pub timed_out: bool,
    /// How long it took.
    pub duration_ms: u64,
    /// The end of what it wrote.
    pub output_excerpt: String,
}

/// What an approval would do: for looking at it, and before it is carried out.
///
/// # Errors
/// With `invalid_state_transition` when nothing waits for approval.
pub fn plan_approval(
    state: &State,
    config: &Config,
    completion: bool,
    history_length: u64,
    command: &str,
) -> Result<ApprovalPlan, Failure> {
    let pending = pending(state, completion)?;
    let (kind, gate, target, turn) = match &pending {
        Pending::Transition(transition) => (
            "phase_transition",
            Some(transition.gate.as_str()),
            Some(transition.to.as_str()),
            transition.requested_by_turn.as_deref(),
        ),
        Pending::Completion(completion) => (
            "run_completion",
            completion.gate.as_deref(),
            None,
            completion.requested_by_turn.as_deref(),
        ),
    };
    let declared = gate.and_then(|gate| config.gate(gate));
    let phase = HookPhase::BeforeGate;
    let payload = hooks::before_gate(
        kind,
        state.phase(),
        target,
        declared,
        config,
        history_length,
    );
    let run = state.run_id().map(ToString::to_string);
    let variable = |name: &str, value: &str| (format!("AGENTXCHAIN_{name}"), value.to_owned());
    let environment = vec![
        variable("GATE_ID", gate.unwrap_or_default()),
        variable("GATE_TYPE", kind),
        variable("PHASE", state.phase()),
        variable("REQUESTED_BY_TURN", turn.unwrap_or_default()),
        variable("TRIGGER_COMMAND", command),
    ];
    Ok(ApprovalPlan {
        hooks: HookBatch::new(phase, config.hooks(phase), payload, run),
        actions: declared.map_or_else(Vec::new, |gate| gate.actions.clone()),
        environment,
        pending,
    })
}

/// The phase transition that waits is approved; `ran` are the gate's commands.
///
/// # Errors
/// With `invalid_state_transition` when none waits, with `gate_action_failed` and a blocked
/// run when a command failed.
pub fn approve_transition(
    state: &State,
    config: &Config,
    ran: &[ActionRun],
    ids: &mut Ids,
    now: Time,
) -> Result<Change, Refused> {
    let Pending::Transition(transition) = pending(state, false)? else {
        return Err(illegal(state, "approve a transition").into());
    };
    check_actions(state, &transition.gate, ran, ids, now)?;
    let mut next = state.clone();
    next.unblock();
    enter_phase(&mut next, config, &transition.to, now);
    rule!(pass_gate(&mut next, &transition.gate); GateNotMarked => ());
    next.set("pending_phase_transition", Value::Null);
    let mut emitter = Emitter::new(&next, ids, now)?;
    let payload = build([
        ("gate_type", "phase_transition".into()),
        ("gate_id", transition.gate.as_str().into()),
        ("from", transition.from.as_str().into()),
        ("to", transition.to.as_str().into()),
        ("approved_by", "human".into()),
    ]);
    emitter.emit(EventType::GateApproved, &next, None, payload.clone());
    emitter.emit(EventType::PhaseEntered, &next, None, payload);
    let events = emitter.finish();
    let mut change = Change::new(next, events);
    change.ledger = action_lines(state, &transition.gate, ran, now);
    Ok(change)
}

/// The end of the run that waits is approved; `ran` are the gate's commands.
///
/// # Errors
/// As for [`approve_transition`].
pub fn approve_completion(
    state: &State,
    ran: &[ActionRun],
    ids: &mut Ids,
    now: Time,
) -> Result<Change, Refused> {
    let Pending::Completion(completion) = pending(state, true)? else {
        return Err(illegal(state, "approve its end").into());
    };
    let gate = completion.gate.clone().unwrap_or_default();
    check_actions(state, &gate, ran, ids, now)?;
    let mut next = state.clone();
    if !gate.is_empty() {
        pass_gate(&mut next, &gate);
    }
    complete(&mut next, now);
    let mut emitter = Emitter::new(&next, ids, now)?;
    let payload = build([
        ("gate_type", "run_completion".into()),
        ("gate_id", completion.gate.into()),
        ("approved_by", "human".into()),
    ]);
    emitter.emit(EventType::GateApproved, &next, None, payload.clone());
    emitter.emit(EventType::RunCompleted, &next, None, payload);
    let events = emitter.finish();
    let mut change = Change::new(next, events);
    change.ledger = action_lines(state, &gate, ran, now);
    Ok(change)
}

fn pending(state: &State, completion: bool) -> Result<Pending, Failure> {
    let found = match (state.status(), completion) {
        (Status::Paused | Status::Blocked, false) => {
            state.pending_transition().map(Pending::Transition)
        }
        (Status::Paused | Status::Blocked, true) => {
            state.pending_completion().map(Pending::Completion)
        }
        (Status::Active, false) => rule!(
            None;
            ApprovalWhileActive => state.pending_transition().map(Pending::Transition)
        ),
        (Status::Active, true) => rule!(
            None;
            EndWhileActive => state.pending_completion().map(Pending::Completion)
        ),
        _ => None,
    };
    found.ok_or_else(|| {
        let what = if completion {
            "the end of the run"
        } else {
            "a phase transition"
        };
        illegal(state, &format!("approve {what}: none waits"))
    })
}

/// A command that failed blocks the run; the gate keeps waiting.
fn check_actions(
    state: &State,
    gate: &str,
    ran: &[ActionRun],
    ids: &mut Ids,
    now: Time,
) -> Result<(), Refused> {
    let Some(failed) = ran
        .iter()
        .find(|run| run.exit_code != Some(0) || run.timed_out)
    else {
        return Ok(());
    };
    let message = format!("the command {:?} of the gate {gate} failed", failed.run);
    let failure = Failure::new(Code::XchainGateActionFailed, message.clone())
        .with("gate_id", gate)
        .with("exit_code", Value::from(failed.exit_code));
    let mut record = super::block(state, &Block::gate_action(gate, &message), ids, now)?;
    record.ledger = action_lines(state, gate, ran, now);
    Err(Refused {
        failure,
        record: Some(Box::new(record)),
    })
}

fn action_lines(state: &State, gate: &str, ran: &[ActionRun], now: Time) -> Vec<Object> {
    let line = |run: &ActionRun| {
        let details = build([
            ("gate_id", gate.into()),
            ("command", run.run.as_str().into()),
            ("exit_code", run.exit_code.into()),
            ("timed_out", run.timed_out.into()),
            ("duration_ms", run.duration_ms.into()),
            ("output_excerpt", run.output_excerpt.as_str().into()),
        ]);
        ledger::typed("gate_action", state, now, details)
    };
    ran.iter().map(line).collect()
}

/// The run goes into a phase.
pub(crate) fn enter_phase(state: &mut State, config: &Config, phase: &str, now: Time) {
    state.set_phase(phase);
    state.set("phase_entered_at", now.to_string());
    state.set("last_gate_failure", Value::Null);
    state.set("queued_phase_transition", Value::Null);
    state.set("non_progress_signature", Value::Null);
    state.set("non_progress_count", 0);
    if let Some(role) = config
        .route(phase)
        .and_then(|route| route.entry_role.as_deref())
    {
        state.set("next_recommended_role", role);
    }
}

/// A gate was passed.
pub(crate) fn pass_gate(state: &mut State, gate: &str) {
    set_gate(state, gate, "passed");
}

/// How a gate stands: `pending`, `passed` or `failed`.
pub(crate) fn set_gate(state: &mut State, gate: &str, status: &str) {
    let mut gates = crate::members::object(state.members(), "phase_gate_status")
        .cloned()
        .unwrap_or_default();
    gates.insert(gate.to_owned(), status.into());
    state.set("phase_gate_status", gates);
}

/// The run is over.
pub(crate) fn complete(state: &mut State, now: Time) {
    state.set_status(Status::Completed);
    for name in [
        "blocked_on",
        "escalation",
        "pending_run_completion",
        "pending_phase_transition",
        "queued_run_completion",
        "queued_phase_transition",
        "last_gate_failure",
        "next_recommended_role",
    ] {
        state.set(name, Value::Null);
    }
    state.set("completed_at", now.to_string());
}
