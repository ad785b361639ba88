//! Invalidates a fact: it ends, and no other fact replaces it.

use accord_contract::{Time, Timestamp};

use super::Fact;
use crate::FactId;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Invalidation {
    pub fact_id: FactId,
    pub valid_to: Timestamp,
}

/// Ends the current fact of a chain, if it exists and has the requested value.
/// Clauses: AGENTIC-R-092, AGENTIC-R-094, AGENTIC-R-097.
///
/// A fact that starts in the future ends at its start, because no fact ends before it begins.
pub fn invalidate(current: Option<&Fact>, value: Option<&str>, now: Time) -> Option<Invalidation> {
    let fact = current.filter(|fact| fact.is_current())?;
    if value.is_some_and(|value| value != fact.value) {
        return None;
    }
    let valid_to =
        if fact.valid_from.time() > now { fact.valid_from.clone() } else { Timestamp::emit(now) };
    Some(Invalidation { fact_id: fact.fact_id.clone(), valid_to })
}
