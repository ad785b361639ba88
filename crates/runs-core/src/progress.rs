//! Detects runs without progress: turns are accepted, but the gate fails in the same way.

use accord_contract::text::counted;

use crate::gate::Failures;
use crate::{Block, RepoPath, State, doc};

/// The number of such turns that blocks a run.
pub(crate) const NON_PROGRESS_LIMIT: u64 = 3;

/// Counts an accepted turn whose gate failed. Returns the block when the limit is reached.
pub(crate) fn gate_failed(
    state: &mut State,
    gate: &str,
    failures: &Failures,
    changed: &[RepoPath],
) -> Option<Block> {
    let is_changed = |file: &String| changed.iter().any(|path| path.as_str() == file);
    let touched = failures.files.iter().any(is_changed);
    let signature = format!("{gate}:{}", failures.reasons.join("|"));
    let same = doc::State::NON_PROGRESS_SIGNATURE.get(state.members()) == Some(signature.as_str());
    let before = doc::State::NON_PROGRESS_COUNT.get(state.members()).filter(|_| same);
    // A turn that changed a file of the gate made progress, even if the gate fails in the same way.
    let turns = if touched { 0 } else { before.unwrap_or(0) + 1 };
    state.set(doc::State::NON_PROGRESS_SIGNATURE, signature);
    state.set(doc::State::NON_PROGRESS_COUNT, turns);
    (turns >= NON_PROGRESS_LIMIT).then(|| {
        let reason = failures.reason();
        let turns = counted(turns, "accepted turn");
        Block::non_progress(&format!("{turns} in a row left the gate {gate} failing: {reason}"))
    })
}
