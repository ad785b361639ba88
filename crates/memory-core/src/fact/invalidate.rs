//! Invalidates a fact: it ends, and no other fact replaces it.

use accord_contract::{Time, Timestamp};

use super::Fact;

/// Ends the current fact of a chain, if it exists and has the requested value. Returns its end.
/// Clauses: AGENTIC-R-092, AGENTIC-R-094, AGENTIC-R-097.
///
/// A fact that starts in the future ends at its start, because no fact ends before it begins.
pub fn invalidate(current: Option<&Fact>, value: Option<&str>, now: Time) -> Option<Timestamp> {
    let fact = current.filter(|fact| fact.is_current())?;
    if value.is_some_and(|value| value != fact.value) {
        return None;
    }
    let from = &fact.valid_from;
    Some(if from.time() > now { from.clone() } else { Timestamp::emit(now) })
}
