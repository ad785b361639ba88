//! A person sends a request for a gate back: the request is dropped, and the run continues in the
//! same phase.
//!
//! The protocol has no such operation. Its records are those of a gate that failed, which other
//! runners read: `last_gate_failure`, a `gate_failure` line of the ledger, a `gate_failed` event.

use accord_contract::{Object, Time};

use super::assign::runtime_of;
use super::{Change, illegal, set_gate};
use crate::gate::{Failures, GateStatus};
use crate::gate_effects::Request;
use crate::state::{Pending, State};
use crate::{
    Approval, Config, EventType, Ids, LedgerDecision, LedgerType, Result, build, doc, ledger,
};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SendBack {
    /// The reason, for the next turns of the phase.
    pub reason: String,
    /// The role that gets the next turn; that of the turn that requested the gate if absent.
    pub role: Option<String>,
}

/// What a run records about a request that was sent back, until the gate is requested again.
#[derive(Clone, Copy, Debug)]
pub struct SentBack<'a>(&'a Object);

impl<'a> SentBack<'a> {
    pub fn of(state: &'a State) -> Option<Self> {
        doc::State::SENT_BACK.get(state.members()).map(Self)
    }

    pub fn reason(self) -> &'a str {
        doc::SentBack::REASON.get(self.0).unwrap_or_default()
    }

    pub fn by(self) -> &'a str {
        doc::SentBack::SENT_BACK_BY.get(self.0).unwrap_or("human")
    }

    pub fn at(self) -> &'a str {
        doc::SentBack::SENT_BACK_AT.text(self.0).unwrap_or("?")
    }

    /// The phase that was requested; `None` for the completion of the run.
    pub fn to(self) -> Option<&'a str> {
        doc::SentBack::TO_PHASE.get(self.0)
    }
}

/// The request that waits for a person. A run that was blocked while its gate waited still waits.
/// Fails with `invalid_state_transition` when no gate is pending.
pub fn waiting_request(state: &State) -> Result<Pending> {
    let pending = state.pending().filter(|_| state.status().waits_for_person());
    pending.ok_or_else(|| {
        let failure = illegal(state, "be sent back: no gate waits");
        failure.suggesting("`accord run status` shows what the run waits for")
    })
}

/// Sends the pending request back. `requested_by` is the role of the turn that made it. The event,
/// the ledger and the state say who sent it back, and about what. Fails with
/// `invalid_state_transition` when no gate is pending, and with `unknown_role` or
/// `role_without_runtime` when the named role cannot take a turn.
pub fn send_back(
    state: &State,
    config: &Config,
    given: &SendBack,
    approval: &Approval,
    requested_by: Option<&str>,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    let pending = waiting_request(state)?;
    if let Some(role) = &given.role {
        runtime_of(config, role)?;
    }
    let record = record(&pending, given, approval, requested_by, now);
    let failure = failure(&pending, state, given, approval, now);
    let mut next = state.clone();
    next.unblock()?;
    for member in [
        doc::State::PENDING_PHASE_TRANSITION,
        doc::State::PENDING_RUN_COMPLETION,
        // A queued request would bring the dropped one back at the next acceptance.
        doc::State::QUEUED_PHASE_TRANSITION,
        doc::State::QUEUED_RUN_COMPLETION,
    ] {
        next.clear(member);
    }
    if let Some(gate) = pending.gate() {
        set_gate(&mut next, gate, GateStatus::Failed);
    }
    next.set(doc::State::LAST_GATE_FAILURE, guarded(&failure, state, &pending));
    next.set(doc::State::SENT_BACK, record.clone());
    next.clear(doc::State::NON_PROGRESS_SIGNATURE);
    next.set(doc::State::NON_PROGRESS_COUNT, 0_u64);
    if let Some(role) = next_role(state, config, given, requested_by) {
        next.set(doc::State::NEXT_RECOMMENDED_ROLE, role);
    }
    let mut payload = failure.clone();
    approval.add_to(&mut payload);
    doc::GateFailure::SENT_BACK.set(&mut payload, record.clone());
    let failed = (EventType::GateFailed, None, payload);
    let mut change = Change::emitting(next, [failed], ids, now)?;
    let mut line = ledger_line(state, failure, record, now);
    approval.add_to(&mut line);
    change.ledger.push(line);
    Ok(change)
}

fn record(
    pending: &Pending,
    given: &SendBack,
    approval: &Approval,
    requested_by: Option<&str>,
    now: Time,
) -> Object {
    let mut record = build([
        doc::SentBack::GATE_TYPE.to(pending.gate_type()),
        doc::SentBack::GATE_ID.to(pending.gate()),
        doc::SentBack::TO_PHASE.to(pending.to()),
        doc::SentBack::REQUESTED_BY_TURN.to(pending.requested_by_turn()),
        doc::SentBack::REQUESTED_BY_ROLE.to(requested_by),
        doc::SentBack::REASON.to(given.reason.as_str()),
        doc::SentBack::SENT_BACK_BY.to(approval.person.actor.as_str()),
        doc::SentBack::SENT_BACK_AT.to(now),
    ]);
    approval.add_to(&mut record);
    record
}

fn failure(
    pending: &Pending,
    state: &State,
    given: &SendBack,
    approval: &Approval,
    now: Time,
) -> Object {
    let reason = format!("sent back by {}: {}", approval.person.actor, given.reason);
    let request = Request {
        gate_type: pending.gate_type(),
        from: state.phase(),
        to: pending.to(),
        by: pending.requested_by_turn(),
        was_queued: false,
    };
    request.failure(pending.gate(), &Failures::other(reason), now)
}

/// The failure for the state. The reference runner evaluates the request of the turn that
/// `last_gate_failure` names again before it dispatches, and approves the gate by itself when the
/// conditions are met. So the member names no turn, and no phase that a turn requested.
fn guarded(failure: &Object, state: &State, pending: &Pending) -> Object {
    let mut guarded = failure.clone();
    let turn = pending.requested_by_turn().unwrap_or("unknown");
    doc::GateFailure::REQUESTED_BY_TURN.set(&mut guarded, format!("sent_back:{turn}"));
    if pending.to().is_some() {
        doc::GateFailure::TO_PHASE.set(&mut guarded, state.phase());
    }
    guarded
}

/// The named role, else the one that requested the gate, else the entry role of the phase.
fn next_role(
    state: &State,
    config: &Config,
    given: &SendBack,
    requested_by: Option<&str>,
) -> Option<String> {
    let asked = requested_by.filter(|role| config.role(role).is_some());
    let entry = || config.route(state.phase())?.entry_role.clone();
    given.role.clone().or_else(|| asked.map(str::to_owned)).or_else(entry)
}

fn ledger_line(state: &State, failure: Object, record: Object, now: Time) -> Object {
    let mut line = ledger::typed(LedgerType::GateFailure, state, now, failure);
    line.extend(build([
        doc::Ledger::DECISION.to(LedgerDecision::GateSentBack),
        doc::Ledger::ROLE.to("human"),
        doc::Ledger::STATEMENT.to(doc::SentBack::REASON.copy(&record)),
    ]));
    doc::GateFailure::SENT_BACK.set(&mut line, record);
    line
}
