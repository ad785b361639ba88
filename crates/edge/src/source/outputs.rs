//! What the agents of active turns print.

use std::collections::BTreeSet;

use accord_api::operations::edges::{EdgeEntry, EdgeEntryKind};
use accord_contract::{Object, Time, Timestamp};
use accord_outbox::Outbox;
use accord_outbox::output::{OutputNow, SEARCHED_BEFORE, begin, piece};
use accord_runs::Runs;
use accord_runs_core::Turn;

use crate::Result;

/// The next pieces, and the ids of all outputs.
pub(super) fn pieces(runs: &Runs, outbox: &Outbox) -> Result<(Vec<EdgeEntry>, BTreeSet<String>)> {
    let (state, now) = (runs.state()?, accord_system::now());
    let pieces = state.turns().filter_map(|turn| next(runs, turn, outbox, now));
    Ok((pieces.collect(), state.turns().map(id_of).collect()))
}

/// Changes with the outputs.
pub(super) fn stamp(runs: &Runs) -> String {
    let Ok(state) = runs.state() else { return String::new() };
    let line =
        |turn: &Turn| Some(format!("\n{} {}", turn.id(), runs.worker_output(turn.id())?.length));
    state.turns().filter_map(line).collect()
}

fn id_of(turn: &Turn) -> String {
    format!("output/{}", turn.id())
}

fn next(runs: &Runs, turn: &Turn, outbox: &Outbox, now: Time) -> Option<EdgeEntry> {
    let worker = turn.worker_started_at()?.to_string();
    let log = runs.worker_output(turn.id())?;
    let output = OutputNow {
        worker: &worker,
        length: log.length,
        modified: log.modified,
        has_ended: turn.worker_pid().is_none(),
    };
    let id = id_of(turn);
    let place = outbox.output(&id);
    let (from, left_out) = begin(place, &output, now)?;
    let first = from.saturating_sub(SEARCHED_BEFORE);
    let bytes = log.read(first)?;
    let parts = bytes.split_at_checked(usize::try_from(from - first).ok()?)?;
    let mut body = Object::new();
    body.insert("turn_id".into(), turn.id().as_str().into());
    body.insert("role".into(), turn.role().into());
    body.extend(piece(place, &output, (from, left_out), parts, now)?);
    let (kind, type_name) = (EdgeEntryKind::Output, "run.output".to_owned());
    let at = Timestamp::emit(now);
    Some(EdgeEntry { seq: 0, kind, id, type_name, at, body, extra: Object::new() })
}
