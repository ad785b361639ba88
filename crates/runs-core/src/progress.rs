//! Detects runs without progress: turns are accepted, but the gate fails in the same way.

use accord_contract::text::counted;

use crate::gate::Failures;
use crate::{Block, State, doc};

/// The number of such turns that blocks a run.
pub(crate) const NON_PROGRESS_LIMIT: u64 = 3;

/// Counts an accepted turn whose request failed. Returns the block when the limit is reached.
///
/// The reference runner does not count a turn that changed a file of the gate. An agent that writes
/// the time into such a file would never be stopped, so here the outcome alone counts.
pub(crate) fn gate_failed(
    state: &mut State,
    gate: Option<&str>,
    failures: &Failures,
) -> Option<Block> {
    let known = doc::State::NON_PROGRESS_SIGNATURE.get(state.members());
    // A request without a gate, such as one for an unknown phase, is no progress in any gate.
    let signature = gate.map(|gate| format!("{gate}:{}", failures.unmet()));
    let same = signature.is_none() || known == signature.as_deref();
    let before = doc::State::NON_PROGRESS_COUNT.get(state.members()).filter(|_| same);
    let turns = before.unwrap_or(0) + 1;
    if let Some(signature) = signature {
        state.set(doc::State::NON_PROGRESS_SIGNATURE, signature);
    }
    state.set(doc::State::NON_PROGRESS_COUNT, turns);
    (turns >= NON_PROGRESS_LIMIT).then(|| {
        let (turns, reason) = (counted(turns, "accepted turn"), failures.reason());
        let gate =
            gate.map_or_else(|| "their request".to_owned(), |gate| format!("the gate {gate}"));
        Block::non_progress(&format!("{turns} in a row left {gate} failing: {reason}"))
    })
}
