//! Bringing the coordinator's records up to what its repositories say.

use std::collections::BTreeMap;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Object, Value};

use super::projection::{Offer, Place, project};
use super::{
    Barriers, CoordinatorState, CoordinatorStatus, Divergence, DivergenceKind, RepoView, diverging,
};
use crate::members::{array, build, text};
use crate::{Ids, Instant};

/// What a resynchronisation leads to; to be written as one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Resync {
    /// The state that follows: blocked where something is left that only a person mends.
    pub state: CoordinatorState,
    /// The barriers as they stand.
    pub barriers: Barriers,
    /// Lines of the coordinator's history.
    pub history: Vec<Object>,
    /// Lines of the barrier ledger.
    pub ledger: Vec<Object>,
    /// What was mended.
    pub mended: Vec<Divergence>,
    /// What is left.
    pub left: Vec<Divergence>,
}

/// Takes over what happened in the repositories behind the coordinator's back.
///
/// # Errors
/// As [`project`]: a turn that wrote outside its repository is not taken over.
pub fn resync(
    place: &Place<'_>,
    repos: &BTreeMap<String, RepoView>,
    ids: &mut Ids,
    now: Instant,
) -> Result<Resync, Failure> {
    let (mended, left): (Vec<Divergence>, Vec<Divergence>) = diverging(place, repos)
        .into_iter()
        .partition(|found| found.kind.is_mendable());
    let mut barriers = place.barriers.clone();
    let mut known = place.history.to_vec();
    let mut history = Vec::new();
    let mut ledger = Vec::new();
    for found in &mended {
        let (turn, workstream) = (found.turn.as_deref(), found.workstream.as_deref());
        let line = if found.kind == DivergenceKind::TurnAcceptedUnprojected {
            let lines = repos.get(&found.repo).map_or(&[][..], |view| &view.history);
            let Some(accepted) = lines.iter().find(|line| text(line, "turn_id") == turn) else {
                continue;
            };
            let place = Place {
                barriers: &barriers,
                history: &known,
                ..*place
            };
            let offer = Offer {
                repo: &found.repo,
                workstream: workstream.unwrap_or_default(),
                root: None,
                accepted,
            };
            let projection = project(&place, &offer, ids, now)?;
            ledger.extend(projection.ledger);
            barriers = projection.barriers;
            projection.line
        } else {
            Some(build([
                ("type", "turn_rejected".into()),
                ("timestamp", now.to_string().into()),
                ("super_run_id", place.state.super_run_id().into()),
                ("repo_id", found.repo.as_str().into()),
                ("workstream_id", workstream.into()),
                ("repo_turn_id", turn.into()),
            ]))
        };
        if let Some(line) = line {
            known.push(line.clone());
            history.push(line);
        }
    }
    let mut state = place.state.clone();
    settle(&mut state, &left, now);
    Ok(Resync {
        state,
        barriers,
        history,
        ledger,
        mended,
        left,
    })
}

/// Blocked where something is left, and going on again where nothing is.
fn settle(state: &mut CoordinatorState, left: &[Divergence], now: Instant) {
    if state.status() == CoordinatorStatus::Completed {
        return;
    }
    if left.is_empty() {
        if state.status() == CoordinatorStatus::Blocked {
            let waits = state.pending_gate().is_some();
            let status = if waits {
                CoordinatorStatus::Paused
            } else {
                CoordinatorStatus::Active
            };
            state.set_status(status, now);
        }
        state.set("blocked_reason", Value::Null);
        return;
    }
    let texts: Vec<String> = left
        .iter()
        .map(|found| format!("{}: {}", found.repo, found.kind))
        .collect();
    state.set_status(CoordinatorStatus::Blocked, now);
    state.set("blocked_reason", texts.join("; "));
    state.set("divergence", array(&texts));
}

/// Checks the report that a person writes before a blocked initiative goes on.
///
/// # Errors
/// With `coordinator_diverged` when a section is missing or says nothing.
pub fn check_recovery_report(report: &str) -> Result<(), Failure> {
    let placeholder = |line: &str| line.starts_with('(') && line.ends_with(')');
    let empty: Vec<&str> = ["## Trigger", "## Impact", "## Mitigation"]
        .into_iter()
        .filter(|section| !crate::gate::section_has_content(report, section, placeholder))
        .collect();
    if empty.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the recovery report says nothing under {}",
        empty.join(", ")
    );
    Err(Failure::new(Code::XchainCoordinatorDiverged, message))
}
