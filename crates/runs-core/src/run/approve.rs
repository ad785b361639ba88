//! Approval of a gate by a person.

use accord_contract::{Code, Failure, Object, Time, Value};

use super::{Change, Refused, illegal};
use crate::config::{Config, GateAction};
use crate::gate::{GateStatus, GateType};
use crate::state::{Block, Pending, State, Status};
use crate::{
    Approval, EventType, HookBatch, HookPhase, Ids, LedgerType, Result, Subject, build, doc, hooks,
    ledger, rule,
};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PendingApproval {
    Transition,
    Completion,
}

impl PendingApproval {
    pub fn subject(self) -> Subject<'static> {
        match self {
            Self::Transition => Subject::Transition,
            Self::Completion => Subject::Completion,
        }
    }

    /// The command, as the commands of a gate see it in their environment.
    fn command(self) -> &'static str {
        match self {
            Self::Transition => "approve-transition",
            Self::Completion => "approve-completion",
        }
    }
}

/// The steps before an approval takes effect, in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalPlan {
    pub pending: Pending,
    pub hooks: Option<HookBatch>,
    /// Commands that must succeed.
    pub actions: Vec<GateAction>,
    pub environment: Vec<(String, String)>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ActionRun {
    pub run: String,
    /// The exit code; `None` when it did not exit.
    pub exit_code: Option<i64>,
    pub timed_out: bool,
    pub duration_ms: u64,
    pub output_excerpt: String,
}

/// The steps of an approval. A dry run shows them and does nothing else. Fails with
/// `invalid_state_transition` when no gate is pending.
pub fn plan_approval(
    state: &State,
    config: &Config,
    wanted: PendingApproval,
    history_length: u64,
) -> Result<ApprovalPlan> {
    let pending = pending(state, wanted)?;
    let (kind, gate, target) = (pending.gate_type(), pending.gate(), pending.to());
    let declared = gate.and_then(|gate| config.gate(gate));
    let phase = HookPhase::BeforeGate;
    let payload = hooks::before_gate(kind, state.phase(), target, declared, config, history_length);
    let run = state.run_id().map(ToString::to_string);
    let variable = |name: &str, value: &str| (format!("AGENTXCHAIN_{name}"), value.to_owned());
    let environment = vec![
        variable("GATE_ID", gate.unwrap_or_default()),
        variable("GATE_TYPE", kind.as_str()),
        variable("PHASE", state.phase()),
        variable("REQUESTED_BY_TURN", pending.requested_by_turn().unwrap_or_default()),
        variable("TRIGGER_COMMAND", wanted.command()),
    ];
    Ok(ApprovalPlan {
        hooks: HookBatch::new(phase, config.hooks(phase), payload, run),
        actions: declared.map_or_else(Vec::new, |gate| gate.actions.clone()),
        environment,
        pending,
    })
}

/// Approves the pending phase transition. `ran` are the results of the gate's commands. The event
/// and the ledger say who approved it, and about what. Fails with `invalid_state_transition` when
/// none is pending. Fails with `gate_action_failed`, and blocks the run, when a command failed.
///
/// Clauses: AX-SM-APPROVE.
pub fn approve_transition(
    state: &State,
    config: &Config,
    approval: &Approval,
    ran: &[ActionRun],
    ids: &mut Ids,
    now: Time,
) -> Result<Change, Refused> {
    let Pending::Transition(transition) = pending(state, PendingApproval::Transition)? else {
        return Err(illegal(state, "approve a transition").into());
    };
    check_actions(state, &transition.gate, ran, ids, now)?;
    let mut next = state.clone();
    // A failed command blocks the run but keeps the gate pending, so an approval can also unblock.
    next.unblock()?;
    enter_phase(&mut next, config, &transition.to, now);
    rule!(pass_gate(&mut next, &transition.gate); GateNotMarked => ());
    next.clear(doc::State::PENDING_PHASE_TRANSITION);
    let payload = build([
        doc::GateEvent::GATE_TYPE.to(GateType::PhaseTransition),
        doc::GateEvent::GATE_ID.to(transition.gate.as_str()),
        doc::GateEvent::FROM.to(transition.from.as_str()),
        doc::GateEvent::TO.to(transition.to.as_str()),
        doc::GateEvent::APPROVED_BY.to("human"),
    ]);
    let lines = action_lines(state, &transition.gate, ran, now);
    Ok(record(state, next, (EventType::PhaseEntered, payload), approval, lines, ids, now)?)
}

/// Approves the pending completion of the run. `ran` are the results of the gate's commands. Fails
/// like [`approve_transition`].
///
/// Clauses: AX-SM-COMPLETE.
pub fn approve_completion(
    state: &State,
    approval: &Approval,
    ran: &[ActionRun],
    ids: &mut Ids,
    now: Time,
) -> Result<Change, Refused> {
    let Pending::Completion(completion) = pending(state, PendingApproval::Completion)? else {
        return Err(illegal(state, "approve its end").into());
    };
    let gate = completion.gate.clone().unwrap_or_default();
    check_actions(state, &gate, ran, ids, now)?;
    let mut next = state.clone();
    if !gate.is_empty() {
        pass_gate(&mut next, &gate);
    }
    complete(&mut next, now)?;
    let payload = build([
        doc::GateEvent::GATE_TYPE.to(GateType::RunCompletion),
        doc::GateEvent::GATE_ID.to(completion.gate),
        doc::GateEvent::APPROVED_BY.to("human"),
    ]);
    let lines = action_lines(state, &gate, ran, now);
    Ok(record(state, next, (EventType::RunCompleted, payload), approval, lines, ids, now)?)
}

/// The events and the ledger lines of an approval. `lines` are those of the gate's commands.
fn record(
    before: &State,
    next: State,
    (effect, payload): (EventType, Object),
    approval: &Approval,
    lines: Vec<Object>,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    let mut approved = payload.clone();
    approval.add_to(&mut approved);
    let gate = (EventType::GateApproved, None, approved.clone());
    let mut change = Change::emitting(next, [gate, (effect, None, payload)], ids, now)?;
    change.ledger = lines;
    change.ledger.push(ledger::typed(LedgerType::GateApproval, before, now, approved));
    Ok(change)
}

/// Clauses: AX-SM-APPROVE, AX-SM-COMPLETE.
fn pending(state: &State, wanted: PendingApproval) -> Result<Pending> {
    use PendingApproval::{Completion, Transition};
    let transition = || state.pending_transition().map(Pending::Transition);
    let completion = || state.pending_completion().map(Pending::Completion);
    let found = match (state.status(), wanted) {
        (Status::Paused | Status::Blocked, Transition) => transition(),
        (Status::Paused | Status::Blocked, Completion) => completion(),
        // Only a run that waits for approval, or was blocked while it waited, can be approved.
        (Status::Active, Transition) => rule!(None; ApprovalWhileActive => transition()),
        (Status::Active, Completion) => rule!(None; EndWhileActive => completion()),
        _ => None,
    };
    found.ok_or_else(|| {
        let what = match wanted {
            Transition => "a phase transition",
            Completion => "the end of the run",
        };
        illegal(state, &format!("approve {what}: none waits"))
    })
}

/// Blocks the run when a command failed. The gate stays pending.
fn check_actions(
    state: &State,
    gate: &str,
    ran: &[ActionRun],
    ids: &mut Ids,
    now: Time,
) -> Result<(), Refused> {
    // A command that was stopped at its timeout can still exit with zero.
    let failed = ran.iter().find(|run| run.exit_code != Some(0) || run.timed_out);
    let Some(failed) = failed else { return Ok(()) };
    let message = format!("the command {:?} of the gate {gate} failed", failed.run);
    let failure = Failure::new(Code::XchainGateActionFailed, message.clone());
    let failure = failure.with("gate_id", gate).with("exit_code", Value::from(failed.exit_code));
    let mut record = super::block(state, &Block::gate_action(gate, &message), ids, now)?;
    record.ledger = action_lines(state, gate, ran, now);
    Err(Refused { failure, record: Some(Box::new(record)) })
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
        ledger::typed(LedgerType::GateAction, state, now, details)
    };
    ran.iter().map(line).collect()
}

pub(crate) fn enter_phase(state: &mut State, config: &Config, phase: &str, now: Time) {
    state.set_phase(phase);
    state.set(doc::State::PHASE_ENTERED_AT, now);
    // These members describe the old phase and would be shown as problems of the new one.
    state.clear(doc::State::LAST_GATE_FAILURE);
    state.remove(doc::State::SENT_BACK);
    state.remove(doc::State::ANSWER);
    state.clear(doc::State::QUEUED_PHASE_TRANSITION);
    state.clear(doc::State::NON_PROGRESS_SIGNATURE);
    state.set(doc::State::NON_PROGRESS_COUNT, 0_u64);
    if let Some(role) = config.route(phase).and_then(|route| route.entry_role.as_deref()) {
        state.set(doc::State::NEXT_RECOMMENDED_ROLE, role);
    }
}

pub(crate) fn pass_gate(state: &mut State, gate: &str) {
    set_gate(state, gate, GateStatus::Passed);
}

pub(crate) fn set_gate(state: &mut State, gate: &str, status: GateStatus) {
    let mut gates = doc::State::PHASE_GATE_STATUS.get(state.members()).cloned().unwrap_or_default();
    gates.insert(gate.to_owned(), status.as_str().into());
    state.set(doc::State::PHASE_GATE_STATUS, gates);
}

pub(crate) fn complete(state: &mut State, now: Time) -> Result<()> {
    state.set_status(Status::Completed)?;
    for member in [
        doc::State::BLOCKED_ON.any(),
        doc::State::ESCALATION.any(),
        doc::State::PENDING_RUN_COMPLETION.any(),
        doc::State::PENDING_PHASE_TRANSITION.any(),
        doc::State::QUEUED_RUN_COMPLETION.any(),
        doc::State::QUEUED_PHASE_TRANSITION.any(),
        doc::State::LAST_GATE_FAILURE.any(),
        doc::State::NEXT_RECOMMENDED_ROLE.any(),
    ] {
        state.clear(member);
    }
    state.remove(doc::State::SENT_BACK);
    state.remove(doc::State::ANSWER);
    state.set(doc::State::COMPLETED_AT, now);
    Ok(())
}
