//! The lines of `multirepo/history.jsonl`.

use accord_contract::{Object, Time, Value, wire_enum};

use super::CoordinatorState;
use crate::operations::answers::RunSentBack;
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

/// The turns of a repository that were accepted in the present phase.
pub fn phase_turns(history: &[Object], repo: &str) -> Vec<String> {
    let own = of_phase(history, LineType::AcceptanceProjection);
    let own = own.filter(|line| doc::MultiHistory::REPO_ID.get(line) == Some(repo));
    own.filter_map(|line| doc::MultiHistory::REPO_TURN_ID.get(line)).map(str::to_owned).collect()
}

/// The gates of the present phase that a person sent back to a repository.
pub fn phase_send_backs(history: &[Object], repo: &str) -> Vec<RunSentBack> {
    let back = of_phase(history, LineType::GateSentBack);
    let named = |line: &&Object| doc::MultiHistory::REPO_IDS.get(line).iter().any(|it| it == repo);
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let record = |line: &Object| RunSentBack {
        at: text(doc::MultiHistory::TIMESTAMP.text(line)),
        by: text(doc::MultiHistory::SENT_BACK_BY.get(line)),
        reason: text(doc::MultiHistory::REASON.get(line)),
    };
    back.filter(named).map(record).collect()
}

fn of_phase(history: &[Object], kind: LineType) -> impl Iterator<Item = &Object> {
    let begun = history.iter().rposition(|line| is(line, LineType::PhaseTransitionApproved));
    history[begun.unwrap_or(0)..].iter().filter(move |line| is(line, kind))
}

pub(super) fn is(line: &Object, kind: LineType) -> bool {
    doc::MultiHistory::TYPE.get(line) == Some(kind)
}
