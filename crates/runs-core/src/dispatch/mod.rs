//! Dispatch: the bundle of a turn.

mod brief;
mod form;
mod outside_changes;

use accord_contract::{Code, Failure, Object, Time, Value};

pub use brief::{Briefing, RUN_GOAL, context, memory, prompt};
pub use outside_changes::{
    LEFT_BEHIND, OutsideChanges, left_behind, outside_changes, was_never_dispatched,
};

use crate::members::{array, build, object};
use crate::run::{Change, illegal};
use crate::{
    Config, Emitter, EventType, HOME, Ids, Result, RunId, RuntimeType, State, Status, Turn, TurnId,
    TurnStatus, WriteAuthority, budget, doc,
};

/// The reserved paths that every assignment names as examples.
const NAMED_RESERVED: [&str; 4] = [
    ".agentxchain/state.json",
    ".agentxchain/history.jsonl",
    ".agentxchain/decision-ledger.jsonl",
    ".agentxchain/lock.json",
];

pub fn bundle_folder(turn: &TurnId) -> String {
    format!("{HOME}/dispatch/turns/{turn}")
}

pub fn staging_folder(turn: &TurnId) -> String {
    format!("{HOME}/staging/{turn}")
}

pub fn staging_path(turn: &TurnId) -> String {
    format!("{}/turn-result.json", staging_folder(turn))
}

/// The milestone in the event that [`mark_prepared`] emits.
const WORKER_PREPARED: &str = "worker_prepared";

/// The path of the staged result in old runners, which had one turn at a time.
pub const FLAT_STAGING_PATH: &str = ".agentxchain/staging/turn-result.json";

/// Checks that the runtime of a turn is supported. Fails with `runtime_not_supported` when the type
/// of the runtime is not in `supported`.
pub fn check_runtime(
    config: &Config,
    turn: &Turn,
    supported: &[RuntimeType],
) -> Result<RuntimeType> {
    let Some(runtime) = turn.runtime_id().and_then(|id| config.runtime(id)) else {
        let message = format!("the turn {} has no runtime that is declared", turn.id());
        return Err(Failure::new(Code::XchainRoleWithoutRuntime, message));
    };
    if supported.contains(&runtime.kind) {
        return Ok(runtime.kind);
    }
    let message = format!("runtime {} is of the type {}", runtime.id, runtime.kind);
    Err(Failure::new(Code::XchainRuntimeNotSupported, message)
        .with("runtime_id", runtime.id.as_str())
        .with("runtime_type", runtime.kind.as_str()))
}

/// Builds `ASSIGNMENT.json`.
pub fn assignment(state: &State, config: &Config, turn: &Turn) -> Object {
    let role = config.role(turn.role());
    let route = config.route(state.phase());
    let allowed = route.and_then(|route| route.allowed_next_roles.clone()).unwrap_or_default();
    let siblings: Vec<Value> =
        others(state, turn).map(|other| sibling(config, other).into()).collect();
    let member = |name: &str| turn.member(name).cloned();
    let mut document = build([
        ("run_id", state.run_id().map(RunId::as_str).into()),
        ("turn_id", turn.id().as_str().into()),
        ("phase", state.phase().into()),
        ("role", turn.role().into()),
        ("runtime_id", turn.runtime_id().into()),
        ("write_authority", role.map(|role| role.authority).map(WriteAuthority::as_str).into()),
        ("accepted_integration_ref", state.value(doc::State::ACCEPTED_INTEGRATION_REF)),
        ("staging_result_path", staging_path(turn.id()).into()),
        ("reserved_paths", array(&NAMED_RESERVED)),
        ("allowed_next_roles", array(&allowed)),
        ("attempt", turn.attempt().into()),
        ("deadline_at", member("deadline_at").unwrap_or(Value::Null)),
        ("assigned_sequence", turn.assigned_sequence().into()),
        ("budget_reservation_usd", budget::reserved(state, turn.id())),
        ("active_siblings", siblings.into()),
    ]);
    // The protocol has these members only in turns that need them, so null is not written.
    for name in ["intake_context", "conflict_context", "delegation_context", "delegation_review"] {
        if let Some(value) = member(name) {
            document.insert(name.to_owned(), value);
        }
    }
    let warnings = scope_warnings(state, config, turn);
    if !warnings.is_empty() {
        document.insert("advisory_warnings".into(), warnings.into());
    }
    document
}

/// Builds `dispatch/index.json`. Members that other runners added to the previous index, or to its
/// active turns, are kept.
pub fn index(previous: Option<&Object>, state: &State, config: &Config, now: Time) -> Object {
    let before = |turn: &Turn| {
        let turns = previous.and_then(|previous| object(previous, "active_turns"));
        turns.and_then(|turns| object(turns, turn.id().as_str()))
    };
    let kept = |previous: Option<&Object>, members: Object| {
        let mut kept = previous.cloned().unwrap_or_default();
        kept.extend(members);
        kept
    };
    let entry = |turn: &Turn| {
        let status = turn.document().remove("status").unwrap_or(Value::Null);
        let entry = build([
            ("turn_id", turn.id().as_str().into()),
            ("role", turn.role().into()),
            ("runtime_id", turn.runtime_id().into()),
            ("attempt", turn.attempt().into()),
            ("status", status),
            ("bundle_path", bundle_folder(turn.id()).into()),
            ("staging_result_path", staging_path(turn.id()).into()),
            ("assigned_sequence", turn.assigned_sequence().into()),
            ("advisory_warnings", scope_warnings(state, config, turn).into()),
        ]);
        (turn.id().to_string(), kept(before(turn), entry).into())
    };
    let turns: Object = state.turns().map(entry).collect();
    let members = build([
        ("run_id", state.run_id().map(RunId::as_str).into()),
        ("phase", state.phase().into()),
        ("updated_at", now.to_string().into()),
        ("active_turns", turns.into()),
    ]);
    kept(previous, members)
}

/// Marks a turn as dispatched to its worker. Earlier changes by others are not attributed to the
/// turn. Fails like [`mark`].
pub fn mark_dispatched(
    state: &State,
    turn: &TurnId,
    changes: Option<&OutsideChanges>,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    let baseline = |it: &OutsideChanges| ("baseline".to_owned(), it.baseline.document(now).into());
    let about = changes.map(baseline).into_iter().collect();
    // The baseline is set in the same change: a crash in between would attribute the changes of
    // others to the worker.
    let mut change = mark_with(state, turn, TurnStatus::Dispatched, about, ids, now)?;
    let changes = changes.filter(|changes| !changes.files.is_empty());
    if let (Some(changes), Some(handed)) = (changes, change.state.turn(turn)) {
        let payload = build([("files", array(&changes.files))]);
        let about = Some((turn.as_str(), handed.role()));
        let kind = EventType::StateReconciledOperatorCommits;
        let mut emitter = Emitter::new(&change.state, ids, now)?;
        emitter.emit(kind, &change.state, about, payload);
        change.events.extend(emitter.finish());
    }
    Ok(change)
}

/// Changes the status of a turn during its dispatch. Fails with `invalid_state_transition` when the
/// run is not active, or like [`State::target`].
pub fn mark(
    state: &State,
    turn: &TurnId,
    status: TurnStatus,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    mark_with(state, turn, status, Object::new(), ids, now)
}

/// Like [`mark`], and sets members of the turn, such as the process id of its worker.
pub fn mark_with(
    state: &State,
    turn: &TurnId,
    status: TurnStatus,
    about: Object,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    // The end of a worker is noted also where a person stopped the run.
    let is_end = state.status() == Status::Blocked && status == TurnStatus::Stalled;
    if state.status() != Status::Active && !is_end {
        return Err(illegal(state, "carry a turn out"));
    }
    // Called for its error only: `turn_mut` below has none.
    state.target(Some(turn))?;
    let mut next = state.clone();
    let mut role = String::new();
    if let Some(active) = next.turn_mut(turn) {
        for (name, value) in about {
            active.set_named(name, value);
        }
        active.set_status(status);
        role = active.role().to_owned();
        // The record describes the last worker. It must not outlive the start of the next one.
        if status == TurnStatus::Dispatched {
            active.set(doc::Turn::DISPATCHED_AT, now);
            active.unset(doc::Turn::LEFT_BEHIND);
        }
    }
    let kind = match status {
        TurnStatus::Dispatched => Some(EventType::TurnDispatched),
        TurnStatus::Stalled => Some(EventType::TurnStalled),
        TurnStatus::FailedStart => Some(EventType::TurnStartFailed),
        _ => None,
    };
    let mut emitter = Emitter::new(&next, ids, now)?;
    if let Some(kind) = kind {
        emitter.emit(kind, &next, Some((turn.as_str(), &role)), Object::new());
    }
    let events = emitter.finish();
    Ok(Change::new(next, events))
}

/// Records that what judges a turn was copied for its worker, before the worker starts. Fails like
/// [`mark`].
pub fn mark_prepared(state: &State, turn: &TurnId, ids: &mut Ids, now: Time) -> Result<Change> {
    let prepared = state.target(Some(turn))?;
    let about = Some((turn.as_str(), prepared.role()));
    let mut next = state.clone();
    if let Some(active) = next.turn_mut(turn) {
        active.set(doc::Turn::WORKER_PREPARED_AT, now);
    }
    let mut emitter = Emitter::new(&next, ids, now)?;
    let payload = build([("milestone", WORKER_PREPARED.into())]);
    emitter.emit(EventType::DispatchProgress, &next, about, payload);
    let events = emitter.finish();
    Ok(Change::new(next, events))
}

/// Whether Accord prepared a worker, by the state or by the last events. Two files say so, because
/// a worker can write each of them.
pub fn had_worker(state: Option<&State>, events: &[Object]) -> bool {
    let is_prepared = |turn: &Turn| turn.value(doc::Turn::WORKER_PREPARED_AT).is_some();
    let says_so = |line: &Object| {
        let milestone = doc::Event::PAYLOAD.get(line).and_then(|payload| payload.get("milestone"));
        milestone.and_then(Value::as_str) == Some(WORKER_PREPARED)
    };
    state.is_some_and(|state| state.turns().any(is_prepared)) || events.iter().any(says_so)
}

fn others<'a>(state: &'a State, turn: &Turn) -> impl Iterator<Item = &'a Turn> {
    state.turns().filter(|other| other.id() != turn.id())
}

fn file_scope<'a>(config: &'a Config, turn: &Turn) -> &'a [String] {
    config.role(turn.role()).map_or(&[][..], |role| &role.file_scope)
}

fn sibling(config: &Config, turn: &Turn) -> Object {
    let status = turn.document().remove("status").unwrap_or(Value::Null);
    build([
        ("turn_id", turn.id().as_str().into()),
        ("role", turn.role().into()),
        ("status", status),
        ("assigned_sequence", turn.assigned_sequence().into()),
        ("declared_file_scope", array(file_scope(config, turn))),
    ])
}

/// Warnings about active roles that declare the same files.
fn scope_warnings(state: &State, config: &Config, turn: &Turn) -> Vec<Value> {
    let own = file_scope(config, turn);
    let overlapping = others(state, turn).filter_map(|other| {
        let shared = own.iter().find(|file| file_scope(config, other).contains(file))?;
        let message = format!("{} works on {shared} as well", other.role()).into();
        let code = "advisory_scope_overlap".into();
        Some(Value::Object(build([("code", code), ("message", message)])))
    });
    overlapping.collect()
}
