//! The run of a governed repository, from the events that the hub receives.
//!
//! Each event of a run has its id, phase and status, whatever an edge sends. After its events an
//! edge says where the run is, also at the join.

use accord_api::operations::edges::{EdgeEntry, EdgeRun, EdgeRunTurn};
use accord_contract::{Object, Value, Wire as _};

use crate::decision::RUN_STATE;

/// The most turns that are remembered. A run has one for each of its roles.
const MOST_TURNS: usize = 64;

/// The newest run after an event. An event that names no run changes nothing.
pub fn run_after(known: Option<EdgeRun>, event: &EdgeEntry) -> Option<EdgeRun> {
    let text = |name: &str| event.body.get(name).and_then(Value::as_str).map(str::to_owned);
    let Some(run_id) = text("run_id") else { return known };
    let known = known.filter(|run| run.run_id.as_ref() == Some(&run_id));
    let mut turns = known.map_or_else(Vec::new, |run| run.turns);
    advance(&mut turns, event);
    Some(EdgeRun {
        run_id: Some(run_id),
        phase: text("phase"),
        status: text("status"),
        turns,
        last_event: Some(event.type_name.clone()),
        last_event_at: Some(event.at.clone()),
        extra: Object::new(),
    })
}

/// The newest run after an entry that says where it is.
pub fn run_of_state(known: Option<EdgeRun>, state: &EdgeEntry) -> Option<EdgeRun> {
    if state.type_name != RUN_STATE {
        return known;
    }
    let text = |name: &str| state.body.get(name).and_then(Value::as_str).map(str::to_owned);
    let run_id = text("run_id");
    let turns = state.body.get("turns").and_then(Value::as_array).into_iter().flatten();
    let turns = turns.filter_map(|turn| EdgeRunTurn::from_document(turn.clone()).ok());
    // The last event is that of the same run.
    let known = known.filter(|run| run.run_id == run_id);
    let (last_event, last_event_at) =
        known.map_or((None, None), |run| (run.last_event, run.last_event_at));
    Some(EdgeRun {
        run_id,
        phase: text("phase"),
        status: text("status"),
        turns: turns.take(MOST_TURNS).collect(),
        last_event,
        last_event_at,
        extra: Object::new(),
    })
}

fn advance(turns: &mut Vec<EdgeRunTurn>, event: &EdgeEntry) {
    let about = event.body.get("turn").and_then(Value::as_object);
    let text = |name: &str| Some(about?.get(name)?.as_str()?.to_owned());
    let Some(turn_id) = text("turn_id") else {
        if ["run_started", "run_completed"].contains(&event.type_name.as_str()) {
            turns.clear();
        }
        return;
    };
    match event.type_name.as_str() {
        "turn_dispatched" if turns.iter().all(|turn| turn.turn_id != turn_id) => {
            turns.push(EdgeRunTurn { turn_id, role: text("role_id"), extra: Object::new() });
            let excess = turns.len().saturating_sub(MOST_TURNS);
            turns.drain(..excess);
        }
        "turn_accepted" => turns.retain(|turn| turn.turn_id != turn_id),
        "turn_reissued" => {
            // It names the new turn; its payload, the one that it replaces. Without the payload,
            // which an edge need not send, that is the turn of the same role.
            let payload = event.body.get("payload").and_then(Value::as_object);
            let old = payload.and_then(|it| it.get("old_turn_id")).and_then(Value::as_str);
            let role = text("role_id");
            turns.retain(|turn| match old {
                Some(old) => turn.turn_id != old,
                None => turn.role != role,
            });
        }
        _ => {}
    }
}
