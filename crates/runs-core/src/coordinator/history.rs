//! The lines of `multirepo/history.jsonl`.

use accord_contract::{Object, Time, Value, wire_enum};

use super::CoordinatorState;
use crate::{build, doc};

wire_enum! {
    /// The type of a line. Lines of unknown types are ignored.
    pub(crate) enum LineType("CoordinatorHistoryLine", closed) {
        RunInitialized = "run_initialized",
        ContextGenerated = "context_generated",
        TurnDispatched = "turn_dispatched",
        AcceptanceProjection = "acceptance_projection",
        TurnRejected = "turn_rejected",
        TurnDisappeared = "turn_disappeared",
        RepoRunAdopted = "repo_run_adopted",
        RepoCompletionAdopted = "repo_completion_adopted",
        StateResynced = "state_resynced",
        BlockedResolved = "blocked_resolved",
        PhaseTransitionRequested = "phase_transition_requested",
        PhaseTransitionApproved = "phase_transition_approved",
        RunCompletionRequested = "run_completion_requested",
        GateSentBack = "gate_sent_back",
        RunCompleted = "run_completed",
    }
}

/// Builds a line: the members that every line has, then those of its type.
pub(super) fn line<const N: usize>(
    kind: LineType,
    state: &CoordinatorState,
    now: Time,
    members: [(&str, Value); N],
) -> Object {
    let mut line = build([
        doc::MultiHistory::TYPE.to(kind),
        doc::MultiHistory::TIMESTAMP.to(now),
        doc::MultiHistory::SUPER_RUN_ID.to(state.super_run_id()),
    ]);
    line.extend(build(members));
    line
}

pub(super) fn is(line: &Object, kind: LineType) -> bool {
    doc::MultiHistory::TYPE.get(line) == Some(kind)
}
