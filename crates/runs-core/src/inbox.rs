//! What waits for a person about a governed run.

use accord_base::inbox::{Urgency, Waiting, kind, words};
use accord_contract::Time;

use crate::State;
use crate::state::Pending;

/// The item of a run that waits for a decision: a gate, or a block. `since` is when it began to, if
/// the records say it; `evidence` is the digest of what is decided about.
pub fn waiting(
    state: &State,
    pending: Option<&Pending>,
    since: Option<Time>,
    evidence: Option<&str>,
    now: Time,
) -> Option<Waiting> {
    let run = state.run_id()?.as_str();
    let known = since.unwrap_or(now);
    let opening = since.map_or(0, |since| since.unix_millis().max(0).unsigned_abs());
    let mut item = match pending {
        Some(pending) => {
            let gate = pending.gate().unwrap_or("of the run");
            let title = match pending.to() {
                Some(to) => format!("Gate {gate}: {} -> {to}", state.phase()),
                None => format!("Gate {gate}: the run ends"),
            };
            Waiting::new(kind::RUN_GATE, run, opening, title, known)
        }
        None => {
            let title = format!("The run is blocked in {}", state.phase());
            let mut item = Waiting::new(kind::RUN_BLOCKED, run, opening, title, known);
            item.words = state.blocked_detail().and_then(words);
            item
        }
    };
    item.urgency = Urgency::Chain;
    item.version = evidence.map(str::to_owned);
    Some(item)
}
