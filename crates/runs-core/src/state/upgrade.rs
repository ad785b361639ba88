//! Reads states of this and earlier versions.

use accord_contract::{Code, Failure, Object, Value};

use super::{STATE_VERSION, State, Status, Turn};
use crate::{Result, RunId, doc};

pub(super) fn read(document: Value) -> Result<State> {
    let Value::Object(mut members) = document else {
        return Err(invalid("", "the state must be a JSON object"));
    };
    match doc::State::SCHEMA_VERSION.given(&members) {
        None => {}
        Some(version) if *version == "1.0" || *version == STATE_VERSION => {}
        Some(version) => {
            let message = format!("unsupported state version {version}");
            return Err(invalid("/schema_version", message));
        }
    }
    let status = match doc::State::STATUS.given(&members) {
        None => Status::Idle,
        Some(status) => status
            .as_str()
            .and_then(Status::parse)
            .ok_or_else(|| invalid("/status", format!("{status} is not the status of a run")))?,
    };
    let phase = doc::State::PHASE
        .get(&members)
        .filter(|phase| !phase.trim().is_empty())
        .ok_or_else(|| invalid("/phase", "the state names no phase"))?
        .to_owned();
    let run_id = match doc::State::RUN_ID.given(&members) {
        None => None,
        Some(id) => Some(
            id.as_str()
                .and_then(RunId::parse)
                .ok_or_else(|| invalid("/run_id", format!("{id} is not the id of a run")))?,
        ),
    };
    let turns = turns(&mut members, run_id.as_ref())?;
    if status != Status::Blocked && doc::State::BLOCKED_REASON.is_in(&members) {
        doc::State::BLOCKED_REASON.set(&mut members, Value::Null);
    }
    let accepted_sequence = doc::State::ACCEPTED_SEQUENCE.get(&members);
    Ok(State {
        turn_sequence: clock(&members, &turns),
        accepted_sequence: accepted_sequence.unwrap_or(0),
        run_id,
        status,
        phase,
        turns,
        members,
    })
}

/// The run's clock. A state without one has the value of its last acceptance, or else that of its
/// latest assignment.
fn clock(members: &Object, turns: &[Turn]) -> u64 {
    let stored = doc::State::TURN_SEQUENCE
        .get(members)
        .or_else(|| doc::State::ACCEPTED_SEQUENCE.get(members));
    stored.unwrap_or_else(|| {
        let assigned = turns.iter().map(Turn::assigned_sequence);
        assigned.max().unwrap_or(0)
    })
}

/// The active turns. Old states have one turn in `current_turn`, which moves into the map.
fn turns(members: &mut Object, run_id: Option<&RunId>) -> Result<Vec<Turn>> {
    let mut documents = match doc::State::ACTIVE_TURNS.raw(members) {
        None | Some(Value::Null) => Object::new(),
        Some(Value::Object(turns)) => turns.clone(),
        Some(_) => return Err(invalid("/active_turns", "active_turns must be an object")),
    };
    // The old member is removed, or it would bring an accepted turn back at the next read.
    match doc::State::CURRENT_TURN.remove(members) {
        None | Some(Value::Null) => {}
        Some(Value::Object(turn)) => {
            let Some(id) = doc::Turn::TURN_ID.get(&turn).map(str::to_owned) else {
                return Err(invalid("/current_turn/turn_id", "the current turn has no id"));
            };
            documents.entry(id).or_insert(turn.into());
        }
        Some(_) => return Err(invalid("/current_turn", "current_turn must be an object")),
    }
    let mut turns = Vec::new();
    for (id, document) in documents {
        let pointer = format!("/active_turns/{id}");
        let Value::Object(document) = document else {
            return Err(invalid(&pointer, "an active turn must be an object"));
        };
        let turn = Turn::read(&id, document, run_id)
            .map_err(|(member, message)| invalid(&format!("{pointer}/{member}"), message))?;
        turns.push(turn);
    }
    if doc::State::PHASE_GATE_STATUS.get(members).is_none() {
        doc::State::PHASE_GATE_STATUS.set(members, Object::new());
    }
    Ok(turns)
}

fn invalid(pointer: &str, message: impl Into<String>) -> Failure {
    Failure::new(Code::XchainStateInvalid, message).at(pointer)
}
