//! Turns that go by while the gate keeps failing in the same way.

use crate::RepoPath;
use crate::gate::Failures;
use crate::members::{count, text};
use crate::state::{Block, State};

/// How many such turns stop a run.
pub const NON_PROGRESS_LIMIT: u64 = 3;

/// Counts an accepted turn whose gate failed; the block, when it was one too many.
pub(crate) fn gate_failed(
    state: &mut State,
    gate: &str,
    failures: &Failures,
    changed: &[RepoPath],
) -> Option<Block> {
    let touched = failures
        .files
        .iter()
        .any(|file| changed.iter().any(|path| path.as_str() == file));
    let signature = format!("{gate}:{}", failures.reasons.join("|"));
    let same = text(state.members(), "non_progress_signature") == Some(signature.as_str());
    let before = if same && !touched {
        count(state.members(), "non_progress_count")
    } else {
        None
    };
    let turns = if touched { 0 } else { before.unwrap_or(0) + 1 };
    state.set("non_progress_signature", signature);
    state.set("non_progress_count", turns);
    (turns >= NON_PROGRESS_LIMIT).then(|| {
        let reason = failures.reason();
        Block::non_progress(&format!(
            "{turns} turns left the gate {gate} failing: {reason}"
        ))
    })
}
