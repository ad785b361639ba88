//! Start of a run.

use accord_contract::{Code, Failure, Object, Time, Value};

use super::{Change, illegal};
use crate::gate::GateStatus;
use crate::members::{amount, build};
use crate::{Config, EventType, Ids, Result, RunId, State, Status, doc, rule};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beginning {
    /// Whether it may replace a run that has ended or is blocked.
    pub restart: bool,
    pub provenance: Option<Object>,
    pub inherited_context: Option<Object>,
    pub repo_decisions: Vec<Object>,
    /// The last run that is known: that of the last event, or of a note elsewhere.
    pub last_run: Option<String>,
}

/// Checks that the last run that is known is the run of the state. Otherwise the records of the run
/// were removed or replaced. Fails with `records_missing`.
pub fn check_records(state: &State, last_run: Option<&str>) -> Result<()> {
    let known = state.run_id().map(RunId::as_str);
    let Some(last_run) = last_run.filter(|run| Some(*run) != known) else { return Ok(()) };
    let known = known.unwrap_or("no run");
    let message = format!(
        "the last run here is {last_run}, but .agentxchain/state.json names {known}: its records \
         are missing, for example after git stash; git stash pop restores them"
    );
    Err(Failure::new(Code::XchainRecordsMissing, message).with("run_id", last_run))
}

/// Begins a run. Fails with `invalid_state_transition` when a run is active, and with
/// `records_missing` when the records of the last run are missing. With `restart` the latter is
/// allowed.
///
/// Clauses: AX-SM-START, AX-SM-START-IDLE, AX-DC-CARRY.
pub fn init(
    state: &State,
    config: &Config,
    beginning: Beginning,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    // A block can precede the first run. Such a state has nothing that a new run would lose.
    let never_began = state.run_id().is_none() && state.turns().len() == 0;
    let allowed = match state.status() {
        Status::Idle => true,
        Status::Blocked => rule!(never_began || beginning.restart; BlockedBeginsAgain => true),
        Status::Completed => beginning.restart,
        Status::Active | Status::Paused | Status::Failed => false,
    };
    if rule!(!allowed; AnyRunInitialized => false) {
        return Err(illegal(state, "begin"));
    }
    if !beginning.restart {
        check_records(state, beginning.last_run.as_deref())?;
    }
    // A state that never had a run is kept, so that its unknown members survive.
    let fresh = !matches!(state.status(), Status::Idle | Status::Blocked) || !never_began;
    let mut next = if fresh { State::idle(config) } else { state.clone() };
    next.begin_run(ids.run());
    next.set_status(Status::Active)?;
    // The configuration may have been edited since the state was written.
    if !config.has_phase(next.phase()) {
        next.set_phase(config.first_phase());
    }
    for member in [
        doc::State::BLOCKED_ON.any(),
        doc::State::BLOCKED_REASON.any(),
        doc::State::ESCALATION.any(),
        doc::State::LAST_GATE_FAILURE.any(),
    ] {
        next.clear(member);
    }
    let pending = || GateStatus::Pending.as_str().into();
    let gates: Object = config.gates().iter().map(|gate| (gate.id.clone(), pending())).collect();
    next.set(doc::State::PROJECT_ID, config.project_id());
    next.set(doc::State::PHASE_GATE_STATUS, gates);
    next.set(doc::State::BUDGET_RESERVATIONS, Object::new());
    next.set(doc::State::BUDGET_STATUS, budget(config));
    next.set(doc::State::CREATED_AT, now);
    next.set(doc::State::PHASE_ENTERED_AT, now);
    next.set(doc::State::PROVENANCE, beginning.provenance);
    next.set(doc::State::INHERITED_CONTEXT, beginning.inherited_context);
    // The reference runner writes null instead of an empty list.
    let decisions = beginning.repo_decisions;
    let is_empty = rule!(decisions.is_empty(); NothingCarried => true);
    next.set(doc::State::REPO_DECISIONS, Some(decisions).filter(|_| !is_empty));
    if let Some(role) = config.route(next.phase()).and_then(|route| route.entry_role.as_deref()) {
        next.set(doc::State::NEXT_RECOMMENDED_ROLE, role);
    }
    let payload = build([("provenance", next.value(doc::State::PROVENANCE))]);
    Change::emitting(next, [(EventType::RunStarted, None, payload)], ids, now)
}

fn budget(config: &Config) -> Object {
    build([
        doc::Budget::SPENT_USD.to(0.0),
        doc::Budget::REMAINING_USD.to(config.budget.per_run_max_usd.map_or(Value::Null, amount)),
    ])
}
